"""The exercises about a game of several turns: its answers, the loop of turns, its reward, its guesses, the loss."""
