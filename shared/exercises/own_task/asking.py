"""Asking a reward function of which nothing is known: with copies, its result read, what it changes noticed."""

import copy
from collections.abc import Callable, Sequence
from math import isfinite

from torch import Tensor

from shared.exercises.calling import Unfinished, not_filled_in
from shared.exercises.own_task.flaws import Flaw, quoted, raised
from shared.exercises.results import Floats, NotAResult
from shared.rewards import columns_of


def rewards_of(
    function: Callable, rows: Sequence[dict], completions: Sequence[str], prompts: Sequence[str] | None = None
) -> Tensor:
    """(B,) rewards of one completion for each row; `prompts` stand in the place of the rows' own. Raises Flaw."""
    where = f"for completion {quoted(completions[0])}" if len(rows) == 1 else f"for {len(rows)} completions"
    given = {"prompts": list(prompts or [row["prompt"] for row in rows]), "completions": list(completions)}
    given |= columns_of(rows)
    # The reward gets a copy, so that a change of it is seen and does no harm.
    own = copy.deepcopy(given)
    try:
        rewards, complaint = Floats().read(function(**own))
    except Unfinished:
        raise
    except NotAResult as problem:
        raise Flaw(f"{problem} ({where})") from problem
    except NotImplementedError as error:
        raise Flaw(f"{not_filled_in(error)}.") from error
    except BaseException as error:
        raise Flaw(f"it raised {raised(error)} {where}. Whatever a model says has to earn a number.") from error
    if complaint:
        raise Flaw(complaint)
    if rewards.shape != (len(rows),):
        raise Flaw(f"it returns {rewards.numel()} rewards {where}; return a list with one for each completion.")
    odd = [reward for reward in rewards.tolist() if not isfinite(reward)]
    if odd:
        raise Flaw(f"it returns {odd[0]:g} {where}: one such number spoils the whole step.")
    if own != given:
        raise Flaw(
            f"it changes its arguments ({where}). Work on copies: what is trained on afterwards is another text."
        )
    return rewards
