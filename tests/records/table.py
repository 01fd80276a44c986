"""Small tables of records, as rows of a file that is not there."""

from setlearn.files import Row


def rows_of(**columns):
    """Rows from columns of values, on the lines that a CSV file would have them."""
    names = list(columns)
    lines = zip(*columns.values(), strict=True)
    return [
        Row(f"data.csv, line {number}", dict(zip(names, values, strict=True)))
        for number, values in enumerate(lines, 2)
    ]
