"""The exercises of `notebooks/async_rl.ipynb`."""
