"""The exercises of inverse reinforcement learning, on small worlds that `common/worlds.py` draws."""
