"""The selection of rejection sampling: `keep_right(prompts, completions, rewards, most) -> documents`.

Documents are dicts of `prompt` and `completion`; in which order the prompts come is left to the student.
"""

from itertools import groupby
from operator import itemgetter

from shared.exercises.arguments import Scalar, Texts, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.stand_ins.documents import Documents
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def triples(prompts, completions, rewards):
    return list(zip(prompts, completions, rewards))


@STEPS.step
def right(triples):
    return [(prompt, completion) for prompt, completion, reward in triples if reward == 1]


@STEPS.step
def different(right):
    return list(dict.fromkeys(right))


@STEPS.step
def capped(different, most):
    found = {}
    for prompt, completion in different:
        found.setdefault(prompt, []).append(completion)
    return [(prompt, completion) for prompt, of_prompt in found.items() for completion in of_prompt[:most]]


@STEPS.step
def documents(capped):
    return [{"prompt": prompt, "completion": completion} for prompt, completion in capped]


@STEPS.slip("right", "Wrong completions are kept as well: keep those with reward 1.")
def all_kept(triples):
    return [(prompt, completion) for prompt, completion, _ in triples]


@STEPS.slip("right", "A part of the reward is enough in yours. Right is what earns 1.")
def partly_right(triples):
    return [(prompt, completion) for prompt, completion, reward in triples if reward > 0]


@STEPS.slip("right", "You keep the wrong ones and leave the right ones out.")
def wrong_kept(triples):
    return [(prompt, completion) for prompt, completion, reward in triples if reward != 1]


@STEPS.slip(
    "different",
    "The same completion of the same prompt comes twice: what is said most often would then be learnt most often.",
)
def with_doubles(right):
    return right


@STEPS.slip(
    "different",
    "A completion is dropped because another prompt had the same one. Only of one prompt is it a double.",
)
def different_texts(right):
    first = {}
    for prompt, completion in right:
        first.setdefault(completion, prompt)
    return [(prompt, completion) for completion, prompt in first.items()]


@STEPS.slip("capped", "There is no limit for a prompt: keep at most `most` of each, or easy ones fill the set.")
def without_limit(different):
    return different


@STEPS.slip("capped", "`most` limits the whole list in yours. It is for each prompt.")
def limited_in_all(different, most):
    return different[:most]


@STEPS.slip("capped", "You keep one of each prompt, whatever `most` says.")
def one_each(different):
    first = {}
    for prompt, completion in different:
        first.setdefault(prompt, completion)
    return list(first.items())


@STEPS.slip("capped", "You keep the last ones of a prompt. Keep the first ones.")
def last_ones(different, most):
    found = {}
    for prompt, completion in different:
        found.setdefault(prompt, []).append(completion)
    return [(prompt, completion) for prompt, of_prompt in found.items() for completion in of_prompt[-most:]]


@STEPS.slip(
    "triples", "The limit counts wrong completions too: sort out what is wrong first, then take the first ones."
)
def limited_before(prompts, completions, rewards, most):
    seen = {}
    found = []
    for prompt, completion, reward in zip(prompts, completions, rewards):
        seen[prompt] = seen.get(prompt, 0) + 1
        if seen[prompt] <= most:
            found.append((prompt, completion, reward))
    return found


@STEPS.slip("documents", "Every document has the first prompt. Each completion belongs to its own.")
def first_prompt_for_all(capped):
    return [{"prompt": capped[0][0], "completion": completion} for _, completion in capped]


@STEPS.slip(
    "different",
    "A double takes a place: the limit is applied before doubles are gone. Count what is kept, not what is right.",
)
def doubles_take_places(right, most):
    seen = {}
    first = []
    for prompt, completion in right:
        seen[prompt] = seen.get(prompt, 0) + 1
        if seen[prompt] <= most:
            first.append((prompt, completion))
    return list(dict.fromkeys(first))


@STEPS.slip(
    "capped",
    "A completion is dropped because it was kept for another prompt. Only of one prompt is it a double.",
)
def kept_for_another(right, most):
    found = {}
    seen = set()
    for prompt, completion in right:
        of_prompt = found.setdefault(prompt, [])
        if completion not in seen and len(of_prompt) < most:
            seen.add(completion)
            of_prompt.append(completion)
    return [(prompt, completion) for prompt, of_prompt in found.items() for completion in of_prompt]


@STEPS.slip(
    "capped", "The whole loop ends when one prompt has enough: `continue` goes on with the next, `break` does not."
)
def ends_when_one_is_full(right, most):
    found = {}
    for prompt, completion in right:
        of_prompt = found.setdefault(prompt, [])
        if len(of_prompt) >= most:
            break
        if completion not in of_prompt:
            of_prompt.append(completion)
    return [(prompt, completion) for prompt, of_prompt in found.items() for completion in of_prompt]


@STEPS.slip(
    "capped",
    "Counting begins anew whenever the prompt changes: one that comes back in a later round is kept again. Keep a count "
    "for each prompt.",
)
def begins_anew(triples, most):
    runs = [dict.fromkeys(triple for triple in run if triple[2] == 1) for _, run in groupby(triples, key=itemgetter(0))]
    return [triple[:2] for run in runs for triple in list(run)[:most]]


PROMPTS = ("2 3 to 5", "Use 2 3 to 55", "Use 2 3 to 5 ", "Use 2 3 to 5")
COMPLETIONS = ("2 + 3", "3 + 2", "A 3 + 22", "3 + 2 ")


@STEPS.slip(
    "capped",
    "Only a double of the sample that was kept last is left out. With another in between it is kept again: remember all "
    "that were kept.",
)
def doubles_of_the_last(right, most):
    kept = []
    for pair in right:
        of_prompt = sum(prompt == pair[0] for prompt, _ in kept)
        if kept[-1:] != [pair] and of_prompt < most:
            kept.append(pair)
    return kept


@STEPS.slip(
    "capped",
    "The completions of a prompt are sorted, and the first of the alphabet are kept. Keep those that were drawn first.",
)
def first_of_the_alphabet(different, most):
    return capped(sorted(different), most)


@STEPS.slip(
    "capped",
    "A completion is compared only with the one of its prompt that was kept last. With another in between it is kept "
    "again: remember all that were kept.",
)
def doubles_of_the_prompts_last(right, most):
    found = {}
    for prompt, completion in right:
        of_prompt = found.setdefault(prompt, [])
        if of_prompt[-1:] != [completion] and len(of_prompt) < most:
            of_prompt.append(completion)
    return [(prompt, completion) for prompt, of_prompt in found.items() for completion in of_prompt]


def draw(draw: Draw) -> Case:
    """Groups of one size, as they are sampled; now and then a prompt comes back in a later round."""
    G = draw.size(5)
    prompts = [draw.choice(PROMPTS) for _ in range(draw.size(3))]
    count = G * len(prompts)
    return {
        "prompts": [prompt for prompt in prompts for _ in range(G)],
        "completions": draw.some(COMPLETIONS, count),
        "rewards": draw.some([0.0, 1.0, 1.0, 0.75], count),
        "most": draw.size(3),
    }


def boundary() -> list[Case]:
    a, b = PROMPTS[:2]
    one, two, three, _ = COMPLETIONS
    quadruples = [
        ([a], [one], [1.0], 1),
        ([a], [one], [0.0], 1),
        ([a, a], [one, one], [1.0, 1.0], 2),
        ([a, b], [one, one], [1.0, 1.0], 1),
        ([a, a, a], [one, two, three], [1.0, 1.0, 1.0], 2),
        ([a, a, a], [one, two, three], [0.0, 0.5, 1.0], 1),
        ([a, a, a], [one, one, two], [1.0, 1.0, 1.0], 2),
        ([a, b, a], [one, two, three], [1.0, 1.0, 1.0], 1),
        ([a, b, a], [one, two, one], [1.0, 1.0, 1.0], 2),
    ]
    return [dict(zip(("prompts", "completions", "rewards", "most"), quadruple)) for quadruple in quadruples]


EXERCISE = Exercise(
    name="kept samples",
    function="keep_right",
    contract="`f(prompts, completions, rewards, most) -> documents` of the right completions, `most` of each prompt.",
    steps=STEPS,
    arguments={
        "prompts": Texts("B", always_shown=False),
        "completions": Texts("B"),
        "rewards": Things("B"),
        "most": Scalar(usual=2, simple=(1, 2)),
    },
    result=Documents(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["most"] >= 1,
    shows=("shared.exercises.stand_ins.documents",),
)
