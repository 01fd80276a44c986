"""The paper's four experiments, one file each."""

from setlearn.experiments.tables.scene import SCENE
from setlearn.experiments.tables.task1 import TASK1
from setlearn.experiments.tables.task2 import TASK2
from setlearn.experiments.tables.yeast import YEAST

__all__ = ["TABLES"]

TABLES = {table.name: table for table in (YEAST, SCENE, TASK1, TASK2)}
