"""The paper's experiments as data, the runner that keeps finished cells, and the report.

A *table* says which data, scorers, rules and yardsticks it compares (`tables`). A *cell* is one
table on one split: it trains each scorer once and answers under every rule (`cell`). The runner
gives each missing cell a process of its own (`runner`) and keeps what it found on disk
(`store`); the report is made from finished cells alone (`summary`, `report`).
"""
