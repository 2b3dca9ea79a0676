"""The normalisation of a group's rewards: each way of writing it, and what only looks like it."""

import pytest

from checker.rules.method import advantages
from tests.checker.rules.looking import found


def of(code: str, *cells: str) -> list:
    return [finding for finding in found(advantages, *cells) if finding.code == code]


BY_STD = [
    "def f(s):\n    return s > 0\ns = rewards.std()\nadv = (rewards - mean) / s",
    "adv = (scores - scores.mean()) / scores.std()",
    "adv = (returns - returns.mean()) / returns.std()",
    "adv = (r - np.mean(r)) / np.std(r)",
    "adv = (qs - qs.mean()) / qs.std()",
    "adv = (rtgs - np.average(rtgs)) / rtgs.std()",
    "adv = (Gs - Gs.mean()) / Gs.std()",
    "adv = (discounted - discounted.mean()) / discounted.std()",
    "adv = (advantages - mu) / advantages.std()",
    "b = returns.mean(axis=0)\nadv = (returns - b) / returns.std(axis=0)",
    "adv = (rewards - baseline) / rewards.std()",
    "adv = (rewards - avg) / statistics.stdev(rewards)",
    "adv = (rew - m) / statistics.pstdev(rew)",
    *(
        f"s = rewards.std(1).{change}\nadv = (rewards - mean) / s"
        for change in ("unsqueeze(1)", "view(-1)", "reshape(-1)", "expand(3)")
    ),
    *(
        f"s = rewards.std(1).{change}\nadv = (rewards - mean) / s"
        for change in ("repeat_interleave(3)", "expand_as(x)", "item()")
    ),
    *(
        f"s = rewards.std(1).{change}\nadv = (rewards - mean) / s"
        for change in ("float()", "to(d)", "view(1)[:, None]")
    ),
    "s = rewards.std(1)\nadv = (rewards - mean) / s[None]",
    "adv = rewards / np.std(rewards - np.mean(rewards))",
    "rewards -= rewards.mean()\nrewards /= rewards.std()",
    "def f(rewards):\n    rewards -= np.mean(rewards)\n    rewards /= rewards.std()",
    "if count > 0:\n    adv = (rewards - rewards.mean()) / rewards.std()",
]


@pytest.mark.parametrize("lines", BY_STD)
def test_a_standard_deviation_that_can_be_0_is_told(lines):
    """Catches one name of rewards, or one way to divide, that is not known."""
    (finding,) = of("M009", "x = 1", lines)
    assert (finding.level, finding.cell) == ("warning", 1) and "can be 0" in finding.found
    assert finding.found.startswith(f"line {len(lines.splitlines())} divides") and "`/ (std + 1e-4)`" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
        "adv = (rewards - rewards.mean()) / rewards.std().clamp(1e-4)",
        "adv = (rewards - rewards.mean()) * rewards.std()",
        "adv = (rewards - other) / rewards.std()",
        "adv = heights / np.std(heights)",
        "adv = rewards / np.std(heights)",
        "rewards += rewards.mean()\nrewards /= rewards.std()",
        "rewards -= rewards.max()\nrewards /= rewards.std()",
        "rewards -= rewards.mean()\nrewards *= rewards.std()",
        "rewards -= rewards.mean()\ndef f(rewards):\n    rewards /= rewards.std()",
        "def f(rewards):\n    s = rewards.std()\n    assert s != 0\n    return (rewards - mean) / s",
        "if has_spread:\n    adv = (rewards - mean) / rewards.std()",
        "adv = (rewards - mean) / rewards.std() if sigma_ok else 0",
        "adv = (rewards - mean) / rewards.std()\nif np.isnan(adv):\n    adv = 0",
    ],
)
def test_where_the_zero_was_thought_of_nothing_is_told(lines):
    """Catches a claim about a division that is guarded, and about one of something else."""
    assert of("M009", lines) == []


@pytest.mark.parametrize(
    "lines",
    [
        "reward = f(x)\ntarget = (target - target.mean()) / target.std()",
        "adv = f(x)\nz = (value - value.mean()) / value.std(0).unsqueeze(1)",
        "reward = f(x)\nc = value - value.mean()\nz = c / value.std()",
    ],
)
def test_what_has_another_name_is_asked_about(lines):
    (finding,) = of("M009", "x = 1", lines)
    assert (finding.level, finding.cell) == ("question", 1)
    assert (
        finding.found.startswith(f"line {len(lines.splitlines())}: can these all be equal")
        and "is nan then" in finding.advice
    )


@pytest.mark.parametrize(
    "lines",
    [
        "heights = f(x)\ntarget = (target - target.mean()) / target.std()",
        *(
            f"reward = f(x)\ny = ({name} - {name}.mean()) / {name}.std()"
            for name in ("obs", "state", "features", "image", "img", "pixels")
        ),
        *(
            f"reward = f(x)\ny = ({name} - {name}.mean()) / {name}.std()"
            for name in ("inputs", "data", "frame", "x", "xs", "my_train")
        ),
        *(
            f"reward = f(x)\ny = ({name} - {name}.mean()) / {name}.std()"
            for name in ("test", "df", "logits", "weights", "hidden", "tokens")
        ),
        "reward = f(x)\ny = (target - target.mean()) * target.std()",
        "reward = f(x)\ny = (target - target.mean()) / (target.std() + 1)",
        "reward = f(x)\ns = target.std()\nif s:\n    pass\nif s > 0:\n    y = (target - target.mean()) / s",
        "reward = f(x)\ny = (target - target.mean()) / target.std()\ny = np.nan_to_num(y)",
    ],
)
def test_what_a_network_is_given_is_no_reward(lines):
    """Catches a question about observations, and about a mean and a deviation of two things."""
    assert of("M009", lines) == []


LOOP = "rewards = []\nfor i in range(G):\n    rewards.append(score(i))\n"
SAMPLE_STD = [
    "rewards = f(x)\nrewards += np.ones(3)\ns = rewards.std(1)",
    "s = statistics.stdev(adv)",
    "s = A.std(dim=0)",
    "s = my_returns.std(dim=0)",
    f"{LOOP}rewards_t = torch.tensor(rewards)\nadv = (rewards_t - 1) / rewards_t.std()",
    f"{LOOP}rewards_t = torch.stack(rewards)\ns = rewards_t.std()",
    f"{LOOP}rewards_t = torch.as_tensor(rewards)\nadv = rewards_t / (rewards_t.std() + 1)",
    f"{LOOP}rewards_t = torch.FloatTensor(rewards)\ns = rewards_t.std()",
    LOOP.replace("range(G)", "range(num_generations)") + "rewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
    "# the sample's is 2 lines above\n\ns = rewards.std(dim=1)",
]


@pytest.mark.parametrize("lines", SAMPLE_STD)
def test_the_samples_standard_deviation_is_asked_about(lines):
    """Catches one way to take the deviation of a group that is not known."""
    (finding,) = of("M010", "x = 1", lines)
    assert finding.cell == 1 and "divided by G - 1" in finding.found and "`correction=0`" in finding.advice
    assert finding.found.startswith(f"line {len(lines.splitlines())}: ")


def test_a_list_of_the_same_name_in_another_cell_is_another():
    """Catches the rewards of an evaluation that hide that those of the step are one group."""
    step = f"{LOOP}rewards_t = torch.tensor(rewards)\nadv = (rewards_t - 1) / rewards_t.std()"
    (finding,) = of("M010", step, "rewards = []\nfor row in rows:\n    rewards.append(score(row))")
    assert finding.cell == 0


@pytest.mark.parametrize(
    "lines",
    [
        *(f"s = rewards.std(dim=1, {said})" for said in ("correction=0", "unbiased=False", "ddof=1")),
        "rewards = np.array(x).reshape(-1, 2)\ns = rewards[3:].std(1)",
        "rewards = numpy.zeros(3)\nr = rewards[i : i + 3]\ngroup = r.view(1)\ns = group.std(1)",
        "rewards = [1]\nrewards = np.array(rewards)\ns = rewards.std(1)",
        *(
            f"s = rewards.std(dim=1)  # {word}"
            for word in ("unbiased", "the sample's", "Bessel", "no correction", "G-1", "G - 1")
        ),
        *(f"# {word}\ns = rewards.std(dim=1)" for word in ("unbiased", "as a SAMPLE", "bessel")),
        f"{LOOP}rewards_t = torch.tensor(rewards)\nlog(rewards_t.std())",
        f"{LOOP}rewards_t = torch.tensor(rewards)\nx = log(rewards_t.std())",
        LOOP.replace("range(G)", "prompts") + "rewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        LOOP.replace("range(G)", "range(n)") + "rewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        LOOP.replace("range(G)", "numbers(G)") + "rewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        f"{LOOP}rewards.append(3)\nrewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        f"rewards = [1]\n{LOOP}rewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        f"{LOOP}rewards_t = f(rewards)\ns = rewards_t.std()",
        "rewards = []\nfor p in prompts:\n    for i in range(G):\n"
        "        rewards.append(i)\nrewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
        "rewards = []\nrewards.append(i)\nrewards_t = torch.tensor(rewards)\ns = rewards_t.std()",
    ],
)
def test_where_it_is_said_which_one_is_meant_nothing_is_asked(lines):
    """Catches a question about numpy, which divides by G, and about a choice that a comment names."""
    assert of("M010", lines) == []


TWO_LOOPS = "rewards = []\nfor prompt in prompts:\n    for i in range(G):\n        rewards.append(score(i))\n"
OVER_ALL = [
    "x = a + b\ngap = rewards - other\nrewards = rewards.view(-1, G)\nadv = rewards - rewards.mean()",
    "rewards = rewards.reshape(n, G)\nadv = rewards - torch.mean(rewards)",
    "scores = s.unflatten(0, G)\nadv = scores - scores.mean()",
    "returns = s.view(n, G)\nm = returns.mean()\nadv = returns - m",
    f"{TWO_LOOPS}rewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
    *(
        TWO_LOOPS.replace("prompts", name) + "rewards_t = torch.stack(rewards)\nadv = rewards_t - rewards_t.mean()"
        for name in ("batch", "rows", "questions", "examples", "problems")
    ),
    "rewards = [score(p) for p in prompts for _ in range(G)]\n"
    "rewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
    TWO_LOOPS + "adv = rewards - mean(rewards)",
    TWO_LOOPS.replace("range(G)", "prompts").replace("in prompts", "in range(G)", 1) + "adv = rewards - mean(rewards)",
    "rewards = [score(p) for _ in range(G) for p in prompts]\nadv = rewards - mean(rewards)",
    "asked = []\nfor q in questions:\n    asked += [q] * num_samples\n"
    "rewards = torch.tensor(score(generate(asked)))\nadv = rewards - rewards.mean()",
    "R = torch.tensor(score(generate(encode(prompts).repeat_interleave(k, dim=0))))\nadv = R - R.mean()",
]


@pytest.mark.parametrize("lines", OVER_ALL)
def test_a_mean_over_the_batch_is_asked_about(lines):
    """Catches one way to put several groups into one mean that is not known."""
    (finding,) = of("M011", "x = 1", lines)
    assert (
        finding.cell == 1
        and "or of the whole batch?" in finding.found
        and "`rewards.view(-1, G).mean(dim=1)`" in finding.advice
    )
    assert finding.found.startswith(f"line {len(lines.splitlines())}: ")


@pytest.mark.parametrize(
    "lines",
    [
        "rewards = rewards.view(-1, G)\nadv = rewards - rewards.mean(dim=1)",
        "rewards = rewards.view(-1, G)\nadv = rewards - rewards.mean(1)",
        "rewards = rewards.view(-1, G)\nadv = rewards - torch.mean(rewards, 1)",
        "rewards = rewards.view(-1, G)\nadv = rewards - torch.mean(rewards, dim=1)",
        "rewards = rewards.view(-1)\nadv = rewards - rewards.mean()",
        "adv = rewards - rewards.mean()\nrewards = rewards.view(-1, G)",
        "rewards = [score(p) for p in prompts]\nrewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
        "rewards = [score(p) for p in prompts for _ in range(9)]\n"
        "rewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
        "rewards = [score(p) for p in prompts for _ in numbers(G)]\n"
        "rewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
        "rewards = [score(p) for _ in range(G)]\nrewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
        "rewards = [s(p) for a in b for p in c for _ in range(G)]\n"
        "rewards_t = torch.tensor(rewards)\nadv = rewards_t - rewards_t.mean()",
        TWO_LOOPS.replace("range(G)", "range(9)") + "adv = rewards - mean(rewards)",
        TWO_LOOPS.replace("range(G)", "numbers(G)") + "adv = rewards - mean(rewards)",
        TWO_LOOPS.replace("prompts", "letters") + "adv = rewards - mean(rewards)",
        LOOP + "adv = rewards - mean(rewards)",
        "for prompt in prompts:\n    rewards = []\n    for i in range(G):\n"
        "        rewards.append(i)\nadv = rewards - mean(rewards)",
        TWO_LOOPS + "def f(rewards):\n    return rewards - mean(rewards)",
        TWO_LOOPS + "rewards_t = f(rewards)\nadv = rewards_t - rewards_t.mean()",
        "rewards = []\nfor prompt in prompts:\n    for i in range(G):\n"
        "        rewards.append(i)\n    adv = rewards - mean(rewards)",
        "adv = rewards[0] - mean(rewards[0])",
        "for q in questions:\n    asked = [q] * num_samples\n"
        "    rewards = torch.tensor(score(generate(asked)))\n    adv = rewards - rewards.mean()",
    ],
)
def test_the_mean_of_each_group_is_right(lines):
    """Catches a question about a mean over one dimension, or about a loop that goes over one group alone."""
    assert of("M011", lines) == []
