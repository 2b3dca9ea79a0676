"""Right ways to reward the format of countdown."""

from shared.tasks import countdown

ORACLE = countdown.format_reward
