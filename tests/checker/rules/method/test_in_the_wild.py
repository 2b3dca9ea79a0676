"""Method rules on what people were seen to write, told again in a few lines: found mistakes, and false alarms of old.

Each of them comes from a public notebook that an earlier form of the rules judged wrongly; the tests of a rule hold its
other ways.
"""

import pytest

from checker.checking.check import check

FOUND = {
    "M003, texts passed to a method": (
        "M003",
        "class T:\n    def loss(self, texts):\n        return [reward_rlvr(t) for t in texts]\n"
        "    def step(self, x):\n        ids = self.model.generate(**x)\n"
        "        return self.loss(tokenizer.batch_decode(ids))",
    ),
    "M009, the mean under another name": ("M009", "b = returns.mean(axis=0)\nA = (returns - b) / returns.std(axis=0)"),
}

QUIET = {
    "M013, a part of the prompt": "def sql_reward(prompt):\n    columns = eval(prompt.split('Schema: ')[1])",
}


def codes(good, save, source) -> list[str]:
    good["cells"][5]["source"] += "\n" + source
    return [f.code for f in check(save(good)).findings if f.code.startswith("M")]


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(good, save, name):
    expected, source = FOUND[name]
    assert expected in codes(good, save, source)


@pytest.mark.parametrize("name", QUIET)
def test_it_is_no_mistake(good, save, name):
    assert name[:4] not in codes(good, save, QUIET[name])


def test_one_mistake_is_told_once(good, save):
    """A training loop that calls what samples and scores was told again at each of its calls."""
    source = (
        "def rollout(model, x):\n    ids = model.generate(**x, top_p=0.9)\n"
        "    return ids, F.log_softmax(model(ids).logits, -1)\n"
        "def step(model, x):\n    ids, old = rollout(model, x)\n"
        "    return F.log_softmax(model(ids).logits, -1) - old"
    )
    assert codes(good, save, source).count("M015") == 1


def test_what_a_later_cell_scores_was_sampled(good, save):
    """Outside of functions, sampling in one cell and scoring in the next was taken for two unrelated cells."""
    good["cells"][5]["source"] += "\nids = model.generate(**x, top_k=50)\nwhole = torch.cat([x.input_ids, ids], 1)"
    good["cells"][6]["source"] += "\nlogps = F.log_softmax(model(whole).logits, -1)"
    assert [f.code for f in check(save(good)).findings].count("M015") == 1


def test_what_a_later_cell_scores_may_be_something_else(good, save):
    """A demonstration in one cell says nothing of the given answers that another cell scores."""
    good["cells"][5]["source"] += "\nids = model.generate(**x, top_k=50)"
    good["cells"][6]["source"] += "\nlogps = F.log_softmax(model(given_ids).logits, -1)"
    assert "M015" not in [f.code for f in check(save(good)).findings]


def test_a_notebook_with_one_numbered_cell_is_not_the_course_s(good, save):
    """One heading "Cell 8" hid every cell below it, as the course's analysis would be."""
    good["cells"] = [
        {"cell_type": "markdown", "metadata": {}, "source": "## Cell 8: PPO"},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "outputs": [],
            "source": "ids = model.generate(**x, top_k=50)\nlogps = F.log_softmax(model(ids).logits, -1)",
        },
    ]
    assert "M015" in [f.code for f in check(save(good)).findings]


def test_a_list_of_the_same_name_in_another_cell_is_another(good, save):
    """The rewards of an evaluation hid that those of the step are one group."""
    good["cells"][5]["source"] += (
        "\nrewards = []\nfor i in range(num_generations):\n    rewards.append(score(texts[i]))\n"
        "rewards_t = torch.tensor(rewards)\nadv = (rewards_t - rewards_t.mean()) / (rewards_t.std() + 1e-4)"
    )
    good["cells"][6]["source"] += "\nrewards = []\nfor row in rows:\n    rewards.append(score(row))"
    assert "M010" in [f.code for f in check(save(good)).findings]
