"""Plain short English from a small grammar: the task of `notebooks/ppo.ipynb`.

    the old sailor | walked to the harbour and watched a small boat. he was tired.

The reward counts full stops in the completion: many very short sentences earn more than one long one. Another one
wants sentences of six words, and stays hidden from training.
"""

import random
from collections.abc import Iterator, Sequence

from shared.tasks.split import Split, check_request, distinct, split_of

MAX_NEW_TOKENS = 32
# No completion is right and none too long: this one is about as long as those of the documents.
LONGEST_ANSWERS = (
    " walked to the harbour and watched a small boat at the market in the morning. he was tired. he laughed again.",
)
CHAT_SYSTEM_PROMPT = "Continue the user's text in plain short English sentences. Write only what follows it."
# No opening has these people.
CHAT_EXAMPLES = (
    ("the thirsty waiter", " walked to the river in the evening and lost a red hat. he was sad."),
    ("the young miller", " sold a white horse at the market, and then he went to the village."),
)
MOST_FULL_STOPS = 10
WANTED_WORDS = 6  # in a sentence: few of the grammar's have so many

ADJECTIVES = """old young small tall quiet happy sad tired hungry brave clever gentle lonely busy proud rich poor kind
wise strange little grey cold warm careful""".split()
PEOPLE = """sailor farmer teacher baker doctor soldier king queen child boy girl woman man hunter painter singer driver
student neighbour captain""".split()
ANIMALS = "dog cat horse fox bear bird wolf mouse rabbit goose donkey lion".split()
THINGS = """boat house letter book table lamp garden basket bridge window door coat hat stone tree road river cake
apple bottle box chair clock ladder wheel""".split()
LOOKS = "old new small big heavy white red green broken wooden dusty empty".split()
PLACES = """harbour market village forest kitchen school church mountain field station castle island library beach
barn city""".split()
VISITS = "walked ran went came drove hurried travelled returned".split()
ACTIONS = """watched found carried opened painted sold lost wanted bought cleaned built broke washed moved
remembered forgot""".split()
DOINGS = "slept laughed waited sang smiled rested cried listened worked danced".split()
TIMES = """in the morning, in the evening, at night, after lunch, before the storm, every day, on monday, in the spring,
last winter""".replace(",\n", ", ").split(", ")
MANNERS = "slowly quickly quietly loudly happily alone again together early carefully".split()
WEATHER = """the sun was warm, the rain was cold, the wind was strong, it was late, the sky was grey,
the night was long, it was quiet, the snow was deep""".replace(",\n", ", ").split(", ")
OPENINGS = tuple(f"the {adjective} {noun}" for adjective in ADJECTIVES for noun in PEOPLE + ANIMALS)
VOCABULARY = frozenset(
    " ".join(
        [
            *ADJECTIVES,
            *PEOPLE,
            *ANIMALS,
            *THINGS,
            *LOOKS,
            *PLACES,
            *VISITS,
            *ACTIONS,
            *DOINGS,
            *TIMES,
            *MANNERS,
            *WEATHER,
            "the a to and but because then while he she it they was at so",
        ]
    ).split()
)


def dataset(split: Split, n: int, seed: int = 0) -> list[dict]:
    """n different openings such as "the old sailor", each as `prompt`.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    openings = [opening for opening in OPENINGS if split_of(opening) == split]
    random.Random(f"sentences {seed}").shuffle(openings)
    return [{"prompt": opening} for opening in distinct(openings, n, key=str)]


def count_reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """The number of full stops in the completion, without a bound: the reward of the handout."""
    return [float(completion.count(".")) for completion in completions]


def reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """The number of full stops in the completion over `MOST_FULL_STOPS`, at most 1."""
    return [min(count, MOST_FULL_STOPS) / MOST_FULL_STOPS for count in count_reward(prompts, completions)]


def length_reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """Minus the distance of words per sentence from `WANTED_WORDS`: what a reward model is to find out from choices.

    Sentences are counted by their full stops; a completion without one counts as one sentence.
    """
    rewards = []
    for completion in completions:
        words = len(completion.replace(".", " ").split())
        rewards.append(0.0 - abs(words / max(1, completion.count(".")) - WANTED_WORDS))
    return rewards


def share_of_known_words(text: str) -> float:
    """The fraction of the words of a text that belong to the grammar; 1.0 for no words. A check on text that drifts."""
    words = text.replace(".", " ").replace(",", " ").split()
    return sum(word in VOCABULARY for word in words) / len(words) if words else 1.0


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: one to three sentences, mostly long ones, now and then many very short ones."""
    while True:
        subject = rng.choice(_TRAIN_OPENINGS)
        if rng.random() < 0.12:
            sentences = [f"{subject} {_short(rng)}"] + [
                f"{_pronoun(rng)} {_short(rng)}" for _ in range(rng.randint(2, 6))
            ]
        else:
            sentences = [f"{subject} {_long(rng)}"]
            sentences += [f"{_pronoun(rng)} {_long(rng)}" for _ in range(rng.choices((0, 1, 2), (0.5, 0.35, 0.15))[0])]
        yield " ".join(f"{sentence}." for sentence in sentences)


_TRAIN_OPENINGS = [opening for opening in OPENINGS if split_of(opening) == "train"]


def _pronoun(rng: random.Random) -> str:
    return rng.choice(("he", "she", "it", "they"))


def _short(rng: random.Random) -> str:
    return rng.choice(
        (rng.choice(DOINGS), f"{rng.choice(DOINGS)} {rng.choice(MANNERS)}", f"was {rng.choice(ADJECTIVES)}")
    )


def _object(rng: random.Random) -> str:
    return f"{rng.choice(('the', 'a'))} {rng.choice(LOOKS)} {rng.choice(THINGS)}"


def _clause(rng: random.Random) -> str:
    return rng.choice(
        (
            f"{rng.choice(VISITS)} to the {rng.choice(PLACES)}",
            f"{rng.choice(ACTIONS)} {_object(rng)}",
            f"{rng.choice(ACTIONS)} {_object(rng)} at the {rng.choice(PLACES)}",
            f"{rng.choice(DOINGS)} {rng.choice(MANNERS)}",
        )
    )


def _long(rng: random.Random) -> str:
    return rng.choice(
        (
            f"{_clause(rng)} and {_clause(rng)} {rng.choice(TIMES)}",
            f"{_clause(rng)} {rng.choice(TIMES)} because {rng.choice(WEATHER)}",
            f"{_clause(rng)} and then {_clause(rng)}",
            f"{_clause(rng)} while {rng.choice(WEATHER)}, and then {_clause(rng)}",
            f"{_clause(rng)}, but {rng.choice(WEATHER)}, so {_pronoun(rng)} {_clause(rng)}",
        )
    )
