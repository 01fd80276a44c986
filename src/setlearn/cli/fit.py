"""``setlearn fit``: from a file of examples to a model."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from setlearn.cli.options import Data, Reading, Talking
from setlearn.cli.saying import say, say_bad_rows

if TYPE_CHECKING:
    from setlearn.datasets.files import Row

__all__ = ["fit"]


class Task(Enum):
    """What the elements of the sets are."""

    labels = "labels"
    sequences = "sequences"


class Text(Enum):
    """How texts become features."""

    tfidf = "tfidf"
    words = "words"
    chars = "chars"


class Network(Enum):
    """Which network scores sequences."""

    transformer = "transformer"
    lstm = "lstm"


def fit(
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the model.")
    ] = Path("model"),
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the sets; given again or as a pattern such as 'tag_*': one "
            "column a label. [one that is called labels, tags or y]",
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            help="A column to predict from; may be given again. [all but the target]",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="How to read a column, as in --kind zip=category: number, category, text, "
            "vector, bag, tokens or ignored; may be given again. [by its values]",
        ),
    ] = None,
    task: Annotated[
        Task | None, typer.Option(help="What the elements are. [by how often they repeat]")
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Between the elements in a cell; '' for one element a cell. [by the data]",
        ),
    ] = None,
    text: Annotated[
        Text | None,
        typer.Option(help="For labels: how texts become features. [by the spaces in them]"),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="For sequences: char or word, or a pair for inputs and elements such as "
            "char,word. [by the spaces in them]",
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For labels: mixture, logistic, forest, neighbours or network. [mixture]",
        ),
    ] = None,
    network: Annotated[
        Network | None,
        typer.Option(help="For sequences: what scores them. [transformer]"),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:SETTINGS]",
            help="Which elements to keep: margin, threshold, expected-f, lambda-cnn, ...; with "
            "settings as in threshold:cut=0.4. [what suits the model]",
        ),
    ] = None,
    conditional: Annotated[
        bool, typer.Option("--conditional", help="For labels: learn also for complete.")
    ] = False,
    max_steps: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="For sequences: batches to train on. [by the data]"
        ),
    ] = None,
    validation: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.9,
            metavar="SHARE",
            help="Of the rows: to hold out, and to judge the model by.",
        ),
    ] = 0.0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="For sequences: for the state of training. [OUT.checkpoint]"
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="For sequences: go on with a fit that was interrupted."),
    ] = False,
    examples: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="Inputs of so many rows are kept in the model, to try it."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="For all that is random.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="For labels: folds fitted at once.")
    ] = 1,
    *,
    reading: Reading,
    talking: Talking,
) -> None:
    """Learn from a file of examples, and write a model.

    What is not given is guessed from the data, and said.
    """
    import json

    from setlearn.cli.choices import default_notes, kinds_named, model_for, tokens_named
    from setlearn.cli.fitting import Job, fit_and_save
    from setlearn.cli.usable_rows import usable_rows
    from setlearn.records import plan_records

    with reading.open(data) as rows:
        records: Sequence[Row] = list(rows)
    target = target or ([rows.target] if rows.target else None)
    if reading.skip_bad:
        records = usable_rows(rows, records, target)
    say(rows.notes, quiet=talking.quiet)
    say_bad_rows(rows)
    plan = plan_records(
        records,
        target=target,
        inputs=inputs,
        kinds={**dict.fromkeys(rows.categories, "category"), **kinds_named(kind or [])},
        separator=separator,
        task=None if task is None else task.value,
        text=None if text is None else text.value,
        tokens=tokens_named(tokens),
    )
    net = None if network is None else network.value
    guesses = [*plan.notes, *default_notes(plan, learner, net)]
    say(guesses, quiet=talking.quiet)
    model = model_for(
        plan,
        learner=learner,
        network=net,
        rule=rule,
        conditional=conditional,
        max_steps=max_steps,
        seed=seed,
        jobs=jobs,
        verbose=not talking.quiet,
    )
    job = Job(
        plan=plan,
        records=records,
        model=model,
        out=out,
        validation=validation,
        seed=seed,
        checkpoint=checkpoint,
        resume=resume,
        n_examples=examples,
    )
    told = fit_and_save(job, data, [*rows.notes, *guesses])
    document = {**told.to_dict(), "left_out": rows.n_bad, "bad_rows": rows.bad}
    typer.echo(json.dumps(document) if talking.as_json else str(told))
