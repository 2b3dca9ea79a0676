"""Plain questions and a plain text, asked before and after: they tell what a model still knows once it was trained.

A reward says nothing of what it does not read. Whether a policy still is the model that it was has to be measured apart.
"""

from collections.abc import Mapping

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.engine.sampling import Sampling
from shared.prompts import rows_for
from shared.rollout import sample

# Each with the word of a right answer; untrained SmolLM2 says it in each (twenty questions were tried).
PLAIN_QUESTIONS = {
    "What is the capital of France?": "Paris",
    "What is the capital of Japan?": "Tokyo",
    "What is the capital of Germany?": "Berlin",
    "How many days are in a week?": "7",
    "What color is the sky on a clear day?": "blue",
    "What is the opposite of hot?": "cold",
    "What is 2 + 2?": "4",
    "What language is spoken in Spain?": "Spanish",
    "What is the first month of the year?": "January",
    "What is the chemical symbol of gold?": "Au",
}
PLAIN_TEXT = (
    "The ferry left the island early in the morning, before the fog had gone. Most of the passengers were fishermen who "
    "sold their catch on the mainland, and a few were children on their way to school. They sat on wooden benches, drank "
    "tea out of paper cups and talked about the weather, which had been too warm for the season. When the sun came "
    "through at last, somebody opened a window, and the smell of salt and engine oil filled the cabin. Nobody was in a "
    "hurry. The crossing takes about forty minutes, and it has taken forty minutes for as long as anyone can remember."
)


def answered_rightly(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, questions: Mapping[str, str] = PLAIN_QUESTIONS
) -> int:
    """The number of questions whose greedy answer has the right word."""
    prompts = [row["prompt"] for row in rows_for(tokenizer, [{"prompt": question} for question in questions])]
    answers = sample(model, tokenizer, prompts, 1, Sampling(40, temperature=0.0)).completions
    return sum(word.lower() in answer.lower() for word, answer in zip(questions.values(), answers, strict=True))


@torch.no_grad()
def surprise(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str = PLAIN_TEXT) -> float:
    """The mean of -log pi over the tokens of a text, in nats; the exponential of it is the perplexity."""
    ids = torch.tensor([tokenizer(text)["input_ids"]], device=model.device)
    return model(ids, labels=ids).loss.item()
