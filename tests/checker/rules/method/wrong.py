"""Code that makes a mistake of method, each with the code of the rule that is to find it."""

WRONG = [
    ("M007", "loss = policy_loss - beta * kl.mean()"),
    ("M007", "loss = -(ratio * advantages).mean() - kl_coef * kl"),
    ("M007", "loss -= self.beta * per_token_kl.mean()"),
    ("M007", "total_loss = pg_loss - cfg.beta * approx_kl"),
    ("M007", "kl_term = 3\npolicy_loss = -(adv * lp).mean()\nloss = policy_loss - 0.1 * beta * kl"),
    (
        "M011",
        "flat = prompts * G\nrewards = torch.tensor(score(flat))\nadv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    ),
    (
        "M011",
        "asked = [p for p in prompts for _ in range(num_generations)]\nout = sample(model, asked)\n"
        "rewards = torch.tensor(reward_fn(asked, out))\nadvantages = rewards - rewards.mean()",
    ),
    (
        "M011",
        "texts = answer(np.repeat(questions, G))\nrewards = np.array(score(texts))\nadv = rewards - np.mean(rewards)",
    ),
    (
        "M011",
        "batch = tokenizer(prompts * group_size)\nout = model.generate(**batch)\n"
        "scores = torch.tensor(judge(tokenizer.batch_decode(out[:, n:])))\nadv = scores - scores.mean()",
    ),
    (
        "M011",
        "ids = prompts.repeat_interleave(G, dim=0)\nrewards = reward(sample(ids))\nmean = rewards.mean()\nadv = rewards - mean",
    ),
    ("M024", "loss = (ratio * advantages).mean()\nloss.backward()"),
    ("M024", "policy_loss = torch.min(ratio * adv, clipped_ratio * adv).mean()"),
    ("M024", "surrogate = ratio * advantages[:, None]\nloss = masked_mean(surrogate, mask) + beta * kl"),
    ("M024", "loss = (logps * advantages).sum() / mask.sum()"),
    (
        "M024",
        "a = ratio * A\nb = ratio.clamp(0.8, 1.2) * A\nper_token_loss = torch.minimum(a, b)\nper_token_loss.mean().backward()",
    ),
    ("M025", "loss = (per_token_loss * mask).mean()"),
    ("M025", "loss = -(ratio * advantages * completion_mask).mean()"),
    ("M025", "masked = per_token_kl * loss_mask\nkl = masked.mean()"),
    ("M025", "def grpo_loss(logps, A, mask):\n    return torch.mean(-logps * A * mask)"),
    ("M025", "loss = (token_loss * completion_mask).sum() / completion_mask.numel()"),
    ("M025", "out = model(input_ids=ids, labels=ids)\nlogp = -out.loss"),
    ("M025", "loss = advantage * model(ids, attention_mask=m, labels=ids).loss"),
    ("M025", "outputs = policy(full_ids, labels=full_ids.clone())\nlog_probs = -outputs.loss * n"),
    ("M025", "labels = input_ids.clone()\nout = model(input_ids, labels=labels)\nloss = reward * out.loss"),
    ("M025", "nll = actor(input_ids=seq, labels=seq)\nseq_logp = nll.loss * -1"),
    (
        "M026",
        "texts = tokenizer.batch_decode(model.generate(**x))\nbatch = tokenizer(texts, padding=True)\n"
        "lp = F.log_softmax(model(**batch).logits, -1)\nloss = -(advantages * lp).mean()",
    ),
    (
        "M026",
        "reply = tok.decode(model.generate(ids)[0])\nmessages.append({'role': 'assistant', 'content': reply})\n"
        "again = tok.apply_chat_template([*messages, reply])\nlp = model(again).logits.log_softmax(-1)\nreward = f(reply)",
    ),
    (
        "M026",
        "def sample(p):\n    return tokenizer.decode(policy.generate(p)[0])\nanswer = sample(p)\n"
        "ids = tokenizer.encode(question + answer)\nlogits = policy(ids).logits\n"
        "lp = logits.log_softmax(-1)\nloss = -lp * reward",
    ),
    (
        "M026",
        "completions = [tokenizer.decode(o[n:]) for o in model.generate(**x)]\nrewards = score(completions)\n"
        "enc = tokenizer(completions)\nlogits = model(enc.input_ids).logits\nnll = F.cross_entropy(logits, t)",
    ),
    (
        "M026",
        "out = self.model.generate(**x)\ntext = tokenizer.decode(out[0]).strip()\nids = tokenizer(text)['input_ids']\n"
        "lp = torch.gather(self.model(ids).logits, -1, t)\nloss = advantage * lp",
    ),
    ("M027", "loss = policy_loss + beta * torch.tensor(kls).mean()\nloss.backward()"),
    ("M027", "kl = torch.tensor([per_token_kl(a) for a in rows])\nloss = pg + beta * kl.mean()\nloss.backward()"),
    (
        "M027",
        "logps = []\nfor row in rows:\n    logps.append(score(row))\nlp = torch.tensor(logps)\n"
        "loss = -(advantages * lp).mean()\nloss.backward()",
    ),
    ("M027", "losses = [step_loss(b) for b in batch]\nloss = torch.FloatTensor(losses).mean()\nloss.backward()"),
    ("M027", "kl_mean = torch.as_tensor(kl).mean()\ntotal_loss = pg + kl_mean\ntotal_loss.backward()"),
    (
        "M028",
        'tokenizer = AutoTokenizer.from_pretrained("gpt2")\ntokenizer.pad_token = tokenizer.eos_token\n'
        'x = tokenizer(prompts, return_tensors="pt", padding=True)\nout = model.generate(**x, max_new_tokens=8)',
    ),
    (
        "M028",
        'NAME = "EleutherAI/pythia-70m"\ntok = AutoTokenizer.from_pretrained(NAME)\nenc = tok(p, padding="longest")\n'
        "ids = model.generate(enc.input_ids)",
    ),
    (
        "M028",
        'tokenizer.padding_side = "right"\nbatch = tokenizer(prompts, padding=True).to(device)\n'
        "out = policy.generate(**batch)",
    ),
    (
        "M028",
        'tok = GPT2Tokenizer.from_pretrained("distilgpt2")\ndef encode(p):\n    return tok(p, padding=True)\n'
        "enc = encode(prompts)\nout = model.generate(input_ids=enc['input_ids'])",
    ),
    (
        "M028",
        'tok = AutoTokenizer.from_pretrained("facebook/opt-125m", padding_side="right")\n'
        'inputs = tok(texts, padding="max_length", max_length=32)\nout = model.generate(**inputs)',
    ),
    ("M025", "loss = torch.mean(per_token * mask)"),
    (
        "M028",
        'tokenizer = AutoTokenizer.from_pretrained("openai-community/gpt2-medium")\n'
        "enc = tokenizer.batch_encode_plus(p, padding=True)\nout = model.generate(**enc)",
    ),
    ("M007", "pg = -torch.min(a, b)\ntotal_loss = (pg - kl_coef * kl).mean()"),
    (
        "M007",
        (
            "def step_loss(lp, old, A, k3):\n    r = torch.exp(lp - old)\n    obj = torch.minimum(r * A, r.clamp(0.8, 1.2) * A)\n"
            "    return -(obj + BETA * k3).mean()"
        ),
    ),
    ("M007", "objective = advantages * ratio + 0.04 * kl_penalty\nloss = -objective.mean()"),
    (
        "M024",
        (
            "def grpo_loss(logps, old, A, mask):\n    rho = (logps - old).exp()\n    gain = torch.minimum(rho * A, rho.clamp(0.8, 1.2) * A)\n"
            "    return (gain * mask).sum() / mask.sum()"
        ),
    ),
    ("M025", "pt = torch.max(-A * r, -A * r.clamp(0.8, 1.2))\nloss = (pt * mask).sum() / pt.numel()"),
    ("M025", "masked = per_token_loss * mask[:, 1:]\nloss = masked.sum() / (masked.shape[0] * masked.shape[1])"),
    ("M025", "ids = torch.cat([p, c])\nnll = model(ids, labels=ids).loss\nloss = reward * nll"),
    ("M025", "def log_prob(model, ids):\n    return -model(ids, labels=ids).loss * ids.shape[1]"),
    (
        "M026",
        (
            "out = model.generate(ids)\ntext = tokenizer.decode(out[0, n:])\nreward = score(text)\n"
            "drawn = tokenizer(text).input_ids\nlogp = get_logps(model, torch.cat([ids, drawn], 1))"
        ),
    ),
    ("M027", "kl = k3(logps, ref_logps)\nloss = policy_loss + beta * kl.item()\nloss.backward()"),
    (
        "M028",
        (
            'tokenizer.padding_side = "right"\ndef collate(rows):\n    return tokenizer(rows, padding=True)\n'
            "for batch in DataLoader(rows, collate_fn=collate):\n    out = model.generate(**batch)"
        ),
    ),
]
