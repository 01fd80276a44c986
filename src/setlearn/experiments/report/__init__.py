"""Reports from ``results.json`` alone: Markdown, and one self-contained page of HTML."""

from setlearn.experiments.report.files import write_report
from setlearn.experiments.report.markdown import readme_table, tables_as_text

__all__ = ["readme_table", "tables_as_text", "write_report"]
