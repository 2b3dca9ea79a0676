"""Right ages in a queue."""

from collections import deque


def ORACLE(rollouts_per_update, updates, bound):
    """The queue itself: rollouts come in, what is too old goes, the oldest is taken."""
    queue, ages = deque(), []
    for version in range(updates):
        queue.extend([version] * rollouts_per_update)
        while version - queue[0] > bound:
            queue.popleft()
        ages.append(version - queue.popleft())
    return ages


EQUIVALENT = {
    "oldest_allowed: return [max(update - bound, 0) * rollouts_per_update for update in range(updates)]": "the larger of "
    "two is the same in any order",
    "oldest_allowed: return [max(-1, update - bound) * rollouts_per_update for update in range(updates)]": "the next in "
    "the queue is never below 0",
    "taken: numbers, following = ([], -1)": "the first that is allowed is never below 0",
    "taken: numbers.append(max(first, following))": "the larger of two is the same in any order",
}
