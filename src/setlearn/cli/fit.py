"""``setlearn fit``: from a file of examples to a model."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from setlearn.cli.options import Data, Reading, Talking
from setlearn.cli.saying import say, say_bad_rows

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
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")] = Path("model"),
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="The column with the sets; given again or as a pattern such as 'tag_*': one "
            "column a label. [one that is called labels, tags or y]"
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", help="A column to predict from; may be given again. [all but the target]"
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="How to read a column, as in --kind zip=category: number, category, text, "
            "vector, bag, tokens or ignored; may be given again. [by its values]"
        ),
    ] = None,
    task: Annotated[
        Task | None, typer.Option(help="What the elements are. [by how often they repeat]")
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="Between the elements in a cell; '' for one element a cell. [by the data]"
        ),
    ] = None,
    text: Annotated[
        Text | None, typer.Option(help="For labels: how texts become features. [tfidf]")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="For sequences: char or word, or a pair for inputs and elements such as "
            "char,word. [by the spaces in them]"
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="For labels: mixture, logistic, forest, neighbours or network. [mixture]"
        ),
    ] = None,
    network: Annotated[Network | None, typer.Option(help="For sequences. [transformer]")] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Which elements to keep: margin, threshold, expected-f, lambda-cnn, ...; with "
            "settings as in threshold:cut=0.4. [what suits the model]"
        ),
    ] = None,
    conditional: Annotated[
        bool, typer.Option("--conditional", help="For labels: learn also for complete.")
    ] = False,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="For sequences: batches to train on. [by the data]")
    ] = None,
    validation: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="Share of the rows to hold out and to judge the model by."
        ),
    ] = 0.0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="For sequences: folder for the state of training. [OUT.checkpoint]"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a fit that was interrupted.")
    ] = False,
    examples: Annotated[
        int, typer.Option(min=0, help="Inputs of so many rows are kept in the model, to try it.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="For all that is random.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Folds fitted at once, for labels.")] = 1,
    *,
    reading: Reading,
    talking: Talking,
) -> None:
    """Learn from a file of examples, and write a model.

    What is not given is guessed from the data, and said.
    """
    import json

    from setlearn.cli.choices import kinds_named, model_for, tokens_named
    from setlearn.cli.fitting import Job, fit_and_save
    from setlearn.records import plan_records

    with reading.open(data) as rows:
        records = list(rows)
    say(rows.notes, quiet=talking.quiet)
    say_bad_rows(rows)
    plan = plan_records(
        records,
        target=target or rows.target,
        inputs=inputs,
        kinds={**dict.fromkeys(rows.categories, "category"), **kinds_named(kind or [])},
        separator=separator,
        task=None if task is None else task.value,
        text=None if text is None else text.value,
        tokens=tokens_named(tokens),
    )
    say(plan.notes, quiet=talking.quiet)
    model = model_for(
        plan,
        learner=learner,
        network=None if network is None else network.value,
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
    told = fit_and_save(job, data, [*rows.notes, *plan.notes])
    if talking.as_json:
        typer.echo(json.dumps(told.to_dict()))
    else:
        typer.echo(str(told))
