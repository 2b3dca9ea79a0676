"""The loop of rejection sampling: `rejection_sampling(model, rows, rounds) -> history`, a triple for each round.

What is compared is a text: what was learnt in each round, and what the history says of it. The model says what it was
told to, in each round something else, and learning only writes down the documents.
"""

from shared.engine.sampling import Sampling
from shared.exercises.arguments import Kind, Scalar, Things
from shared.exercises.catalogue.what_rl_adds import keep_right as kept_samples
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import NotAResult, Text, named, no_tensors
from shared.exercises.stand_ins.speaking import SETTINGS, Speaker, drawn_speaker, names, speak, standing_in
from shared.exercises.steps import Steps
from shared.training import rows_of_step

STEPS = Steps()
STAND_INS = ("G", "PER_ROUND", "MOST", "correctness", "learn")
KEEP = kept_samples.EXERCISE.reference()


def on_target(prompts, completions, target, **columns) -> list[float]:
    """Stands in for the correctness reward: 1.0 for the row's target, with or without a full stop."""
    return [float(text.rstrip(".") == str(goal)) for text, goal in zip(completions, target)]


def turned(model: Speaker, step: int) -> Speaker:
    """The speaker as it speaks in a round: what it says by chance begins at another place."""
    unsure = {prompt: said[step % len(said) :] + said[: step % len(said)] for prompt, said in model.unsure.items()}
    return Speaker(model.sure, unsure)


def speak_by_round(
    model,
    tokenizer,
    prompts,
    num_generations: int,
    sampling: Sampling = Sampling(),
    seed: int | None = None,
    step: int = 0,
):
    """In the place of `shared.rollout.sample`: other completions at each step, and with another seed than the page's 0."""
    now = turned(model, step + (seed != 0)) if isinstance(model, Speaker) else model
    return speak(now, tokenizer, prompts, num_generations, sampling)


def told(number: int, documents: list[dict]) -> str:
    """The documents learnt in a round, in a line; their order is left to the student."""
    pairs = sorted(f"{document['prompt']} {document['completion']}" for document in documents)
    return f"round {number} learns {', '.join(pairs) or 'nothing'}"


@STEPS.step
def steps(rounds):
    """The step that each round is sampled at."""
    return list(range(rounds))


@STEPS.step
def batches(rows, rounds, per_round):
    return [rows_of_step(rows, per_round, number, seed=0) for number in range(rounds)]


@STEPS.step
def drawn(model, batches, steps, G):
    """For each round its (prompt, completion, reward)."""
    found = []
    for batch, step in zip(batches, steps):
        model_now = turned(model, step)
        pairs = [(row, text) for row in batch for text in model_now.says(row["prompt"], 1.0, G)]
        rewards = on_target(None, [text for _, text in pairs], [row["target"] for row, _ in pairs])
        found.append([(row["prompt"], text, reward) for (row, text), reward in zip(pairs, rewards)])
    return found


@STEPS.step
def pools(drawn):
    """All that was drawn up to each round."""
    return [sum(drawn[: number + 1], []) for number in range(len(drawn))]


@STEPS.step
def documents(pools, most):
    return [KEEP(*map(list, zip(*pool)), most) for pool in pools]


@STEPS.step
def averages(drawn):
    return [sum(reward for _, _, reward in triples) / len(triples) for triples in drawn]


@STEPS.step
def counts(documents):
    return [len(of_round) for of_round in documents]


@STEPS.step
def story(documents, averages, counts):
    learnt = [told(number, of_round) for number, of_round in enumerate(documents, 1)]
    history = [
        f"({average:.5f}, {count}, {number}.0)" for number, (average, count) in enumerate(zip(averages, counts), 1)
    ]
    return "\n".join([*learnt, "history", *history])


@STEPS.slip("steps", "Every round samples with the same `step`, and so with the same chance. Pass the round's number.")
def same_chance(rounds):
    return [0] * rounds


@STEPS.slip("batches", "Every round asks the same problems. Pass the round's number to `rows_of_step`.")
def same_problems(rows, rounds, per_round):
    return [rows_of_step(rows, per_round, 0, seed=0)] * rounds


@STEPS.slip("pools", "You learn from this round alone. Keep the right ones of all that was drawn so far.")
def this_round_alone(drawn):
    return drawn


@STEPS.slip("documents", "Wrong completions are learnt as well. Learn what `keep_right` keeps.")
def wrong_ones_too(pools, most):
    return [KEEP(*map(list, list(zip(*pool))[:2]), [1.0] * len(pool), most) for pool in pools]


@STEPS.slip("most", "The limit of `keep_right` is written down as 1. Use `MOST`.")
def limit_hard_coded():
    return 1


@STEPS.slip(
    "averages", "The first number of the history is the average over all rounds so far. It is that of the round."
)
def averages_so_far(pools):
    return [sum(reward for _, _, reward in pool) / len(pool) for pool in pools]


@STEPS.slip("counts", "The history counts completions. Its second number is the number of documents.")
def completions_counted(pools):
    return [len(pool) for pool in pools]


@STEPS.slip(
    "drawn",
    "Completions are kept under other prompts: `prompts * G` gives p0 p1 p0 p1, and the completions of a prompt lie next "
    "to each other. Use `rollout.repeated`.",
)
def prompts_tiled(drawn, batches, G):
    tiled = [[row["prompt"] for row in batch] * G for batch in batches]
    return [
        [(prompt, text, reward) for prompt, (_, text, reward) in zip(prompts, triples)]
        for prompts, triples in zip(tiled, drawn)
    ]


@STEPS.slip(
    "documents",
    "Each round's right ones are kept by themselves and added up: doubles, and more than `MOST` of a prompt, come in over "
    "the rounds. Keep of all that was drawn so far.",
)
def kept_by_round(drawn, most):
    of_rounds = [KEEP(*map(list, zip(*of_round)), most) for of_round in drawn]
    return [sum(of_rounds[: number + 1], []) for number in range(len(of_rounds))]


def call(function, case: Case) -> str:
    """Run the rounds; a text of what was learnt in each, and of the history."""
    if is_reference(function):
        return function(**case)
    model, rows, rounds, G, per_round, most = case.values()
    learnt = []

    def learn(learner, of_round):
        if learner is not model:
            raise NotAResult("its `learn` does not get the model that the function was given.")
        learnt.append(told(len(learnt) + 1, of_round))
        return float(len(learnt))

    others = dict(zip(STAND_INS, (G, per_round, most, on_target, learn), strict=True))
    with standing_in(function, sample=speak_by_round, **others):
        history = function(model, rows, rounds)
    if not isinstance(history, list) or not all(isinstance(one, tuple) and len(one) == 3 for one in history):
        raise NotAResult(f"it returns {named(history)}; return a list with a triple for each round.")
    no_tensors(history)
    lines = [f"({float(average):.5f}, {float(count):g}, {float(loss):.1f})" for average, count, loss in history]
    return "\n".join([*learnt, "history", *lines])


TEXTS = ("22", "22.", "10", "10.", "3", "so")  # two that are right for most targets: the limit then decides


@STEPS.slip("steps", "The rounds are counted from 1 for `sample`. The first is step 0.")
def steps_from_one(rounds):
    return list(range(1, rounds + 1))


@STEPS.slip("batches", "The rounds are counted from 1 for `rows_of_step`. The first is number 0.")
def batches_from_one(rows, rounds, per_round):
    return [rows_of_step(rows, per_round, number, seed=0) for number in range(1, rounds + 1)]


@STEPS.slip(
    "averages", "The first number of the history is how much was earned in all. It is the average reward of the round."
)
def summed(drawn):
    return [sum(reward for _, _, reward in triples) for triples in drawn]


@STEPS.slip(
    "averages", "The first number of the history is the share of what is kept. It is the average reward of the round."
)
def share_kept(drawn, counts):
    return [count / len(triples) for count, triples in zip(counts, drawn)]


@STEPS.slip("drawn", "One completion of each problem is sampled. Use `G`.")
def one_each(model, batches, steps):
    found = []
    for batch, step in zip(batches, steps):
        pairs = [(row, turned(model, step).says(row["prompt"], 1.0, 1)[0]) for row in batch]
        found.append([(row["prompt"], text, *on_target(None, [text], [row["target"]])) for row, text in pairs])
    return found


def draw(draw: Draw) -> Case:
    rows = [{"prompt": f"{name}:", "target": draw.choice([22, 10, 3])} for name in names(draw.size(3))]
    return {
        "model": drawn_speaker(draw, [row["prompt"] for row in rows], list(TEXTS)),
        "rows": rows,
        "rounds": draw.size(3),
        "G": draw.size(3, least=2),
        "per_round": draw.size(2),
        "most": draw.choice([1, 2, 3]),
    }


def boundary() -> list[Case]:
    rows = [{"prompt": "a:", "target": 22}, {"prompt": "b:", "target": 10}]
    model = Speaker({}, {"a:": ["22", "22.", "so"], "b:": ["so", "10", "22", "10."]})
    late = Speaker({}, {"a:": ["so"] * 10 + ["22"], "b:": ["so", "10", "22", "10."]})  # at step 10, and 21
    case = {"model": model, "rows": rows, "rounds": 2, "G": 2, "per_round": 1, "most": 2}
    return [
        case | {"rounds": 1},
        case,
        case | {"per_round": 2},
        case | {"model": late, "rounds": 13, "per_round": 2, "most": 1},
    ]


EXERCISE = Exercise(
    name="rejection sampling",
    function="rejection_sampling",
    contract="`f(model, rows, rounds) -> history`, a triple for each round: average reward, documents, loss.",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "rows": Things("N"),
        "rounds": Scalar(usual=4, simple=(1, 2)),
        "G": Scalar(usual=8, simple=(2,)),
        "per_round": Scalar(usual=160, simple=(1, 2)),
        "most": Scalar(usual=2, simple=(1, 2)),
    },
    result=Text(),
    draw=draw,
    boundary=boundary,
    call=call,
    valid=lambda case: min(case["rounds"], case["G"], case["per_round"], case["most"]) >= 1,
    needs=(kept_samples.EXERCISE,),
    draws=60,
    long=30,
    supplies=(*SETTINGS, *STAND_INS),
    shows=("shared.exercises.stand_ins.speaking",),
)
