"""The exercises of the countdown task: its two rewards, and the episodes that are scored with them."""
