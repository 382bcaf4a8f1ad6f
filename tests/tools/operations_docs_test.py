"""docs/operations.md names every operation of relayout/operations.def once, under its number of operands and with what
it takes; and no other."""
import re
import sys

HEADINGS = {1: "One operand", 2: "Two operands", 3: "Three operands"}
TAKES = {"arithmetic": "numbers", "floating": "floating", "bits": "bits", "shift": "integers", "relational": "compared",
         "predicate": "compared, in a floating type", "logical": "truth", "select": "a: truth"}


def listed(definitions):
    """{name: (operands, kind)}"""
    found = re.findall(r"^RELAYOUT_OPERATION\((\w+), (\d), (\w+), \w+, \".*\"\)$", definitions, re.M)
    return {name: (int(operands), kind) for name, operands, kind in found}


def documented(page):
    """[(name, heading, takes)] of the tables below the headings."""
    rows = []
    heading = ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if heading in HEADINGS.values() and line.startswith("| `"):
            rows += [(name, heading, cells[1]) for name in re.findall(r"`(\w+)`", cells[0])]
    return rows


def main():
    definitions, page = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
    operations, rows = listed(definitions), documented(page)
    wrong = [f"{name} is no operation" for name, _, _ in rows if name not in operations]
    for name, (operands, kind) in operations.items():
        places = [(heading, takes) for row, heading, takes in rows if row == name]
        if len(places) != 1:
            wrong.append(f"{name} has {len(places)} rows")
        elif places[0][0] != HEADINGS[operands] or not places[0][1].startswith(TAKES[kind]):
            wrong.append(f"{name} ({operands} operands, {kind}) stands under '{places[0][0]}', '{places[0][1]}'")
    if not operations or wrong:
        sys.exit("\n".join(wrong) or "no operations")


if __name__ == "__main__":
    main()
