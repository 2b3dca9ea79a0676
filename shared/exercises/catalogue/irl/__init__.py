"""The exercises of inverse reinforcement learning, on small worlds that `worlds.py` draws."""
