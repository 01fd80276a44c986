"""What people see before anything runs: help, completion, and mistakes in the arguments."""

import re
import subprocess
import sys
from dataclasses import fields
from typing import get_type_hints

import pytest

from setlearn.cli import model_options, part_names
from setlearn.cli.app import VERBS
from setlearn.cli.named_rules import rules_by_name
from setlearn.estimators.scorer_names import scorer_names
from setlearn.features import KINDS
from setlearn.files import FORMATS
from setlearn.learners import learner_names
from tests.cli.running import run, run_process


def test_help_tells_of_all_verbs_in_whole_lines():
    shown = run("--help").out
    told = shown[shown.index("Commands:") : shown.index("Exit codes:")].strip().splitlines()[1:]
    assert {line.split()[0] for line in told}.issuperset(VERBS)
    assert all(line.endswith(".") and not line.endswith("...") for line in told)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb):
    ended = run(verb, "--help")
    assert ended.code == 0
    assert "<list" not in ended.out
    assert "<str>" not in ended.out.partition("Options:")[2]
    assert "--debug" in ended.out
    # Options are small letters; typer takes a metavar that is the name in capitals for the option.
    assert not re.search("--[A-Z]", ended.out)


def test_every_guess_of_fit_can_be_overruled():
    shown = run("fit", "--help").out
    overrule = ("--target", "--input", "--kind", "--task", "--separator", "--text", "--tokens")
    for option in (*overrule, "--learner", "--network", "--rule", "--format", "--delimiter"):
        assert option in shown


class TestNamesOfParts:
    """They are read from the source, and must be the names that the packages themselves offer."""

    def test_rules(self):
        assert part_names.rule_names() == list(rules_by_name())

    def test_learners_and_networks(self):
        assert part_names.learner_names() == learner_names()
        assert part_names.network_names() == scorer_names()

    def test_formats(self):
        assert part_names.format_names() == list(FORMATS)

    @pytest.mark.parametrize(
        ("verb", "placeholder"),
        [
            ("fit", "formats"),
            ("fit", "learners"),
            ("fit", "networks"),
            ("fit", "rules"),
            ("predict", "formats"),
        ],
    )
    def test_help_lists_them(self, verb, placeholder):
        shown = " ".join(re.sub(r"-\n +", "-", run(verb, "--help").out).split())
        assert part_names.fill_in_names(f"{{{placeholder}}}") in shown
        assert f"{{{placeholder}}}" not in shown

    def test_kinds_of_columns(self):
        shown = " ".join(run("fit", "--help").out.split())
        assert f"{', '.join(KINDS[:-1])} or {KINDS[-1]}" in shown


@pytest.mark.parametrize("group", model_options.TaskOptions.__subclasses__())
def test_options_for_one_task_say_so(group):
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        [option] = hints[field.name].__metadata__
        assert option.help.startswith(f"For {group.task}: "), field.name


@pytest.mark.parametrize("verb", [*VERBS, ""])
def test_help_imports_nothing_slow(verb):
    code = (
        f"import sys; sys.argv = ['setlearn', *'{verb}'.split(), '--help']\n"
        "from setlearn.cli import main\n"
        "try: main()\n"
        "except SystemExit as ending: code = ending.code\n"
        "slow = {'torch', 'sklearn', 'scipy', 'numpy', 'pandas', 'matplotlib', 'pyarrow', 'arff'}\n"
        "print(code, sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "0 []"


def test_version():
    assert run("--version").out.startswith("setlearn ")


def test_the_shell_completes_verbs_and_options():
    def completed(*words):
        asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        return run_process(_SETLEARN_COMPLETE="complete_bash", **asked).out.split()

    assert completed("setlearn", "pre") == ["predict"]
    assert "--validation" in completed("setlearn", "fit", "--val")
    assert completed("setlearn", "fit", "--rule", "lambda") == [
        "lambda-cnn",
        "lambda-rnn",
        "lambda-set",
    ]
    assert completed("setlearn", "fit", "--network", "l") == ["lstm"]
    assert completed("setlearn", "fit", "--learner", "lo") == ["logistic"]
    assert completed("setlearn", "predict", "--format", "js") == ["jsonl", "json"]


def test_a_verb_imports_no_other():
    code = (
        "import sys; sys.argv = ['setlearn', 'doctor']\n"
        "from setlearn.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "from setlearn.cli.app import VERBS\n"
        "print([verb for verb in VERBS if f'setlearn.cli.{verb}' in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "['doctor']"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Usage: setlearn"),
        (("pre",), "No such command 'pre'. Did you mean 'predict'?"),
        (("fit",), "Missing argument 'DATA'"),
        (("fit", "x.csv", "--fast"), "--fast"),
        (("fit", "x.csv", "--validation", "0.95"), "--validation"),
        (("fit", "x.csv", "--task", "numbers"), "--task"),
        (("trace", "model"), "pass either a file or --text"),
    ],
)
def test_a_mistake_in_the_arguments(arguments, message):
    ended = run(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert message in ended.err


def test_a_mistake_in_the_arguments_as_json():
    ended = run("predict", "model", "--json")
    assert ended.code == 2
    assert ended.document["error"]["code"] == 2
    assert "DATA" in ended.document["error"]["message"]
    assert "DATA" in ended.err
