"""The problems of relayout_bench --suite random, read from its JSON or its CSV, and what a comparison says of them."""

import json
import math

SIZES = {"bool": 1, "u8": 1, "i8": 1, "e4m3fn": 1, "e5m2": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4,
         "f32": 4, "tf32": 4, "u64": 8, "i64": 8, "f64": 8, "b128": 16}
HEADER = "generator,seed,index,family,function,inputs,out,options"
MARGIN = 1.03  # a peer counts as faster from here on


class NoRoute(Exception):
    """Why a peer does not do a problem."""


def numbers(text):
    return [int(number) for number in text.split("x")]


def tensor_of(text):
    """Of "f32 4x1000 @3 1000x1"."""
    name, shape, offset, strides = text.split(" ")
    return {"type": name, "shape": numbers(shape), "strides": numbers(strides), "offset": int(offset[1:])}


def problem_of(line):
    _, seed, index, family, function, inputs, out, options = line.split(",")
    return {"name": f"{family}-{seed}-{index}", "csv": line, "family": family, "function": function,
            "inputs": [tensor_of(text) for text in inputs.split("|")], "out": tensor_of(out),
            "options": dict(option.split("=") for option in options.split())}


def load(path):
    """(the problems, with "microseconds" where relayout timed them; what the file says of the run)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.startswith("{"):
        document = json.loads(text)
        return document["problems"], {key: value for key, value in document.items() if key not in ("problems", "percentiles")}
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if not lines or lines[0] != HEADER:
        raise ValueError(f"{path} is neither JSON nor a table that begins with {HEADER}")
    return [problem_of(line) for line in lines[1:]], {}


def fastest_of(runs):
    """The problems of the first run, each with relayout's fastest sample of all runs of the same problems."""
    fastest = {}
    for problem in (problem for run in runs for problem in run):
        sample = problem.get("fastest_microseconds")
        if sample:
            fastest[problem["csv"]] = min(sample, fastest.get(problem["csv"], sample))
    return [dict(problem, microseconds=fastest[problem["csv"]]) if problem["csv"] in fastest else problem for problem in runs[0]]


def footprint(tensor):
    """Elements of memory from the aligned address to the tensor's end."""
    return tensor["offset"] + 1 + sum((extent - 1) * stride for extent, stride in zip(tensor["shape"], tensor["strides"]))


def bytes_of(problem):
    """Every element once; a repeated one counts once."""
    def elements(tensor):
        return math.prod(extent for extent, stride in zip(tensor["shape"], tensor["strides"]) if stride)
    return sum(elements(tensor) * SIZES[tensor["type"]] for tensor in problem["inputs"] + [problem["out"]])


def memory_order(tensor):
    """(extents as they lie in memory, the view's axes among them), or None for a tensor with gaps or repeated axes."""
    order = sorted(range(len(tensor["shape"])), key=lambda axis: (-tensor["strides"][axis], -tensor["shape"][axis]))
    reach = 1
    for axis in reversed(order):
        if tensor["shape"][axis] != 1 and tensor["strides"][axis] != reach:
            return None
        reach *= tensor["shape"][axis]
    return [tensor["shape"][axis] for axis in order], [order.index(axis) for axis in range(len(order))]


def summary(rows, peer, worst=10):
    """Of each family: problems that both timed, geometric mean of the peer's time / relayout's, how many the peer does
    faster, and the worst of these."""
    families = {}
    for row in rows:
        if row["peers"].get(peer, {}).get("microseconds") and row.get("microseconds"):
            families.setdefault(row["family"], []).append((row["peers"][peer]["microseconds"] / row["microseconds"], row))
    table = []
    for family, found in families.items():
        found.sort(key=lambda pair: pair[0])
        faster = [(speed, row) for speed, row in found if speed * MARGIN < 1]
        table.append({"family": family, "problems": len(found), "peer_faster": len(faster),
                      "geometric_speed_up": math.exp(sum(math.log(speed) for speed, _ in found) / len(found)),
                      "worst": [{"speed_up": speed, "csv": row["csv"]} for speed, row in faster[:worst]]})
    return table
