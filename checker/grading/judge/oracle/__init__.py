"""The side that knows what is right, a process of its own beside the boxes. It may import torch."""
