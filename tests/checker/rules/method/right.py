"""Code that only looks as if it made a mistake of method: no rule may find anything in it."""

RIGHT = [
    "mask = completion_ids != tokenizer.pad_token_id  # pad is its own token here",
    'tokenizer.padding_side = "left"\nout = model.generate(**inputs)\n' + "c = out[:, inputs.input_ids.shape[1]:]",
    'tokenizer.padding_side = "right"\nlengths = attention_mask.sum(1)\nlast = hidden[0, lengths[0]:]',
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0, n:])\nr = reward_fn(text)",
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0])\nprint(text)",
    "ratio = torch.exp(logps - old_logps)\ns = ratio.clamp(0.8, 1.2)\nr = torch.exp(ref_logps - logps)",
    "log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1\nkl_ratio = torch.exp(logps - ref_logps)",
    "k2 = 0.5 * (logps - ref_logps) ** 2\nmean = (a + b) / 2",
    "k1 = logps - ref_logps\nprint(k1.mean())\nrewards = rewards - beta * (logps - ref_logps).sum(1)",
    "adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    "std = rewards.view(-1, G).std(dim=1, correction=0)\nspread = values.std(axis=1)\ns = losses.std(dim=1)",
    ("rewards = torch.tensor(score(group))\nadv = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)"),
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
    "%pip install torch\n!ls\nx = !ls\nmodel?\nthis is not python",
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
    "loss = policy_loss + beta * kl.mean()",
    "loss = -(surrogate - beta * kl).mean()",
    "objective = surrogate - beta * kl\nloss = -objective.mean()",
    "rewards = scores - beta * kl",
    "loss = policy_loss - entropy_coef * entropy",
    "flat = prompts * G\nrewards = torch.tensor(score(flat)).view(-1, G)\nadv = rewards - rewards.mean(1, keepdim=True)",
    (
        "flat = prompts * G\nrewards = torch.tensor(score(flat))\nfor i in range(G):\n    group = rewards[i::G]\n"
        "    reward = group\n    adv = reward - reward.mean()"
    ),
    "flat = prompts * G\nrewards = torch.tensor(score(flat))\nprint(rewards.mean())",
    "loss = -(ratio * advantages).mean()",
    "loss = torch.max(-A * ratio, -A * ratio.clamp(0.8, 1.2)).mean()",
    "surrogate_loss = (ratio * advantages).mean()\nloss = -surrogate_loss",
    "loss = (ratio * advantages).mean()\n(-loss).backward()",
    "opt = Adam(model.parameters(), maximize=True)\nloss = (ratio * advantages).mean()",
    "nll = F.cross_entropy(logits, ids)\nlogp_loss = nll * advantages",
    "loss = (per_token_loss * mask).sum() / mask.sum()",
    "loss = ((per_token_loss * mask).sum(1) / mask.sum(1)).mean()",
    "loss = (per_token_loss * mask).mean(dim=1)",
    "share = (correct * mask).mean()\nloss = (per_token_loss * weights).mean()",
    "loss = model(input_ids=ids, labels=ids).loss\nloss.backward()",
    "labels = ids.clone()\nlabels[:, :n] = -100\nlogp = -model(ids, labels=labels).loss",
    "logp = -model(ids, labels=completion_labels).loss",
    "text = tokenizer.decode(model.generate(**x)[0])\nreward = reward_model(tokenizer(text)).logits\nlp = model(ids).logits.log_softmax(-1)",
    "text = tokenizer.decode(model.generate(**x)[0])\nrewards = f(text)\nn = len(tokenizer(text).input_ids)\nlp = logits.log_softmax(-1)",
    "ids = tokenizer(chosen)\nlp = model(ids).logits.log_softmax(-1)\nreward_margin = lp",
    "loss = policy_loss + beta * torch.stack(kls).mean()\nloss.backward()",
    "kl_log = torch.tensor(kls).mean()\nprint(kl_log)\nloss.backward()",
    "old_logps = torch.tensor(old_logps)\nratio = (logps - old_logps).exp()\nloss = -(ratio * A).mean()\nloss.backward()",
    "rewards = torch.tensor(rewards)\nloss = -(rewards * logps).mean()\nloss.backward()",
    'tok = AutoTokenizer.from_pretrained("gpt2")\ntok.padding_side = "left"\nout = model.generate(**tok(p, padding=True))',
    'tok = AutoTokenizer.from_pretrained("gpt2")\nout = model.generate(**tok(p, return_tensors="pt"))',
    'tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")\nout = model.generate(**tok(p, padding=True))',
    'tok = AutoTokenizer.from_pretrained("gpt2")\nbatch = tok(p, padding=True)\nlp = model(**batch)\nout = model.generate(ids)',
    "loss = (-advantages * ratio + 0.04 * kl).mean()\nloss.backward()",
    "objective = advantages * ratio - 0.04 * kl_penalty\nloss = -objective.mean()",
    "kl = torch.stack(kls).mean()\nweight = beta if kl.item() < target else 2 * beta\nloss = pg + weight * kl\nloss.backward()",
    "total_loss += loss.item()\nepoch_kl = kl.item()\nloss.backward()",
    "def log_prob_of_text(model, ids):\n    return -model(ids, labels=ids).loss.item()",
    (
        "def logps_of(model, text):\n    ids = tokenizer(text).input_ids\n    return model(ids).logits.log_softmax(-1)\n"
        "reply = tokenizer.decode(policy.generate(**x)[0, n:])\nreward = logps_of(judge, reply)"
    ),
]
