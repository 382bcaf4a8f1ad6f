#!/usr/bin/env python3
"""PyTorch, and JAX where it is installed, on the problems of relayout_bench --suite random.

    relayout_bench --suite random --seed 101 --json random.json && python3 bench/peers/random_peers.py random.json

Also reads the CSV of the worst; there is then nothing of relayout's to hold the times against. Exit status: 0; 2 for bad
arguments; 3 when there is nothing here to time with.
"""

import argparse
import datetime
import json
import os
import sys

from random_problems import bytes_of, load, memory_order, summary

SPEED_UP = "peer's time / relayout's"


def time_torch(problem, torch_random, timer):
    try:
        function, storages = torch_random.route(problem)
        return {"microseconds": timer.seconds(function, storages, bytes_of(problem)) * 1e6}
    except torch_random.NoRoute as reason:
        return {"skipped": str(reason)}
    except Exception as error:  # what a version refuses must not end the others
        torch_random.torch.cuda.synchronize()
        return {"skipped": f"{type(error).__name__}: {error}".splitlines()[0]}


def jax_parameters(problem):
    """The problem in jax_routes' words, or why it has none: arrays of JAX have no gaps and are never views."""
    x, out = problem["inputs"][0], problem["out"]
    lies, result = memory_order(x), memory_order(out)
    if problem["family"] not in ("permute", "cast") or lies is None or result is None:
        return None, "only permute and cast of arrays without gaps are timed"
    shape, axes = lies
    if result[1] != sorted(result[1]):
        return None, "the output is permuted"
    types = {"in_type": x["type"], "out_type": out["type"]}
    if axes == sorted(axes):
        return {"operation": "cast", "shape": shape, "in_layout": "ncl", "out_layout": "ncl", **types}, ""
    if x["type"] != out["type"]:
        return None, "a cast with a permutation"
    return {"operation": "permute", "shape": shape, "axes": axes, **types}, ""


def time_jax(problem, jax_routes):
    parameters, reason = jax_parameters(problem)
    if parameters is None:
        return {"skipped": reason}
    for name in (parameters["in_type"], parameters["out_type"]):
        if name not in jax_routes.TYPES:
            return {"skipped": "no route for " + name}
    try:
        shapes = [(tuple(parameters["shape"]), parameters["in_type"])]
        return {"microseconds": jax_routes.seconds(parameters, shapes, bytes_of(problem)) * 1e6}
    except Exception as error:  # as above
        return {"skipped": f"{type(error).__name__}: {error}".splitlines()[0]}


def print_summary(rows, peers):
    for peer in peers:
        print(f"\n{peer}: {SPEED_UP}, geometric mean; a peer counts as faster from 3 % on")
        print(f"{'family':12} {'problems':>9} {'speed-up':>9} {'peer faster':>12}")
        table = summary(rows, peer)
        for line in table:
            print(f"{line['family']:12} {line['problems']:9} {line['geometric_speed_up']:9.2f} {line['peer_faster']:12}")
        for line in table:
            for slow in line["worst"]:
                print(f"  {slow['speed_up']:6.3f}  {slow['csv']}")
        skipped = {}
        for row in rows:
            reason = row["peers"].get(peer, {}).get("skipped")
            if reason:
                skipped[reason] = skipped.get(reason, 0) + 1
        for reason, count in sorted(skipped.items(), key=lambda pair: -pair[1]):
            print(f"  not timed: {count} problems: {reason}")


def write_json(path, about, versions, rows, peers):
    """To a file beside it first, so that a run that is cut off leaves the last whole table."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"date": date, "relayout": about, "versions": versions,
                   "summary": {peer: summary(rows, peer) for peer in peers}, "problems": rows}, file, indent=2)
    os.replace(path + ".part", path)


def optional(name):
    try:
        return __import__(name), ""
    except Exception as error:  # a broken installation fails in its own way
        return None, f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="what relayout_bench --suite random wrote by --json, or by --csv")
    parser.add_argument("--json", help="write the times and the table to this file, anew after each 100 problems")
    parser.add_argument("--family", help="only these families, separated by commas")
    parser.add_argument("--most", type=int, help="only so many problems of each family, the first")
    parser.add_argument("--no-jax", action="store_true", help="leave JAX out")
    arguments = parser.parse_args()
    try:
        problems, about = load(arguments.result)
    except (OSError, ValueError, KeyError) as error:
        parser.error(str(error))
    torch_random, no_torch = optional("torch_random")
    if not torch_random or not torch_random.torch.cuda.is_available():
        print("PyTorch with a GPU is not here" + (f" ({no_torch})" if no_torch else ""), file=sys.stderr)
        return 3
    from torch_timing import Timer
    timer = Timer()
    jax_routes, no_jax = (None, "not asked for") if arguments.no_jax else optional("jax_routes")
    if not jax_routes:
        print(f"no jax: {no_jax}")
    peers = ["torch"] + (["jax"] if jax_routes else [])
    versions = {"torch": torch_random.torch.__version__, **({"jax": jax_routes.about()["version"]} if jax_routes else {})}
    families = arguments.family.split(",") if arguments.family else None
    rows, seen = [], {}
    for problem in problems:
        seen[problem["family"]] = seen.get(problem["family"], 0) + 1
        if (families and problem["family"] not in families) or seen[problem["family"]] > (arguments.most or len(problems)):
            continue
        row = dict(problem, peers={"torch": time_torch(problem, torch_random, timer)})
        if jax_routes:
            row["peers"]["jax"] = time_jax(problem, jax_routes)
        rows.append(row)
        if len(rows) % 100 == 0:
            print(f"{len(rows)} problems", flush=True)
            if arguments.json:
                write_json(arguments.json, about, versions, rows, peers)
    print_summary(rows, peers)
    if arguments.json:
        write_json(arguments.json, about, versions, rows, peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
