#!/usr/bin/env python3
"""figures.py [--check] - puts the figures of bench/results into README.md and docs/performance.md.

In a page, a block with figures follows the lines that it is made from:

    <!-- figures engine_h200.md
    | `saxpy` | {saxpy, resident > quern} TB/s | {saxpy, resident > torch} TB/s |
    -->
    | `saxpy` | 4.34 TB/s | 4.21 TB/s |

Text in braces is a figure of that file of bench/results; "{other.md: ...}" names another file. The rest
of a line is printed unchanged. A figure is one of

    {row > column}           the first number of that cell; "column #2": the second column of that name
    {row > word}             if there is no such column: the number after that word of the row
    {section / row > column} the table below the heading that starts with `section`
    {=pattern}               the text that the group of a regular expression matches in the file

A row is given by the start of its first cell, or of several cells, separated by semicolons. A number
is printed unchanged unless it is followed by "* 8" (times eight), ": 2" (digits after the point) or
": ," (blanks between thousands).

--check writes nothing and fails if anything would change.
"""

import re
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/performance.md")

BLOCK = re.compile(r"<!-- figures (\S+)\n(.*?)\n-->\n(.*?)(?=\n\n|\n?\Z)", re.S)
FIGURE = re.compile(r"\{(?:(\w+\.\w+): )?([^{}]+)\}")
ENDING = re.compile(r"(?: \* (\d+))?(?: : ?(\d*)(,?))?$")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Wrong(Exception):
    """A figure is missing in its file."""


def cells_of(line):
    """The cells of a table line, separated by bars or by two blanks."""
    if line.startswith("|"):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    return re.split(r"  +", line.strip())


def is_rule(cells):
    return all(re.fullmatch(r":?-+:?", cell) for cell in cells)


def tables_of(text):
    """(heading, header, rows) of every table, in Markdown or aligned with blanks."""
    heading, header, rows = "", None, []
    for line in [*text.splitlines(), ""]:
        cells = cells_of(line)
        if header is not None and len(cells) == len(header):
            if not is_rule(cells):
                rows.append(cells)
            continue
        if header is not None and rows:
            yield heading, header, rows
        header, rows = None, []
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif len(cells) > 1:
            header = cells


def starts(row, keys):
    """Whether the first cells of a row start with the keys."""
    return len(keys) <= len(row) and all(cell.startswith(key) for cell, key in zip(row, keys))


def number_in(row, header, column):
    """The first number of a column, or the one after a word of the row."""
    column, _, which = column.partition(" #")
    named = [cell for name, cell in zip(header, row) if name.startswith(column)]
    if named:
        found = NUMBER.search(named[int(which or 1) - 1])
        return found and found.group()
    found = re.search(rf"\b{re.escape(column)} ({NUMBER.pattern})", " | ".join(row))
    return found and found.group(1)


def look_up(text, where):
    section, _, rest = where.rpartition(" / ")
    keys, _, column = rest.partition(" > ")
    keys = [key.strip() for key in keys.split(";")]
    for heading, header, rows in tables_of(text):
        if not heading.startswith(section):
            continue
        for row in rows:
            number = number_in(row, header, column.strip()) if starts(row, keys) else None
            if number:
                return number
    raise Wrong("no such row and column")


def find_pattern(text, pattern):
    found = re.search(pattern, text)
    if not found:
        raise Wrong("nothing matches")
    return found.group(1)


def printed(number, times, digits, has_blanks):
    value = Decimal(number) * int(times or 1)
    if digits:
        value = value.quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP)
    return f"{value:,}".replace(",", " ") if has_blanks else f"{value}"


def figure(source, name, expression):
    ending = ENDING.search(expression)
    where = expression[:ending.start()].strip()
    try:
        text = (source / name).read_text()
        if where.startswith("="):
            number = find_pattern(text, where[1:])
        else:
            number = look_up(text, where)
        return printed(number, *ending.groups()) if ending.group() else number
    except (OSError, Wrong) as error:
        raise Wrong(f"{{{expression}}} of {name}: {error}") from None


def remade(page, source):
    """The text of a page with every block filled in from its lines."""

    def make(block):
        name, lines, _old = block.groups()
        made = FIGURE.sub(lambda f: figure(source, f.group(1) or name, f.group(2)), lines)
        return f"<!-- figures {name}\n{lines}\n-->\n{made}"

    return BLOCK.sub(make, page)


def main(words):
    is_check = "--check" in words
    root = Path(next((word for word in words if not word.startswith("-")), ROOT))
    changed = []
    for name in PAGES:
        path = root / name
        before = path.read_text()
        try:
            after = remade(before, root / "bench" / "results")
        except Wrong as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        if after != before:
            changed.append(name)
            for old, new in zip(before.splitlines(), after.splitlines()):
                if old != new:
                    print(f"{name}: {old}\n  now {new}")
            if not is_check:
                path.write_text(after)
    return 1 if is_check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
