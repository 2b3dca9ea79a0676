"""Each method rule on code that makes the mistake and on code that only looks like it."""

from pathlib import Path

import pytest

from checker.check import check
from checker.notebook import Cell, Notebook
from checker.rules import Submission, method
from tests.checker.conftest import code

PAD_IS_EOS = "tokenizer.pad_token = tokenizer.eos_token\n"
LEFT = 'tokenizer.padding_side = "left"\nout = model.generate(**inputs)\n'

WRONG = [
    ("M001", PAD_IS_EOS + "mask = (completion_ids != tokenizer.pad_token_id).float()"),
    (
        "M001",
        (
            "tokenizer.pad_token_id = tokenizer.eos_token_id\n"
            "m = output_ids.ne(0) if 0 else output_ids != tokenizer.pad_token_id"
        ),
    ),
    (
        "M002",
        LEFT + "lengths = inputs.attention_mask.sum(dim=1)\nfor i in range(4):\n    c = out[i, lengths[i]:]",
    ),
    (
        "M002",
        LEFT + "n = (ids != tokenizer.pad_token_id).sum(1)\ncs = [o[k:] for o, k in zip(out, n)]\nc = out[0][n[0]:]",
    ),
    (
        "M003",
        (
            "out = model.generate(**x)\ntext = tokenizer.decode(out[0], skip_special_tokens=True)\n"
            "r = reward_fn(text, answer)"
        ),
    ),
    ("M003", "out = model.generate(**x)\ntexts = tokenizer.batch_decode(out)\nr = compute_rewards(texts)"),
    ("M003", "out = model.generate(**x)\ntext = tokenizer.decode(out[0])\ncompletion = text[len(prompt):]"),
    ("M004", "model.disable_adapter()\nref = logps(model)"),
    (
        "M005",
        "ratio = torch.exp(logps - ref_logps)\ns = torch.min(ratio * A, torch.clamp(ratio, 0.8, 1.2) * A)",
    ),
    ("M005", "d = new_logps - ref_log_probs\nratio = d.exp()\ns = ratio.clamp(0.8, 1.2) * A"),
    ("M006", "log_r = ref_logps - logps\nkl = 0.5 * (torch.exp(log_r) - log_r - 1)"),
    ("M006", "kl = (torch.exp(ref - lp) - (ref - lp) - 1) / 2"),
    ("M007", "log_r = logps - ref_logps\nkl = torch.exp(log_r) - log_r - 1"),
    ("M007", "kl = torch.exp(logps - ref_logps) - (logps - ref_logps) - 1"),
    ("M008", "loss = pg_loss + beta * (logps - ref_logps).mean()"),
    ("M008", "kl = logps - ref_logps\nloss = -(A * logps).mean() + kl_coef * kl.mean()"),
    ("M009", "adv = (rewards - rewards.mean()) / rewards.std()"),
    ("M009", "std = group_rewards.std()\nadv = (group_rewards - group_rewards.mean()) / std"),
    ("M010", "std = rewards.view(-1, G).std(dim=1, keepdim=True)"),
    (
        "M011",
        (
            "grouped_rewards = rewards.view(-1, G)\n"
            "adv = (grouped_rewards - grouped_rewards.mean()) / (grouped_rewards.std() + 1e-6)"
        ),
    ),
    ("M012", "num_generations = 1"),
    ("M012", "config = GRPOConfig(num_generations=1)"),
    ("M013", "value = eval(completion)"),
    ("M014", "train_rows = make(100, seed=0)\neval_rows = make(100, seed=0)"),
    ("M014", "train_data = load()\ntest_data = train_data"),
    ("M015", "out = model.generate(**x, do_sample=True, temperature=0.7)\nlp = logits.log_softmax(-1)"),
    (
        "M016",
        (
            "def step(model):\n    model.eval()\n    out = model.generate(**x)\n    model.train()\n"
            "    return model(out).logits.log_softmax(-1)"
        ),
    ),
    ("M017", "loss = value_loss + beta * kl.mean()\nloss.backward()"),
    ("M018", "labels[mask == 0] = -100\nlp = logps.gather(-1, labels.unsqueeze(-1))"),
    (
        "M019",
        (
            "def rollout(model, ids):\n    for _ in range(8):\n"
            "        p = model(ids).logits[:, -1].softmax(-1)\n"
            "        ids = torch.cat([ids, torch.multinomial(p, 1)], 1)\n    return ids"
        ),
    ),
    ("M020", "for _ in range(num_generations):\n    outs.append(model.generate(**x))"),
    ("M020", "outs = [model.generate(**x) for _ in range(G)]"),
    (
        "M001",
        (
            "tok.pad_token_id = tok.eos_token_id\npad_id = tok.pad_token_id\n"
            "seqs = model.generate(**x)\ncomp = seqs[:, n:]\nmask = (comp != pad_id).long()"
        ),
    ),
    (
        "M001",
        (
            'tokenizer = AutoTokenizer.from_pretrained("gpt2")\n'
            "if tokenizer.pad_token is None:\n    tokenizer.pad_token = tokenizer.eos_token\n"
            "mask = torch.ne(generated, tokenizer.pad_token_id)"
        ),
    ),
    (
        "M001",
        (
            "out = policy.generate(**x, pad_token_id=tokenizer.eos_token_id)\nnew = out[:, n:]\n"
            "m = new.ne(tokenizer.eos_token_id).float()"
        ),
    ),
    (
        "M002",
        (
            'tok = AutoTokenizer.from_pretrained(name, padding_side="left")\n'
            'out = model.generate(**enc)\nlens = enc["attention_mask"].sum(-1).tolist()\n'
            "for row, n in zip(out, lens):\n    texts.append(tok.decode(row[n:]))"
        ),
    ),
    (
        "M002",
        (
            'tok.padding_side = "left"\nplen = int(enc["attention_mask"][0].sum())\n'
            "seq = model.generate(**enc)\ncomp = seq[:, plen:]"
        ),
    ),
    (
        "M003",
        (
            "outs = model.generate(**x)\nfor o in outs:\n"
            "    t = tokenizer.decode(o, skip_special_tokens=True)\n"
            "    rewards.append(get_reward(t, answer))"
        ),
    ),
    (
        "M003",
        (
            "ids = model.generate(**x)\ntexts = [tokenizer.decode(i) for i in ids]\n"
            "rewards = [reward_fn(p, t) for p, t in zip(prompts, texts)]"
        ),
    ),
    (
        "M003",
        (
            "ids = model.generate(**x)\ndecoded = tokenizer.batch_decode(ids)\n"
            "responses = [d[len(p):] for d, p in zip(decoded, prompts)]"
        ),
    ),
    (
        "M003",
        (
            "def sample(p):\n    return model.generate(**p)\n"
            "texts = tokenizer.batch_decode(sample(q))\nr = compute_reward(texts)"
        ),
    ),
    ("M004", "ref = model.disable_adapter()\nref_logps = f(ref)"),
    ("M005", "log_ratio = logps - ref_logps\nratio = log_ratio.exp()\nloss = -(ratio * advantages).mean()"),
    (
        "M005",
        "ratio = new_probs / ref_probs\nsurr = torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv)",
    ),
    (
        "M005",
        (
            "r = torch.exp(policy_logps - reference_logps)\n"
            "clipped = torch.clamp(r, 1 - eps, 1 + eps)\n"
            "l = torch.min(r * advantages.unsqueeze(1), clipped * advantages.unsqueeze(1))"
        ),
    ),
    ("M006", "d = ref_logps - logps\nkl = (d.exp() - 1 - d) / 2.0"),
    ("M006", "kl = torch.exp(d) - d - 1\nloss = pg + beta * 0.5 * kl.mean()\nkl_half = 0.5 * kl"),
    ("M006", "ratio = ref_probs / probs\nkl = (ratio - torch.log(ratio) - 1) / 2"),
    ("M006", "r = torch.exp(ref_lp - lp)\nkl = 0.5 * (r - torch.log(r) - 1)"),
    ("M006", "kl = (torch.exp(ref_lp - lp) - (ref_lp - lp) - 1).mean() * 0.5"),
    ("M007", "ratio = probs / ref_probs\nkl = ratio - torch.log(ratio) - 1"),
    ("M007", "kl = F.kl_div(logps, ref_logps, log_target=True)"),
    ("M007", "kl = (ref_probs * (ref_logps - logps)).sum(-1)"),
    ("M007", "kl = (ref_logps - logps).mean()"),
    ("M008", "kl = logps - ref_logps\nper_token_loss = -(ratio * adv - beta * kl)"),
    (
        "M008",
        "kl_loss = ((new_logps - ref_logps) * mask).sum() / mask.sum()\nloss = pg_loss + KL_COEF * kl_loss",
    ),
    ("M008", "def grpo_loss(logps, ref_logps, beta):\n    return pg + beta * (logps - ref_logps).mean()"),
    ("M008", "loss += cfg.beta * torch.mean(logps - ref_logps)"),
    (
        "M009",
        (
            "mean = rewards.mean(dim=1, keepdim=True)\nstd = rewards.std(dim=1, keepdim=True)\n"
            "advantages = (rewards - mean) / std"
        ),
    ),
    ("M009", "adv = (r - np.mean(r)) / np.std(r)"),
    (
        "M009",
        ("mu = statistics.mean(rewards)\nsd = statistics.pstdev(rewards)\nadv = [(r - mu) / sd for r in rewards]"),
    ),
    ("M009", "m = group.mean(1)\ns = group.std(1)\nadv = (group - m.unsqueeze(1)) / s.unsqueeze(1)"),
    ("M010", "std = torch.std(group_rewards)"),
    ("M010", "grouped = rewards.reshape(-1, G)\nsd = grouped.std(1, keepdim=True)"),
    (
        "M011",
        (
            "rewards = []\nfor prompt in prompts:\n    for _ in range(G):\n"
            "        rewards.append(score(prompt))\nrewards = torch.tensor(rewards)\n"
            "adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)"
        ),
    ),
    (
        "M011",
        (
            "rewards = rewards.view(len(prompts), G)\nmean = rewards.mean()\n"
            "advantages = (rewards - mean) / (rewards.std() + eps)"
        ),
    ),
    ("M012", "@dataclass\nclass Config:\n    group_size: int = 1"),
    ("M012", "GROUP_SIZE = 1"),
    ("M012", "def grpo_step(model, batch, G=1):\n    pass"),
    ("M012", 'cfg = {"num_generations": 1}'),
    ("M012", "G = 1"),
    (
        "M013",
        (
            "def reward(completion):\n    m = re.search('x', completion)\n    expr = m.group(1)\n"
            "    return eval(expr, {'__builtins__': {}})"
        ),
    ),
    ("M013", "code = extract(response)\nexec(code, scope)"),
    ("M014", "train_data = make_data(500)\neval_data = train_data[:50]"),
    ("M014", "train_set = make(200, seed=42)\ntest_set = make(50, seed=42)"),
    ("M014", "random.seed(0)\ntrain_rows = make(100)\nrandom.seed(0)\neval_rows = make(50)"),
    ("M014", "eval_prompts = random.sample(train_prompts, 20)\ntrain_prompts = build()"),
    ("M014", "train_ds = build(random.Random(1), 100)\neval_ds = build(random.Random(1), 20)"),
    (
        "M014",
        (
            "def make(n):\n    rng = random.Random(0)\n"
            "    return [rng.random() for _ in range(n)]\ntrain_rows = make(100)\n"
            "eval_rows = make(10)"
        ),
    ),
    ("M014", "data = make(100)\ntrain_data = data[:80]\ntest_data = data[:20]"),
    ("M014", "data = make(100)\ntrain_data, eval_data = data, data"),
    (
        "M015",
        (
            "def rollout(model, x):\n    return model.generate(**x, do_sample=True, top_k=50)\n"
            "def logps(model, ids):\n    return F.log_softmax(model(ids).logits, -1)\n"
            "lp = logps(model, rollout(model, x))"
        ),
    ),
    (
        "M015",
        (
            "TEMPERATURE = 0.7\ndef rollout(model, x):\n"
            "    return model.generate(**x, do_sample=True, temperature=TEMPERATURE)\n"
            "def logps(model, ids):\n    return F.log_softmax(model(ids).logits, -1)\n"
            "lp = logps(model, rollout(model, x))"
        ),
    ),
    (
        "M015",
        (
            "def sample(model, ids):\n    p = torch.softmax(model(ids).logits[:, -1] / 0.7, -1)\n"
            "    return torch.multinomial(p, 1)\ndef logps(model, ids):\n"
            "    return F.log_softmax(model(ids).logits, -1)\nlp = logps(model, sample(model, x))"
        ),
    ),
    (
        "M016",
        (
            "def rollout():\n    model.eval()\n    return model.generate(**x)\n"
            "def get_logps(ids):\n    return model(ids).logits.log_softmax(-1)\n"
            "for step in range(3):\n    ids = rollout()\n    model.train()\n    lp = get_logps(ids)"
        ),
    ),
    ("M017", "loss = -rewards.mean()\nloss.backward()"),
    (
        "M017",
        ("kl = (torch.exp(ref_logps - logps) - (ref_logps - logps) - 1).mean()\nloss = beta * kl\nloss.backward()"),
    ),
    ("M017", "loss = -advantages.mean() + beta * kl.mean()\nloss.backward()"),
    (
        "M018",
        ("labels = ids.masked_fill(mask == 0, -100)\nlp = logits.log_softmax(-1).gather(2, labels.unsqueeze(2))"),
    ),
    (
        "M018",
        (
            "labels = ids.clone()\nlabels[:, :n] = -100\nshift_labels = labels[:, 1:]\n"
            "lp = torch.gather(logps, 2, shift_labels.unsqueeze(-1))"
        ),
    ),
    (
        "M018",
        ("targets = torch.where(mask.bool(), ids, -100)\nlp = logps.gather(dim=-1, index=targets.unsqueeze(-1))"),
    ),
    (
        "M019",
        (
            "def sample(policy, ids):\n    while ids.shape[1] < 20:\n"
            "        logits = policy(input_ids=ids).logits[:, -1]\n"
            "        ids = torch.cat([ids, Categorical(logits=logits).sample()[:, None]], 1)\n"
            "    return ids\nids = sample(policy, x)"
        ),
    ),
    ("M021", "ref_logits = ref_model(ids).logits\nloss.backward()"),
    ("M022", "ref_model = model\nloss.backward()"),
    ("M020", "for prompt in prompts:\n    for i in range(4):\n        out = model.generate(**enc)"),
    ("M020", "completions = [generate(model, prompt) for _ in range(cfg.group_size)]"),
]

RIGHT = [
    "mask = completion_ids != tokenizer.pad_token_id  # pad is its own token here",
    PAD_IS_EOS + "prompt_mask = prompt_ids != tokenizer.pad_token_id",
    LEFT + "c = out[:, inputs.input_ids.shape[1]:]",
    'tokenizer.padding_side = "right"\nlengths = attention_mask.sum(1)\nlast = hidden[0, lengths[0]:]',
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0, n:])\nr = reward_fn(text)",
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0])\nprint(text)",
    "with model.disable_adapter():\n    ref = logps(model)",
    "ratio = torch.exp(logps - old_logps)\ns = ratio.clamp(0.8, 1.2)\nr = torch.exp(ref_logps - logps)",
    "log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1\nkl_ratio = torch.exp(logps - ref_logps)",
    "k2 = 0.5 * (logps - ref_logps) ** 2\nmean = (a + b) / 2",
    "k1 = logps - ref_logps\nprint(k1.mean())\nrewards = rewards - beta * (logps - ref_logps).sum(1)",
    "adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    "std = rewards.view(-1, G).std(dim=1, correction=0)\nspread = values.std(axis=1)\ns = losses.std(dim=1)",
    ("rewards = torch.tensor(score(group))\nadv = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)"),
    "num_generations = 8\nG = 2\nbatch_size = 1",
    "model.eval()\nvalue = ast.literal_eval(text)\nexec('x = 1')",
    'train_rows = task.dataset("train", 100, seed=0)\neval_rows = task.dataset("eval", 100, seed=0)',
    "train_loss = f(seed=1)\neval_loss = f(seed=1)",
    "train_rows = make(100, seed=0)\neval_rows = make(100, seed=1)",
    "out = model.generate(**x, do_sample=True, temperature=0.7)\nlp = (logits / temperature).log_softmax(-1)",
    "out = model.generate(**x, do_sample=True, temperature=1.0)\nlp = logits.log_softmax(-1)",
    "out = model.generate(**x, do_sample=False, temperature=0.7)\nlp = logits.log_softmax(-1)",
    "loss = -(advantages * logps).mean() + beta * kl.mean()\nloss.backward()",
    "loss = policy_loss + value_loss\nloss.backward()",
    "labels[mask == 0] = -100\nlp = logps.gather(-1, labels.clamp(min=0).unsqueeze(-1))",
    "labels[mask == 0] = -100\nloss = F.cross_entropy(logits, labels)",
    (
        "@torch.no_grad()\ndef rollout(model, ids):\n    for _ in range(8):\n"
        "        ids = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1)\n    return ids"
    ),
    (
        "def rollout(model, ids):\n    with torch.no_grad():\n        for _ in range(8):\n"
        "            ids = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1)\n"
        "    return ids"
    ),
    "for prompt in prompts:\n    model.generate(**x, num_return_sequences=G)",
    "%pip install torch\n!ls\nx = !ls\nmodel?\nthis is not python",
    (
        "tokenizer.pad_token = tokenizer.eos_token\n"
        "is_eos = completion_ids == tokenizer.eos_token_id\n"
        "mask = (torch.arange(C) <= is_eos.int().argmax(1)[:, None]).int()"
    ),
    "tokenizer.pad_token = tokenizer.eos_token\nattention = inputs.input_ids != tokenizer.pad_token_id",
    'tokenizer.pad_token = "<pad>"\nmask = completion_ids != tokenizer.pad_token_id',
    (
        'tok.padding_side = "left"\nout = model.generate(**enc)\nn = enc["input_ids"].shape[1]\n'
        "comp = out[:, n:]\nlengths = comp_mask.sum(1)"
    ),
    (
        'tok.padding_side = "left"\nout = model.generate(**enc)\n'
        "comp = out[:, enc.input_ids.shape[1]:]\nlens = completion_mask.sum(1)\n"
        "x = [c[: n] for c, n in zip(comp, lens)]"
    ),
    (
        "out = model.generate(**x)\nout = out[:, x.input_ids.shape[1]:]\n"
        "texts = tokenizer.batch_decode(out)\nr = reward_fn(texts)"
    ),
    (
        "out = model.generate(**x)\ncompletions = [tokenizer.decode(o[n:]) for o in out]\n"
        "rewards = [reward_fn(c, a) for c, a in zip(completions, answers)]"
    ),
    "out = model.generate(**x)[:, n:]\nrewards = reward_fn(tokenizer.batch_decode(out))",
    (
        "def generate(model, p):\n    return cut(model.generate(**p))\n"
        "texts = tokenizer.batch_decode(generate(model, p))\nr = get_reward(prompts, texts)"
    ),
    "text = tokenizer.decode(ids)\nanswer = text[len('Answer: '):]",
    "ctx = model.disable_adapter()\nwith ctx:\n    ref_logps = f(model)",
    "with torch.no_grad(), model.disable_adapter():\n    ref_logps = f(model)",
    (
        "ratio = torch.exp(logps - old_logps)\n"
        "loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()"
    ),
    "ratio = torch.exp(logps - logps.detach())\nloss = -(ratio * advantages)",
    (
        "log_ratio = ref_logps - logps\nratio = torch.exp(log_ratio)\nkl = ratio - log_ratio - 1\n"
        "loss = -(logps * advantages - beta * kl)"
    ),
    "k2 = 0.5 * (logps - ref_logps).pow(2)\nkl = 0.5 * log_ratio ** 2",
    "value = 0.5 * (returns - values) ** 2\ny = (torch.exp(a) - b - 1) / 2",
    "kl = (logps.exp() * (logps - ref_logps)).sum(-1)",
    "kl = F.kl_div(ref_logps, logps, log_target=True, reduction='none')",
    "diff = ref_logps - logps\nkl = torch.exp(diff) - diff - 1",
    "kl = ref_logps - logps\nkl = torch.exp(kl) - kl - 1",
    "kl = (logps - ref_logps).mean().item()\nrewards = rewards - beta * (logps - ref_logps).sum(-1)",
    "with torch.no_grad():\n    k1 = (logps - ref_logps).mean()\nlog(k1)",
    "std = rewards.std(dim=1, correction=0)\nif std > 0:\n    adv = (rewards - rewards.mean()) / std",
    "std = rewards.std(dim=1, unbiased=False).clamp(min=1e-6)\nadv = (rewards - mean) / std",
    "std = rewards.std(dim=1, correction=0) + 1e-8\nadv = (rewards - mean) / std",
    "z = (x - x.mean()) / x.std()",
    "# sample standard deviation, as TRL does\nstd = rewards.view(-1, G).std(dim=1)",
    "rewards = np.array(r).reshape(-1, G)\nstd = rewards.std(axis=1)",
    (
        "def group_advantages(rewards):\n"
        "    return (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)\n"
        "for i in range(0, B, G):\n    a = group_advantages(r[i : i + G])"
    ),
    (
        "for prompt in prompts:\n    rewards = []\n    for _ in range(G):\n"
        "        rewards.append(score(prompt))\n    rewards = torch.tensor(rewards)\n"
        "    adv = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)"
    ),
    ("baseline = evaluate(model, rows, num_generations=1)\ndef evaluate(model, rows, num_generations=1):\n    pass"),
    "result = evaluate(model, num_return_sequences=1)\ng = 1\nnum_iterations = 1",
    "def make_problem(rng):\n    expr = '1 + 2'\n    return expr, eval(expr)",
    "model.eval()\ndf.eval('a + b')",
    "rng = random.Random(0)\ntrain_rows = make(rng, 100)\neval_rows = make(rng, 20)",
    "data = make(100)\ntrain_data, eval_data = data[:80], data[80:]",
    ("train_rows = [r for r in rows if split(r) == 'train']\neval_rows = [r for r in rows if split(r) == 'eval']"),
    'train_ds = load_dataset("gsm8k", split="train")\ntest_ds = load_dataset("gsm8k", split="test")',
    "train_rows = make(TRAIN_NUMBERS, seed=0)\neval_rows = make(EVAL_NUMBERS, seed=0)",
    "train_size = 100\neval_size = 100\ntrain_reward = f(0)\neval_reward = f(0)",
    "train_data = list(range(100))\neval_data = train_data[-10:]\ntrain_data = train_data[:-10]",
    (
        "def logps(model, ids, temperature):\n"
        "    return F.log_softmax(model(ids).logits / temperature, -1)\n"
        "out = model.generate(**x, temperature=0.7)"
    ),
    (
        "def evaluate(model):\n    return model.generate(**x, do_sample=True, temperature=0.7)\n"
        "lp = logits.log_softmax(-1)"
    ),
    ("out = model.generate(**x, do_sample=True, temperature=1.0, top_k=0, top_p=1.0)\nlp = logits.log_softmax(-1)"),
    "model.eval()\nout = model.generate(**x)\nlp = model(out).logits.log_softmax(-1)\nmodel.train()",
    "model.train()\nout = model.generate(**x)\nlp = model(out).logits.log_softmax(-1)",
    "loss = (policy_loss + beta * kl).mean()\nloss.backward()",
    "reward_loss = -(advantages * logps).mean()\nloss = reward_loss + beta * kl.mean()\nloss.backward()",
    "loss, metrics = grpo_loss(logps, advantages)\nloss.backward()",
    "loss = kl_term\nloss = loss + pg\nloss.backward()",
    "value_loss = (values - returns).pow(2).mean()\nvalue_loss.backward()",
    "reward_model_loss = -F.logsigmoid(chosen - rejected).mean()\nreward_model_loss.backward()",
    "labels[mask == 0] = -100\nsafe = labels.clamp(min=0)\nlp = logps.gather(-1, safe.unsqueeze(-1))",
    (
        "labels[mask == 0] = -100\nvalid = labels != -100\nlabels[labels == -100] = 0\n"
        "lp = logps.gather(-1, labels.unsqueeze(-1))"
    ),
    (
        "def sample(model, ids):\n    for _ in range(8):\n"
        "        ids = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1)\n    return ids\n"
        "with torch.no_grad():\n    ids = sample(model, x)"
    ),
    (
        "@torch.inference_mode()\ndef rollout(policy, ids):\n    while True:\n"
        "        ids = torch.multinomial(policy(ids).softmax(-1), 1)\n    return ids"
    ),
    "for _ in range(num_steps):\n    out = model.generate(**batch)",
    "for i in range(G):\n    print(texts[i])\nfor _ in range(8):\n    train_one()",
    "for step in range(3):\n    out = model.generate(**x, num_return_sequences=G)",
]


def found(good, save, source) -> list[str]:
    good["cells"][5]["source"] += "\n" + source
    return [f.code for f in check(save(good)).findings if f.code.startswith("M")]


@pytest.mark.parametrize(("expected", "source"), WRONG)
def test_the_mistake_is_found(good, save, expected, source):
    assert expected in found(good, save, source)


@pytest.mark.parametrize("source", RIGHT)
def test_what_only_looks_like_it_is_not(good, save, source):
    assert found(good, save, source) == []


COURSE = Path(__file__).parents[2] / "shared"


@pytest.mark.parametrize("path", sorted(COURSE.glob("*.py")) + sorted(COURSE.glob("tasks/*.py")), ids=lambda p: p.stem)
def test_the_courses_own_code_raises_no_alarm(path):
    """It does right what the rules look for, in other words than the examples here."""
    submission = Submission(Notebook(path, (Cell(0, "code", path.read_text(encoding="utf-8"), 1),)))
    assert [finding for rule in method.RULES for finding in rule.findings(submission)] == []


def test_every_rule_is_shown_both_ways():
    assert {code for code, _ in WRONG} == {rule.code for rule in method.RULES}


def test_mistakes_spread_over_cells_are_found(good, save):
    good["cells"][2]["source"] += "\n" + PAD_IS_EOS
    assert found(good, save, "mask = completion_ids != tokenizer.pad_token_id") == ["M001"]


def test_a_cell_that_is_not_python_does_not_hide_the_others(good, save):
    good["cells"][4]["source"] += "\nthis is not python"
    assert found(good, save, "value = eval(completion)") == ["M013"]


@pytest.mark.parametrize("rule", method.RULES, ids=lambda rule: rule.code)
def test_what_explain_shows_is_true(good, save, rule):
    """The wrong example of `checker explain` is found, and the right one is not."""
    assert rule.code in found(good, save, rule.wrong)
    good["cells"][5] = code("# Cell 5: One GRPO step", "advantages (8,) loss 0.1", 4)
    assert rule.code not in found(good, save, rule.right)
