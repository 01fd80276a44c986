"""The paper's four experiments, one file each, and what lies beyond them."""

from setlearn.experiments.tables.beyond import (
    PARTS,
    SCENE_DEFAULT,
    TASK1_DEFAULT,
    TASK2_DEFAULT,
    YEAST_DEFAULT,
)
from setlearn.experiments.tables.scene import SCENE
from setlearn.experiments.tables.task1 import TASK1
from setlearn.experiments.tables.task2 import TASK2
from setlearn.experiments.tables.yeast import YEAST

__all__ = ["PAPER", "TABLES"]

PAPER = (YEAST, SCENE, TASK1, TASK2)
BEYOND = (YEAST_DEFAULT, SCENE_DEFAULT, TASK1_DEFAULT, TASK2_DEFAULT, PARTS)
TABLES = {table.name: table for table in (*PAPER, *BEYOND)}
