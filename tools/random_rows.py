"""The lines of docs/benchmarks.md that follow from docs/random.json: where the figures come from, and a row for each family."""
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parent.parent
HEAD = ["| family | problems | p1 | p5 | p25 | p50 | PyTorch: problems | its time / relayout's, geometric mean | faster by 3 % | by 15 % |",
        "|---|---|---|---|---|---|---|---|---|---|"]
DOCUMENT = "docs/benchmarks.md"


def listed(words):
    words = [str(word) for word in words]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def source(data):
    """Where the figures come from, in two parts: the machine and the versions; the problems."""
    beside = f', beside PyTorch {data["pytorch"]}' if data["pytorch"] else ""
    return (f'{data["machine"]} ({data["driver"]}), relayout at commit {data["commit"]}{beside}, {data["date"]}',
            f'{"seeds" if len(data["seeds"]) > 1 else "seed"} {listed(data["seeds"])}, '
            f'problems of {data["megabytes"][0]:g} to {data["megabytes"][1]:g} MB')


def repeated(data):
    """What the command leaves out."""
    return ", and so for each seed" if len(data["seeds"]) > 1 else ""


def row(family):
    both = family["both"]
    if both["problems"]:
        beside = [f'{both["problems"]} of {both["given"]}', f'{both["geometric"]:.2f}', both["faster_by_3"], both["faster_by_15"]]
    else:
        beside = ["not timed" if both["given"] == 0 else f'0 of {both["given"]}', "", "", ""]
    cells = [f'`{family["family"]}`', family["problems"]] + [f'{family["relayout"][p]:.3f}' for p in (1, 5, 25, 50)] + beside
    return " ".join(f"| {cell}" if cell != "" else "|" for cell in cells) + " |"


def lines_of(data):
    """{what a line is: the line}"""
    machine, problems = source(data)
    about = {"machine": machine + ";", "problems": problems + ":", "command": f'`{data["command"]}`{repeated(data)}.'}
    return {**about, **{family["family"]: row(family) for family in data["families"]}}


def missing(data):
    """The lines that the document lacks."""
    present = (PROJECT / DOCUMENT).read_text(encoding="utf-8").splitlines()
    return [line for line in lines_of(data).values() if line not in present]


def renew(old, new):
    """Puts the lines of the new figures where those of the old ones stand. Returns those that have no place."""
    lines = lines_of(new)
    replaced = {line: lines[name] for name, line in lines_of(old).items()}
    path = PROJECT / DOCUMENT
    text = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(replaced.get(line, line) for line in text) + "\n", encoding="utf-8")
    return missing(new)
