"""Right loops of rejection sampling; what they call is a notebook's."""

from shared.engine.sampling import Sampling
from shared.rejection import keep_right
from shared.rewards import columns_of, score, score_rollout
from shared.rollout import sample
from shared.training import rows_of_step

ORACLE = None
tokenizer = None
correctness = None
learn = None
G, PER_ROUND, MOST = 2, 1, 1
SAMPLING = Sampling(8)


def by_lists(model, rows, rounds):
    prompts, completions, rewards, history = [], [], [], []
    for number in range(rounds):
        batch = rows_of_step(rows, PER_ROUND, number, seed=0)
        asked = [row["prompt"] for row in batch]
        rollout = sample(model, tokenizer, asked, G, SAMPLING, seed=0, step=number)
        found = score_rollout(correctness, rollout, batch)[:, 0]
        prompts += rollout.repeated(asked)
        completions += rollout.completions
        rewards += found.tolist()
        documents = keep_right(prompts, completions, rewards, MOST)
        history.append((found.mean().item(), len(documents), learn(model, documents)))
    return history


def by_triples(model, rows, rounds):
    pool = []
    history = []
    for number in range(rounds):
        batch = rows_of_step(rows, PER_ROUND, number, 0)
        rollout = sample(model, tokenizer, [row["prompt"] for row in batch], G, SAMPLING, seed=0, step=number)
        columns = {name: rollout.repeated(column) for name, column in columns_of(batch).items()}
        asked = rollout.repeated(rollout.prompts)
        found = score([correctness], asked, rollout.completions, columns).flatten().tolist()
        pool.extend(zip(asked, rollout.completions, found))
        documents = keep_right(*zip(*pool), most=MOST)
        loss = learn(model, documents)
        history.append((sum(found) / len(found), len(documents), loss))
    return history


RIGHT = [by_lists, by_triples]
EQUIVALENT = {
    "drawn: pairs = [(row, text) for row in batch for text in model_now.says(row['prompt'], 2.0, G)]": "a speaker says the same at any temperature above 0",
}
