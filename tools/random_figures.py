"""From results of relayout_bench --suite random, and of bench/peers/random_peers.py, to the figures of docs/random.json.

Whatever is not a fair comparison is refused, with one sentence: failed problems, two machines or commits, a problem twice,
a family left out.
"""
import json
import math
import pathlib

FAMILIES = ("permute", "slice", "cast", "binary", "unary", "depthwise", "img2col", "pad", "quantized")
NOTES = [
    "Shares are of the speed of a copy of as many bytes. Each list has the percentiles 0 to 100, by nearest rank.",
    "relayout: all problems of the family. both: the problems that PyTorch does, of those that it was given.",
    "PyTorch's share of a problem is the time of relayout's copy over PyTorch's time.",
    "geometric: the geometric mean of PyTorch's time over relayout's. faster_by_3, faster_by_15: problems that PyTorch does "
    "faster by more than so many percent.",
]


def require(holds, sentence):
    if not holds:
        raise ValueError(sentence)


def percentiles(values):
    """0 to 100, by nearest rank, as relayout_bench prints them. 3 digits are more than a second run repeats."""
    ordered = sorted(values)
    return [round(ordered[max(-(-percent * len(ordered) // 100), 1) - 1], 3) for percent in range(101)]


def read(paths):
    return [(path, json.loads(pathlib.Path(path).read_text(encoding="utf-8"))) for path in paths]


def origin(path, document):
    require(document.get("suite") == "random", f"{path} is no result of relayout_bench --suite random")
    return {"machine": document["device"]["name"], "driver": document["device"]["driver"], "commit": document["commit"],
            "generator": document["generator"]}


def problems_of(documents):
    """{line of the table: problem}. The line says all of a problem, its name does not say the range of sizes."""
    problems = {}
    for path, document in documents:
        for problem in document["problems"]:
            require(problem["csv"] not in problems, f"{path} has {problem['name']}, which an earlier file or line has, too")
            problems[problem["csv"]] = problem
    return problems


def beside(given, timed):
    """given: problems that PyTorch was given; timed: (relayout's problem, PyTorch's microseconds) of those that it does."""
    if not timed:
        return {"given": given, "problems": 0}
    speeds = [microseconds / ours["microseconds"] for ours, microseconds in timed]
    return {"given": given, "problems": len(timed),
            "geometric": round(math.exp(sum(map(math.log, speeds)) / len(speeds)), 3),
            "faster_by_3": sum(speed * 1.03 < 1 for speed in speeds),
            "faster_by_15": sum(speed * 1.15 < 1 for speed in speeds),
            "relayout": percentiles(ours["share_of_copy"] for ours, _ in timed),
            "pytorch": percentiles(ours["copy_microseconds"] / microseconds for ours, microseconds in timed)}


def collect(result_paths, peer_paths, command):
    """What docs/random.json says."""
    results, peers = read(result_paths), read(peer_paths)
    about = origin(*results[0])
    for path, document in results:
        require(origin(path, document) == about, f"{path} is of another machine, driver, commit or generator than {result_paths[0]}")
    versions = {document["versions"]["torch"] for _, document in peers}
    require(len(versions) <= 1, "the files of the peers are of several versions of PyTorch")
    for path, document in peers:
        theirs = origin(path, document["relayout"])
        require(dict(theirs, commit=about["commit"]) == about, f"{path} is of another machine, driver or generator")
    ours, theirs = problems_of(results), problems_of(peers)
    for problem in ours.values():
        require("error" not in problem, f"{problem['name']} failed: {problem.get('error')}")
    for csv, problem in theirs.items():
        require(csv in ours, f"no result has the peers' {problem['name']}: {csv}")

    families = []
    for family in FAMILIES:
        of_family = {csv: problem for csv, problem in ours.items() if problem["family"] == family}
        require(of_family, f"no result has the family {family}")
        given = [csv for csv in of_family if csv in theirs]
        times = ((of_family[csv], theirs[csv]["peers"]["torch"].get("microseconds")) for csv in given)
        families.append({"family": family, "problems": len(of_family),
                         "relayout": percentiles(problem["share_of_copy"] for problem in of_family.values()),
                         "both": beside(len(given), [(problem, time) for problem, time in times if time])})
    megabytes = [problem["bytes"] / 1e6 for problem in ours.values()]
    return {"notes": NOTES, **about, "date": max(document["date"] for _, document in results)[:10],
            "pytorch": min(versions, default=""), "seeds": sorted({int(csv.split(",")[1]) for csv in ours}),
            "megabytes": [float(f"{size:.3g}") for size in (min(megabytes), max(megabytes))],
            "command": command, "families": families}
