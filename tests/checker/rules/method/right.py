"""Code that only looks as if it made a mistake of method: no rule may find anything in it."""

RIGHT = [
    ("rewards = torch.tensor(score(group))\nadv = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)"),
    "ratio = torch.exp(logps - logps.detach())\nloss = -(ratio * advantages)",
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
