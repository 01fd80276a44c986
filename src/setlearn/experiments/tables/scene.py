"""SCENE: what is in a photograph."""

from setlearn.experiments.tables.benchmark import benchmark_table

__all__ = ["SCENE"]

SCENE = benchmark_table(
    "scene",
    about="2407 photographs with 294 features; 6 scenes, 1.07 a photograph on average.",
    multi_label=0.455,
    ssg_rnn=0.378,
    ssg_cnn=0.605,
)
