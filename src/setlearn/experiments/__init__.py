"""The experiments behind every published figure, from the data to the report.

A *table* lists the data, scorers, rules and yardsticks that it compares (`tables`). A scorer is a
public class such as `SetClassifier`, not yet fitted. A *cell* is one table on one split: it fits
each scorer once and predicts under every rule (`cell`). The runner gives each missing cell a
process of its own (`runner`) and keeps the results on disk (`store`). The report is made from
finished cells only (`summary`, `report`).
"""
