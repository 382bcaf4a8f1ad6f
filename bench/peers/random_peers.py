#!/usr/bin/env python3
"""PyTorch and JAX, or on a processor PyTorch and numpy, on the problems of relayout_bench --suite random.

    relayout_bench --suite random --seed 101 --json random.json && python3 bench/peers/random_peers.py random.json

Times on a processor what relayout_bench --device cpu wrote, on as many threads, and compares the fastest samples. Also reads
the CSV of the worst, as problems of a GPU; there is then nothing of relayout's to hold the times against. Exit status: 0; 2 for
bad arguments; 3 when there is nothing here to time with.
"""

import argparse
import datetime
import json
import os
import sys

from optional_module import optional
from random_problems import NoRoute, bytes_of, fastest_of, load, memory_order, summary

SPEED_UP = "peer's time / relayout's"


def time_route(problem, routes, timer, synchronize=lambda: None):
    """routes: a module with a route() for each problem that its peer does."""
    try:
        function, storages = routes.route(problem)
        return {"microseconds": timer.seconds(function, storages, bytes_of(problem)) * 1e6}
    except NoRoute as reason:
        return {"skipped": str(reason)}
    except Exception as error:  # what a version refuses must not end the others
        synchronize()
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


def gpu_peers(no_jax):
    """{name: (version, function of a problem that times it)}."""
    torch_random, why = optional("torch_random")
    if not torch_random or not torch_random.torch.cuda.is_available():
        print("PyTorch with a GPU is not here" + (f" ({why})" if why else ""), file=sys.stderr)
        return {}
    from torch_timing import Timer
    timer, torch = Timer(), torch_random.torch
    peers = {"torch": (torch.__version__, lambda problem: time_route(problem, torch_random, timer, torch.cuda.synchronize))}
    jax_routes, why = (None, "not asked for") if no_jax else optional("jax_routes")
    if jax_routes:
        peers["jax"] = jax_routes.about()["version"], lambda problem: time_jax(problem, jax_routes)
    else:
        print(f"no jax: {why}")
    return peers


def cpu_peers(threads):
    """The same on a processor; numpy has one thread."""
    from cpu_timing import CpuTimer
    peers = {}
    torch_random, why = optional("torch_random")
    if torch_random:
        torch = torch_random.torch
        torch.set_num_threads(threads)
        from torch_timing import random_tensor
        torch_timer = CpuTimer(lambda shape, dtype: random_tensor(shape, dtype, "cpu"))
        peers["torch"] = torch.__version__, lambda problem: time_route(problem, torch_random, torch_timer)
    else:
        print(f"no torch: {why}")
    numpy_random, why = optional("numpy_random")
    if numpy_random:
        numpy_timer = CpuTimer(numpy_random.random_array)
        peers["numpy"] = numpy_random.np.__version__, lambda problem: time_route(problem, numpy_random, numpy_timer)
    else:
        print(f"no numpy: {why}")
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="what relayout_bench --suite random wrote by --json, or by --csv")
    parser.add_argument("--also", metavar="RESULT", action="append", default=[],
                        help="another run of the same problems on a processor: the fastest samples of all count")
    parser.add_argument("--json", help="write the times and the table to this file, anew after each 100 problems")
    parser.add_argument("--family", help="only these families, separated by commas")
    parser.add_argument("--most", type=int, help="only so many problems of each family, the first")
    parser.add_argument("--no-jax", action="store_true", help="leave JAX out")
    arguments = parser.parse_args()
    try:
        problems, about = load(arguments.result)
        others = [load(path)[0] for path in arguments.also]
    except (OSError, ValueError, KeyError) as error:
        parser.error(str(error))
    on_cpu = about.get("device", {}).get("kind") == "cpu"
    if on_cpu:
        problems = fastest_of([problems] + others)
    peers = cpu_peers(about["host_threads"]) if on_cpu else gpu_peers(arguments.no_jax)
    if not peers:
        return 3
    versions = {name: version for name, (version, _) in peers.items()}
    families = arguments.family.split(",") if arguments.family else None
    rows, seen = [], {}
    for problem in problems:
        seen[problem["family"]] = seen.get(problem["family"], 0) + 1
        if (families and problem["family"] not in families) or seen[problem["family"]] > (arguments.most or len(problems)):
            continue
        rows.append(dict(problem, peers={name: time(problem) for name, (_, time) in peers.items()}))
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
