"""The exercises of `notebooks/judges.ipynb`."""
