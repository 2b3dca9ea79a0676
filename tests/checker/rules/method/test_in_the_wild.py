"""Method rules on what people were seen to write, told again in a few lines: found mistakes, and false alarms of old.

Each of them comes from a public notebook that an earlier form of the rules judged wrongly.
"""

import pytest

from checker.checking.check import check

LOGPS = "def logps(model, ids):\n    return F.log_softmax(model(ids).logits, -1)\n"

FOUND = {
    "M003, cut under the name it had": (
        "M003",
        "text = tokenizer.decode(model.generate(**x)[0])\ntext = text[len(prompt) :]\nanswer = extract(text)",
    ),
    "M003, texts passed to a method": (
        "M003",
        "class T:\n    def loss(self, texts):\n        return [reward_rlvr(t) for t in texts]\n"
        "    def step(self, x):\n        ids = self.model.generate(**x)\n"
        "        return self.loss(tokenizer.batch_decode(ids))",
    ),
    "M007, of a model's own logits": (
        "M007",
        "kl = F.kl_div(F.log_softmax(model_out.logits, -1), F.softmax(ref_out.logits, -1))",
    ),
    "M007, of logits without a name": ("M007", "kl = F.kl_div(F.log_softmax(logits, -1), F.softmax(ref_logits, -1))"),
    "M008, collected in a list": (
        "M008",
        "for b in batches:\n    kl = seq_logps - ref_seq_logps\n    kls.append(kl)\n"
        "loss_kl = torch.stack(kls).mean()\nloss = policy_loss + beta_kl * loss_kl",
    ),
    "M009, an advantage": ("M009", "adv = q - v\nadv = (adv - adv.mean()) / adv.std()"),
    "M008, summed in a loop": (
        "M008",
        "kl = 0.0\nfor new_lps, ref_lps in rows:\n    kl += (new_lps - ref_lps).sum()\nloss = policy_loss + beta * kl",
    ),
    "M008, through a name": ("M008", "kl_term = beta * (logps - ref_logps)\nloss = (policy_loss + kl_term).mean()"),
    "M009, of what has another name": (
        "M009",
        "reward = env.step(action)\ntarget = (target - target.mean()) / target.std()",
    ),
    "M009, in two steps": ("M009", "rewards -= rewards.mean()\nrewards /= rewards.std()"),
    "M009, the mean under another name": ("M009", "b = returns.mean(axis=0)\nA = (returns - b) / returns.std(axis=0)"),
    "M009, not centred": ("M009", "rewards = rewards / np.std(rewards - np.mean(rewards))"),
    "M009, of values called q": ("M009", "adv = (q_n - q_n.mean()) / q_n.std()"),
    "M009, an advantage of the old names": ("M009", "atarg = (atarg - atarg.mean()) / atarg.std()"),
    "M009, a baseline by the returns' own": ("M009", "b_n = (b_n - returns.mean()) / returns.std()"),
    "M009, below a line that begins as a magic does": (
        "M009",
        'print("%d of %d"\n      % (1, 2))\nrewards = (rewards - rewards.mean()) / rewards.std()',
    ),
    "M009, where something else may be nan": (
        "M009",
        "actions[np.isnan(actions)] = 0\nrewards = (rewards - rewards.mean()) / rewards.std()",
    ),
    "M010, a list filled for one prompt": (
        "M010",
        "rewards = []\nfor i in range(num_generations):\n    rewards.append(score(texts[i]))\n"
        "rewards_t = torch.tensor(rewards)\nadv = (rewards_t - rewards_t.mean()) / (rewards_t.std() + 1e-4)",
    ),
    "M010, over the first dimension": ("M010", "adv = (A - A.mean(dim=0)) / (A.std(dim=0) + 1e-4)"),
    "M013, a program that is passed": (
        "M013",
        "text = model.generate(**x)\ndef run(code, tests):\n    exec(code, {})",
    ),
    "M015, settings in a dictionary": (
        "M015",
        LOGPS
        + 'kwargs = {"do_sample": True, "temperature": 0.7}\nout = model.generate(**x, **kwargs)\nlp = logps(model, out)',
    ),
    "M015, a default": (
        "M015",
        LOGPS
        + "def rollout(model, x, temperature=0.8):\n    return model.generate(**x, temperature=temperature)\n"
        + "def step(model, x):\n    return logps(model, rollout(model, x)).mean()",
    ),
    "M015, an argument through two functions": (
        "M015",
        LOGPS
        + "def rollout(model, x, t):\n    return model.generate(**x, temperature=t)\n"
        + "def step(model, x, temperature=0.8):\n    return logps(model, rollout(model, x, temperature)).mean()",
    ),
    "M015, a field of the configuration": (
        "M015",
        "@dataclass\nclass Config:\n    temperature: float = 0.7\n"
        + LOGPS
        + "def step(model, x, config):\n    ids = model.generate(**x, temperature=config.temperature)\n"
        + "    return logps(model, ids)",
    ),
    "M015, an attribute set by the constructor": (
        "M015",
        LOGPS
        + "class Trainer:\n    def __init__(self, model, top_p=0.95):\n        self.top_p = top_p\n"
        + "    def step(self, model, x):\n        ids = model.generate(**x, top_p=self.top_p)\n"
        + "        return logps(model, ids)",
    ),
    "M015, scored at the temperature but not cut to the top k": (
        "M015",
        LOGPS + "out = model.generate(**x, temperature=0.7, top_k=20)\nlp = F.log_softmax(model(out).logits / 0.7, -1)",
    ),
    "M015, a temperature where it samples": (
        "M015",
        LOGPS
        + "def rollout(x, sample=True):\n    return model.generate(**x, temperature=0.8 if sample else None)\n"
        + "def step(x):\n    return logps(model, rollout(x))",
    ),
    "M015, scored by a function of another file": (
        "M015",
        "ids = model.generate(**x, top_p=0.95)\nlog_probs = helpers.score(model, ids, mask)",
    ),
    "M014, the seeds of the training": (
        "M014",
        "for seed in range(200):\n    obs = env.reset(seed=seed)\n    train_prompts.append(ask(obs))\n"
        "for seed in range(8):\n    trained_scores.append(play(model, seed=seed))",
    ),
    "M015, cut in sampling of one's own": (
        "M015",
        "def rollout(policy, x, temperature, top_k=50):\n    logits = policy(x)[:, -1] / temperature\n"
        "    best, places = torch.topk(logits, top_k)\n    token = torch.multinomial(best.softmax(-1), 1)\n"
        "    return places.gather(-1, token), F.log_softmax(best, -1).gather(-1, token)\n"
        "def train(policy, x):\n    token, old = rollout(policy, x, 0.9)\n"
        "    return F.log_softmax(policy(x)[:, -1], -1).gather(-1, token) - old",
    ),
    "M014, one list repeated": (
        "M014",
        "def build(repeats):\n    rows = []\n    for i in range(repeats):\n        rows.append(words)\n"
        "    return rows\ntrain_rows = build(repeats=40)\neval_rows = build(repeats=5)",
    ),
    "M015, a temperature kept above zero": (
        "M015",
        "def sample(policy, x, temperature):\n    logits = policy(x)[:, -1] / max(1e-6, temperature)\n"
        "    return torch.multinomial(logits.softmax(-1), 1)\n"
        "def step(policy, x):\n    return F.log_softmax(policy(sample(policy, x, 1.2)), -1)",
    ),
    "M014, rows that were mapped": (
        "M014",
        "train_rows = load()\ntrain_rows = train_rows.map(f)\neval_rows = train_rows.select(range(3))",
    ),
    "M014, one data set under two names": (
        "M014",
        "rows = load()\neval_rows = rows.select(range(100))\n"
        "trainer = Trainer(model, train_dataset=rows.map(f), eval_dataset=eval_rows.map(f))",
    ),
    "M014, one list for both": ("M014", "rows = make(100)\ntask = Task(train_rows=rows, eval_rows=rows)"),
}

QUIET = {
    "M009, observations": "reward = env.step(action)\nobs = (obs - obs.mean()) / obs.std()",
    "M009, another name by another's deviation": "reward = env.step(action)\n"
    "target = (target - target.mean()) / old.std()",
    "M009, figures without rewards": "heights = load()\nz = (heights - heights.mean()) / heights.std()",
    "M013, a function of one's own": (
        "def eval(loader, model):\n    return model(loader)\ntest_loss = eval(text_loader, model)"
    ),
    "M003, a classifier that needs the prompt": (
        "ids = model.generate(**x)\ntexts = tokenizer.batch_decode(ids)\nr = get_reward(reward_model, texts)"
    ),
    "M003, a function that asks a classifier": (
        "def get_reward(texts):\n    return reward_model(**tokenizer(texts)).logits\n"
        "texts = tokenizer.batch_decode(model.generate(**x))\nr = get_reward(texts)"
    ),
    "M003, cut a line above": (
        "text = tokenizer.decode(model.generate(**x)[0])\ntext = text[text.index('A:') :]\nr = reward_fn(text)"
    ),
    "M003, cut in a comprehension": (
        "texts = tokenizer.batch_decode(model.generate(**x))\n"
        "completions = [text[text.index('A:') :].strip() for text, p in zip(texts, prompts)]\n"
        "r = reward(prompts, completions)"
    ),
    "M003, cut where it is known to begin so": (
        "text = tokenizer.decode(model.generate(**x)[0])\nif text.startswith(prompt):\n    text = text[len(prompt) :]"
    ),
    "M003, an encoder and decoder": (
        "model = AutoModelForSeq2SeqLM.from_pretrained(name)\nids = model.generate(**x)\n"
        "r = reward_fn(tokenizer.batch_decode(ids))"
    ),
    "M010, numpy in groups": (
        "rewards = np.array(rewards)\nfor i in range(0, B, G):\n    r_group = rewards[i : i + G]\n"
        "    adv = (r_group - r_group.mean()) / (r_group.std() + 1e-4)"
    ),
    "M010, only printed": 'print(f"{statistics.stdev(rewards):.2f}")',
    "M010, only logged": (
        "rewards = []\nfor i in range(num_generations):\n    rewards.append(score(texts[i]))\n"
        "rewards_t = torch.tensor(rewards)\nlog({'std': rewards_t.std().item()})"
    ),
    "M013, a part of the prompt": "def sql_reward(prompt):\n    columns = eval(prompt.split('Schema: ')[1])",
    "M013, a test of the data set": "def check_tests(tests):\n    for test in tests:\n        exec(test, {})",
    "M013, a program of the task": "def run(code):\n    exec(code, {})",
    "M015, answers for a data set": (
        LOGPS + "lp = logps(model, given_ids)\ndef answers(model, x):\n    return model.generate(**x, temperature=0.8)"
    ),
    "M015, evaluated at another temperature": (
        LOGPS
        + "def step(model, x):\n    return logps(model, model.generate(**x, temperature=1.0))\n"
        + "eval_out = model.generate(**x, temperature=0.2)"
    ),
    "M015, greedy": LOGPS + "out = model.generate(**x, do_sample=False, temperature=0.7)\nlp = logps(model, out)",
    "M015, a look at what the model says": (
        LOGPS
        + "def train(model, x):\n    loss = -logps(model, given).mean()\n"
        + "    out = model.generate(**x, temperature=0.8)[0]\n    print(tokenizer.decode(out.tolist()))"
    ),
    "M014, a prompt of the system": (
        "SYSTEM_PROMPT = write()\nSYSTEM_PROMPT_TRAIN = SYSTEM_PROMPT\nSYSTEM_PROMPT_EVAL = SYSTEM_PROMPT"
    ),
    "M014, other seeds": (
        "for seed in range(200):\n    obs = env.reset(seed=seed)\n    train_prompts.append(ask(obs))\n"
        "for seed in range(10_000, 10_008):\n    trained_scores.append(play(model, seed=seed))"
    ),
    "M014, two halves": (
        'parts = rows.train_test_split(0.1)\ntrainer = Trainer(train_dataset=parts["train"], eval_dataset=parts["test"])'
    ),
}


def codes(good, save, source) -> list[str]:
    good["cells"][5]["source"] += "\n" + source
    return [f.code for f in check(save(good)).findings if f.code.startswith("M")]


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(good, save, name):
    expected, source = FOUND[name]
    assert expected in codes(good, save, source)


@pytest.mark.parametrize("name", QUIET)
def test_it_is_no_mistake(good, save, name):
    assert name[:4] not in codes(good, save, QUIET[name])


def test_one_mistake_is_told_once(good, save):
    """A training loop that calls what samples and scores was told again at each of its calls."""
    source = (
        "def rollout(model, x):\n    ids = model.generate(**x, top_p=0.9)\n"
        "    return ids, F.log_softmax(model(ids).logits, -1)\n"
        "def step(model, x):\n    ids, old = rollout(model, x)\n"
        "    return F.log_softmax(model(ids).logits, -1) - old"
    )
    assert codes(good, save, source).count("M015") == 1


def test_what_a_later_cell_scores_was_sampled(good, save):
    """Outside of functions, sampling in one cell and scoring in the next was taken for two unrelated cells."""
    good["cells"][5]["source"] += "\nids = model.generate(**x, top_k=50)\nwhole = torch.cat([x.input_ids, ids], 1)"
    good["cells"][6]["source"] += "\nlogps = F.log_softmax(model(whole).logits, -1)"
    assert [f.code for f in check(save(good)).findings].count("M015") == 1


def test_what_a_later_cell_scores_may_be_something_else(good, save):
    """A demonstration in one cell says nothing of the given answers that another cell scores."""
    good["cells"][5]["source"] += "\nids = model.generate(**x, top_k=50)"
    good["cells"][6]["source"] += "\nlogps = F.log_softmax(model(given_ids).logits, -1)"
    assert "M015" not in [f.code for f in check(save(good)).findings]


def test_a_notebook_with_one_numbered_cell_is_not_the_course_s(good, save):
    """One heading "Cell 8" hid every cell below it, as the course's analysis would be."""
    good["cells"] = [
        {"cell_type": "markdown", "metadata": {}, "source": "## Cell 8: PPO"},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "outputs": [],
            "source": "ids = model.generate(**x, top_k=50)\nlogps = F.log_softmax(model(ids).logits, -1)",
        },
    ]
    assert "M015" in [f.code for f in check(save(good)).findings]


def test_a_list_of_the_same_name_in_another_cell_is_another(good, save):
    """The rewards of an evaluation hid that those of the step are one group."""
    good["cells"][5]["source"] += (
        "\nrewards = []\nfor i in range(num_generations):\n    rewards.append(score(texts[i]))\n"
        "rewards_t = torch.tensor(rewards)\nadv = (rewards_t - rewards_t.mean()) / (rewards_t.std() + 1e-4)"
    )
    good["cells"][6]["source"] += "\nrewards = []\nfor row in rows:\n    rewards.append(score(row))"
    assert "M010" in [f.code for f in check(save(good)).findings]
