"""Options that are made from the configurations: none is missing, each has the type and the words of its field."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from shared.run.algorithms import ALGORITHMS
from shared.run.options import settings_of, settings_of_all, with_settings

ALL = settings_of_all([kind.config for kind in ALGORITHMS.values()])


@dataclass(frozen=True)
class Base:
    """Some settings.

    count: how many.
    share, rest: a part of the whole,
        in two lines.
    """

    count: int = 3
    share: float = 0.5
    rest: float | None = None


@dataclass(frozen=True)
class More(Base):
    """Those of `Base`, and these.

    way: which way
        it goes.
    weights: several.    quick: whether.

    Raises: nothing.
    """

    way: Literal["up", "down"] = "up"
    weights: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Undocumented(Base):
    """Says nothing of its own field."""

    secret: int = 1


def test_every_field_of_every_algorithm_is_an_option():
    """Catches a setting that can be changed in a notebook and not on the command line."""
    for kind in ALGORITHMS.values():
        assert {field.name for field in fields(kind.config)} <= ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_every_option_says_what_it_does(name):
    """Catches help that sends the reader to another file."""
    assert len(ALL[name].help) > 15 and "see `" not in ALL[name].help


def test_fields_are_read_with_type_words_and_owner():
    found = settings_of(More)
    assert list(found) == ["count", "share", "rest", "way", "weights"]
    assert found["count"].help == "how many." and found["count"].owner is Base
    assert found["share"].help == found["rest"].help == "a part of the whole, in two lines."
    assert found["rest"].kind is float and found["way"].help == "which way it goes."
    assert found["weights"].kind == tuple[float, ...] and found["weights"].owner is More


def test_a_field_without_words_is_refused():
    with pytest.raises(ValueError, match="Undocumented does not say what its field secret is"):
        settings_of(Undocumented)


def test_of_two_configurations_the_first_describes_a_common_field():
    @dataclass(frozen=True)
    class Other:
        """Another.

        count: of something else.
        last: only here.
        """

        count: int = 5
        last: bool = False

    found = settings_of_all([Base, Other])
    assert list(found) == ["count", "share", "rest", "last"] and found["count"].help == "how many."


@pytest.fixture
def called():
    """The options that a command with the settings of `More` got."""
    app = typer.Typer()
    got = []

    @app.command()
    @with_settings(settings_of(More), lambda setting: setting.owner.__name__)
    def command(name: str, loud: Annotated[bool, typer.Option("--loud")] = False, **settings):
        got.append((name, loud, settings))

    def call(*arguments: str):
        result = CliRunner().invoke(app, list(arguments))
        return result, got[-1] if got else None

    return call


def test_what_is_not_given_is_none(called):
    """Catches defaults that hide whether somebody asked for them: then a task's own settings would never apply."""
    _, got = called("dots")
    assert got == ("dots", False, dict(count=None, share=None, rest=None, way=None, weights=None))


def test_what_is_given_has_the_fields_type(called):
    _, got = called("dots", "--loud", "--count", "4", "--rest", "0.25", "--way", "down", "--weights", "1,0.5")
    assert got == ("dots", True, dict(count=4, share=None, rest=0.25, way="down", weights=(1.0, 0.5)))


@pytest.mark.parametrize(
    "wrong", [("--count", "few"), ("--way", "left"), ("--weights", "1,x"), ("--secret", "1")], ids=lambda w: w[0]
)
def test_a_mistake_is_a_sentence_and_exit_code_2(called, wrong):
    result, got = called("dots", *wrong)
    assert result.exit_code == 2 and got is None and "Error" in result.output
