"""The options of all commands follow the same rules."""

import argparse

import pytest
from tests.refusals import check_facts

from itersel.cli.main import make_parser
from itersel.cli.parser import RENAMED_OPTIONS
from itersel.cli.prepare_options import EXPLANATIONS, FILTERS, PREPARATION, prepare_settings
from itersel.config.data import Data


def commands(parser, name="itersel"):
    """Yield the name and the arguments of each command that has no parts."""
    parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not parts:
        yield name, parser._actions
    for action in parts:
        for part, inner in action.choices.items():
            yield from commands(inner, f"{name} {part}")


PARSER = make_parser(is_full=True)
COMMANDS = dict(commands(PARSER))
OPTIONS = [
    pytest.param(name, action, id=f"{name} {action.option_strings[0]}")
    for name, arguments in COMMANDS.items()
    for action in arguments
    if action.option_strings and action.dest != "help"
]
ACTIONS = [one.values[1] for one in OPTIONS]


@pytest.mark.parametrize(("old", "new"), RENAMED_OPTIONS.items())
def test_commands_with_the_new_name_of_an_option_refuse_the_old_one(old, new, capsys):
    options = {
        name: {string for one in arguments for string in one.option_strings}
        for name, arguments in COMMANDS.items()
    }
    having = [name for name, names in options.items() if new in names and old not in names]
    assert having
    for name in having:
        with pytest.raises(SystemExit):
            PARSER.parse_args([*name.split()[1:], old, "x"])
        check_facts(capsys.readouterr().err, old, new)


@pytest.mark.parametrize(("command", "action"), OPTIONS)
def test_several_values(command, action):
    """Options that take several values may be repeated; a later one does not replace the first."""
    if action.nargs not in (None, 0, "?"):
        assert isinstance(action, argparse._ExtendAction), "use add_files"
        # they would be taken for values of the option
        assert all(one.option_strings for one in COMMANDS[command])


@pytest.mark.parametrize(
    "action", [one for one in ACTIONS if one.metavar == "NAMES"], ids=lambda one: one.dest
)
def test_names_are_separated_by_commas(action):
    others = {"columns": ("learner", "mixing")}.get(action.dest, ("bleu", "ter"))
    known = list(getattr(action, "known", None) or others)[:2]
    assert action.type(",".join(known)) == tuple(known)
    assert isinstance(action, argparse._StoreAction)
    assert action.option_strings[0].endswith("s")


@pytest.mark.parametrize(("command", "action"), OPTIONS)
def test_singular_and_plural(command, action):
    """Two options that differ only in the plural take different things, such as a file and a folder."""
    [name] = action.option_strings
    others = [one for one in ACTIONS if f"{name}s" in one.option_strings]
    kind = (action.nargs, action.metavar)
    assert kind not in [(one.nargs, one.metavar) for one in others]


@pytest.mark.parametrize(("command", "action"), OPTIONS)
def test_a_thing_has_one_option(command, action):
    [name] = action.option_strings
    # for tokenized BLEU, as in a config
    assert name != "--retokenize" or command == "itersel bleu"
    assert name not in ("--label", "--task", "--references", "--tasks")
    for words, option in (("reference translation", "--reference"), ("label of each line", "--labels")):
        if str(action.help).startswith(words):
            assert name == option


@pytest.mark.parametrize(
    ("command", "action"), [one for one in OPTIONS if one.values[0].startswith("itersel corpus ")]
)
def test_options_for_text_have_the_names_and_defaults_of_keys(command, action):
    key = Data.__dataclass_fields__.get(action.dest)
    # a command has no languages of its own, and --cut is repeated for several splits
    if key is not None and action.dest not in ("source_language", "target_language", "cut"):
        assert action.option_strings == [f"--{'no-' * (key.default is True)}{action.dest.replace('_', '-')}"]
        if action.default != argparse.SUPPRESS:
            default = tuple(action.default) if isinstance(action.default, list) else action.default
            assert default == key.default
        # left out, the settings have the default of the key, which the help states
        elif key.default not in (None, (), False, True):
            assert f"(default: {key.default})" in str(action.help)


def test_text_is_prepared_with_the_defaults_of_keys():
    languages = ["--source-language", "de", "--target-language", "en"]
    words = ["corpus", "prepare", *languages, "--source", "a", "--target", "b", "--output", "x"]
    settings = prepare_settings(make_parser(words).parse_args(words))
    stated = {"source_language": "de", "target_language": "en"}
    for part, names in ((settings, FILTERS), (settings.preparation, PREPARATION)):
        keys = [name for name in names if name in Data.__dataclass_fields__]
        assert len(keys) > 3
        for name in keys:
            assert getattr(part, name) == stated.get(name, Data.__dataclass_fields__[name].default)


def test_corpus_prepare_explains_only_keys_that_it_has():
    """An explanation under the old name of a key would be lost without a word."""
    assert EXPLANATIONS.keys() <= {*FILTERS}
