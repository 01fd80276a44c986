"""The paper's four experiments, and the library's defaults on the same data."""

from setlearn.experiments.tables.benchmarks import SCENE, YEAST
from setlearn.experiments.tables.defaults import (
    PARTS,
    SCENE_DEFAULT,
    TASK1_DEFAULT,
    TASK2_DEFAULT,
    YEAST_DEFAULT,
)
from setlearn.experiments.tables.tasks import TASK1, TASK2

__all__ = ["PAPER", "TABLES"]

PAPER = (YEAST, SCENE, TASK1, TASK2)
DEFAULTS = (YEAST_DEFAULT, SCENE_DEFAULT, TASK1_DEFAULT, TASK2_DEFAULT, PARTS)
TABLES = {table.name: table for table in (*PAPER, *DEFAULTS)}
