"""The number that a setting comes to, and None where two numbers are possible or none can be seen."""

import ast

import pytest

from checker.reading.syntax.code import read_code
from checker.reading.syntax.settings import Frame, default, given, value
from tests.checker.reading.cells import notebook


def temperature(*cells: str) -> float | None:
    """The temperature of the last call of `generate` in these cells."""
    code = read_code(notebook(*cells))
    *_, (_, call) = code.calls("generate")
    return value(code, given(code, call, "temperature"), Frame(code.scope(call)))


CALL = "generate(temperature=t)"
OF_ALL = "class Config:\n    t: float = 0.7\n"
SETTINGS = {
    "generate(x, temperature=0.7)": 0.7,
    "generate(temperature=-0.7)": -0.7,
    "generate(x, 0.7)": None,
    "generate(temperature=f(0.7))": None,
    f"t = 0.7\n{CALL}": 0.7,
    f"t = 0.6\n\nt = 0.7\n{CALL}": None,
    f"{CALL}\nt = 0.7": None,
    # Out of a dictionary.
    "kw = {'top_k': 5, **more, 'temperature': 0.7}\ngenerate(**kw)": 0.7,
    "kw = dict(top_k=5, temperature=0.7)\ngenerate(x, **kw)": 0.7,
    "generate(**{'top_k': 5}, **{'temperature': 0.7})": 0.7,
    "kw = {'top_k': 5}\ngenerate(**kw)": None,
    "kw = other(temperature=0.7)\ngenerate(**kw)": None,
    "kw = {temperature: 0.7}\ngenerate(**kw)": None,
    "kw = {'temperature': 0.7}\ngenerate(temperature=kw['temperature'])": 0.7,
    "kw = dict(t=0.7, k=0.5)\ngenerate(temperature=kw['t'])": 0.7,
    "kw = {'t': 0.7}\ngenerate(temperature=kw['k'])": None,
    "kw = {'t': 0.7}\ngenerate(temperature=kw[t])": None,
    # Out of a record of settings.
    "config = GenerationConfig(temperature=0.7)\ngenerate(x, generation_config=config)": 0.7,
    "generate(x, sampling_params=SamplingParams(top_k=5, temperature=0.7))": 0.7,
    "generate(x, sampling_params=SamplingParams(top_k=5))": None,
    "generate(x, generation_config=config)": None,
    "generate(x, config=SamplingParams(temperature=0.7))": None,
    # Guarded, and chosen.
    "t = 0.7\ngenerate(temperature=max(1e-6, t))": 0.7,
    "generate(temperature=float(0.7))": 0.7,
    "generate(temperature=max(1e-6, f(x)))": None,
    "generate(temperature=max())": None,
    "generate(temperature=0.7 if sample else None)": 0.7,
    "generate(temperature=None if greedy else 0.7)": 0.7,
    "generate(temperature=0.7 if sample else 0.2)": None,
    # A parameter.
    f"def step(t=0.7):\n    {CALL}": 0.7,
    f"def step(x, y=0.1, t=0.7):\n    {CALL}": 0.7,
    f"def step(x, t=0.7, /, z=3):\n    {CALL}": 0.7,
    f"def step(x, *, y=0.1, t=0.7):\n    {CALL}": 0.7,
    f"T = 0.7\ndef step(x, t=T):\n    {CALL}": 0.7,
    f"def step(t, x=0.7):\n    {CALL}": None,
    f"def step(t=0.7):\n    {CALL}\nstep(0.5)\nstep(t=0.5)": 0.5,
    f"def step(t=0.7):\n    {CALL}\nstep(0.5)\nstep(0.6)": None,
    f"def step(t=0.7):\n    {CALL}\nstep(0.5)\nstep(f(x))": None,
    f"def step(t=0.7):\n    {CALL}\nstep(0.5)\nstep()": 0.7,
    f"def step(t=0.7):\n    {CALL}\nother.step(0.5)": 0.7,
    f"def step(t):\n    {CALL}\ndef loop(T):\n    step(T)\nloop(0.7)": 0.7,
    f"def step(t):\n    {CALL}\n    step(t)": None,
    "def step(t):\n    s = t\n    generate(temperature=s)\n    step(s)": None,
    f"class A:\n    def step(self, t):\n        {CALL}\n    def run(self):\n        self.step(0.7)": 0.7,
    f"run = lambda t=0.7: {CALL}": 0.7,
    # A field.
    f"{OF_ALL}generate(temperature=config.t)": 0.7,
    f"{OF_ALL}Config(t=0.5)\ngenerate(temperature=config.t)": 0.5,
    f"{OF_ALL}Config(t=0.5)\nConfig(t=0.6)\ngenerate(temperature=config.t)": None,
    f"{OF_ALL}config = Config()\nconfig.t = 0.4\ngenerate(temperature=config.t)": 0.4,
    f"{OF_ALL}make(t=0.5)\ngenerate(temperature=config.t)": 0.7,
    f"{OF_ALL}Copy(t=config.t)\ngenerate(temperature=config.t)": 0.7,
    f"{OF_ALL}T = 0.5\nConfig(t=T)\ngenerate(temperature=config.t)": 0.5,
    "class Config:\n    t = 0.7\ngenerate(temperature=self.t)": 0.7,
    "class A:\n    def __init__(self, t=0.7):\n        self.t = t\n    def run(self):\n        generate(temperature=self.t)": 0.7,
    "class Config:\n    t: float\ngenerate(temperature=config.t)": None,
    "t = 0.7\ngenerate(temperature=config.t)": None,
    "One(a=0.7)\nTwo(b=one.a)\nThree(c=two.b)\ngenerate(temperature=three.c)": 0.7,
    "One(a=one.b)\nTwo(b=two.a)\ngenerate(temperature=one.a)": None,
}


@pytest.mark.parametrize("source", SETTINGS)
def test_a_setting_is_followed_to_its_number(source):
    """Catches a temperature that is overlooked, or one of two that is taken for both."""
    assert temperature(source) == SETTINGS[source]


def test_a_setting_is_followed_from_cell_to_cell():
    """Catches a number of an earlier try in place of the last."""
    assert temperature("T = 0.7", "t = T", "def step(x, t):\n    generate(temperature=t)", "step(0, t)") == 0.7
    assert temperature("T = 0.5", "T = 0.7", "generate(temperature=T)") == 0.7


def test_a_chain_of_any_length_gives_up():
    """Catches a checker that does not come back from settings that refer to each other."""
    names = [f"def f{n}(t):\n    f{n + 1}(t)" for n in range(30)]
    assert temperature(*names, "def f30(t):\n    generate(temperature=t)", "f0(0.7)") is None
    assert temperature(*names[-2:], "def f30(t):\n    generate(temperature=t)", "f28(0.7)") == 0.7


def test_a_function_that_was_entered_by_a_call_has_what_that_call_passes():
    """Catches the settings of another call, and those of the function in place of its caller's."""
    code = read_code(
        notebook(
            "def draw(x, t=0.9):\n    generate(temperature=t)\n"
            "def step(t):\n    draw(x, t)\n    draw(x)\n    draw(x, t=0.3)\nstep(0.5)\nstep(0.6)"
        )
    )
    [(_, call)] = code.calls("generate")
    node = given(code, call, "temperature")
    outer = [Frame(code.functions["step"], entered, Frame(None)) for _, entered in code.calls("step")]
    draws = [drawn for _, drawn in code.calls("draw")]
    found = [[value(code, node, Frame(code.functions["draw"], draw, frame)) for draw in draws] for frame in outer]
    assert found == [[0.5, 0.9, 0.3], [0.6, 0.9, 0.3]]


def test_a_default_is_that_of_its_parameter():
    code = read_code(notebook("def f(a, b, c=1, d=2, *, e, g=3): pass"))
    function = code.functions["f"]
    assert isinstance(function, ast.FunctionDef)
    assert [default(code, function, name) for name in "abcdeg"] == [None, None, 1, 2, None, 3]
