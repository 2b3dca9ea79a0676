"""All rules on one notebook, or on many: the report, and how it is told in a terminal and to programs."""
