#!/usr/bin/env python3
"""PyTorch, and JAX and CuPy where they are installed, on relayout's benchmark cases.

    relayout_bench --json result.json && python3 bench/peers/peers.py result.json       times, side by side
    relayout_bench --smoke --dump folder && python3 bench/peers/peers.py --check folder  do the results agree?

Exit status: 0; 1 when results differ; 2 for bad arguments; 3 when there is nothing here to time with.
"""

import argparse
import datetime
import json
import os
import re
import sys

import formulas
from optional_module import optional

NAMES = {"torch": "PyTorch", "jax": "JAX", "cupy": "CuPy"}
OF_PROCESSORS = ("native",)  # of strided inputs: the peers are timed on a GPU, which has no such rows


def check(folder):
    """Numpy's formulas, PyTorch's, JAX's and CuPy's routes against the results that relayout dumped."""
    rows = formulas.load_cases(folder)
    peers = {peer: optional(peer + "_routes") for peer in ("torch", "jax", "cupy")}
    compared, wrong, refused = {"numpy": 0, "torch": 0, "jax": 0, "cupy": 0}, [], []

    def compare(peer, route, row, agrees):
        compared[peer] += 1
        if not agrees:
            wrong.append(f"{row['name']}: {peer} ({route}) gives something else")

    for row in rows:
        parameters = row["parameters"]
        reference = formulas.expected(parameters, row["inputs"])
        output = row["output"]
        if parameters["operation"] == "conv1d":  # [batch, ho, out_channels]
            output = output.reshape(-1, output.shape[-1])
        compare("numpy", "formula", row, formulas.agree(parameters, output, reference))
        if row["suite"] in OF_PROCESSORS:
            continue
        inputs = [in_memory(x, shape) for x, (shape, _) in zip(row["inputs"], formulas.input_shapes(parameters))]
        for peer, (routes, _) in peers.items():
            for name, result in results_of(routes, parameters, inputs, refused, f"{row['name']}: {peer}"):
                compare(peer, name, row, formulas.peer_agrees(parameters, inputs, logical(parameters, result), reference))
    print(f"{len(rows)} cases; comparisons: " + ", ".join(f"{peer} {count}" for peer, count in compared.items()))
    for peer, (_, why) in peers.items():
        if why:
            print(f"{NAMES[peer]} is not here ({why}), so it was not compared.")
    for line in refused:
        print("NOT RUN: " + line.splitlines()[0])
    for line in wrong:
        print("DIFFERENT: " + line)
    return 1 if wrong or not rows else 0


def results_of(routes, parameters, inputs, refused, who):
    """(name, result) of each route; what did not run goes to `refused`."""
    if not routes:
        return
    try:
        found = routes.results(parameters, inputs)
    except formulas.NoRoute as reason:
        refused.append(f"{who}: {reason}")
        return
    for name, result in found:
        try:
            array = result()
        except RuntimeError as error:  # older versions of PyTorch lack 16-bit routes on the CPU
            refused.append(f"{who} ({name}): {error}")
            continue
        yield name, array


def in_memory(array, shape):
    """The array in its order in memory."""
    if list(array.shape) != list(shape) or not array.flags.c_contiguous:
        array = array.swapaxes(-1, -2)
    return formulas.np.ascontiguousarray(array)


def logical(parameters, array):
    """The array that relayout's result is, of a route's result as it lies in memory."""
    if parameters.get("out_layout", "ncl") == "nlc":
        array = array.swapaxes(-1, -2)
    if parameters["operation"] == "conv1d" and array.ndim == 3:
        array = array.transpose(0, 2, 1).reshape(-1, array.shape[1])
    return array


def time_torch(row, torch_routes, timer):
    """({route: seconds}, {route: why it failed})."""
    times, failures = {}, {}
    for name, function in torch_routes.routes(row["parameters"]):
        try:
            times[name] = timer.seconds(function, torch_routes.input_shapes(row["parameters"]), row["bytes"])
        except Exception as error:  # one route that a version refuses must not end the others
            failures[name] = one_line(error)
            torch_routes.torch.cuda.synchronize()
    return times, failures


def time_jax(row, jax_routes, shapes):
    try:
        return {"jit": jax_routes.seconds(row["parameters"], shapes, row["bytes"])}, {}
    except formulas.NoRoute as reason:
        return {}, {"none": str(reason)}
    except Exception as error:  # as above
        return {}, {"jit": one_line(error)}


def time_cupy(row, cupy_routes, shapes):
    times, failures = {}, {}
    try:
        routes = cupy_routes.routes(row["parameters"])
    except formulas.NoRoute as reason:
        return {}, {"none": str(reason)}
    for name, function in routes:
        try:
            times[name] = cupy_routes.seconds(function, shapes, row["bytes"])
        except Exception as error:  # as above
            failures[name] = one_line(error)
    return times, failures


def one_line(error):
    return f"{type(error).__name__}: {error}".splitlines()[0]


def summary(times, failures):
    """The entry of one peer in a result file: its best route counts."""
    if not times:
        return {"error": "; ".join(f"{route}: {why}" for route, why in failures.items())}
    best = min(times, key=times.get)
    return {"seconds": times[best], "route": best, "routes": times, "failures": failures}


def microseconds(seconds):
    return f"{seconds * 1e6:11.2f}" if seconds else f"{'-':>11}"


def compare_times(arguments):
    with open(arguments.result, encoding="utf-8") as file:
        document = json.load(file)
    # From host memory to the device's in chunks: none of the peers' routes does that.
    rows = [row for row in document["rows"]
            if re.search(arguments.filter, row["name"]) and row["suite"] not in ("overlap", *OF_PROCESSORS)]
    torch_routes, no_torch = optional("torch_routes")
    if not torch_routes:
        print(f"PyTorch is not here ({no_torch}): install it, or run this where it is, to time it.", file=sys.stderr)
        return 3
    torch = torch_routes.torch
    if not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} sees no GPU here: run this on the machine whose GPU relayout_bench timed.",
              file=sys.stderr)
        return 3
    from torch_timing import Timer
    timer = Timer()
    modules = {"torch": torch_routes}
    for name, left_out in (("jax", arguments.no_jax), ("cupy", arguments.no_cupy)):
        module, why = (None, "not asked for") if left_out else optional(name + "_routes")
        if module:
            modules[name] = module
        else:
            print(f"no {name}: {why}")
    about = {name: module.about() for name, module in modules.items()}
    device = document.get("device", {}).get("name", "not timed")
    print(f"relayout: {device}, commit {document.get('commit', 'unknown')}; peers: {torch.cuda.get_device_name()}, "
          + ", ".join(peer["version"] for peer in about.values()) + "\n")
    width = max((len(row["name"]) for row in rows), default=0)
    print(f"{'case':{width}} {'relayout':>11}" + "".join(f" {name:>11}" for name in modules)
          + "  us; fastest peer's time / relayout's")
    results = []
    for row in rows:
        shapes = [(tuple(shape), name) for shape, name in formulas.input_shapes(row["parameters"])]
        found = {"torch": time_torch(row, torch_routes, timer)}
        if "jax" in modules:
            found["jax"] = time_jax(row, modules["jax"], shapes)
        if "cupy" in modules:
            found["cupy"] = time_cupy(row, modules["cupy"], shapes)
        peers = {name: summary(*both) for name, both in found.items() if any(both)}
        timed = {name: peer["seconds"] for name, peer in peers.items() if "seconds" in peer}
        best, own = min(timed, key=timed.get, default=None), row.get("seconds")
        ratio = f"{timed[best] / own:6.2f}x {best}: {peers[best]['route']}" if best and own else "      -"
        print(f"{row['name']:{width}} {microseconds(own)}"
              + "".join(f" {microseconds(timed.get(name))}" for name in modules) + f"  {ratio}", flush=True)
        for name, (_, failures) in found.items():
            for route, why in failures.items():
                print(f"{'':{width}} {name} ({route}): {why}")
        case = {key: row[key] for key in ("name", "suite", "group", "bytes", "parameters") if key in row}
        results.append({**case, "copy_seconds": timer.copy_seconds(row["bytes"]), "peers": peers})
    if arguments.json:
        write_result(arguments.json, device_of(document, torch), about, results)
    return 0


def device_of(document, torch):
    """PyTorch names the GPU; the driver is known from relayout's result where that is of the same GPU."""
    device = {"kind": "gpu", "name": torch.cuda.get_device_name()}
    timed = document.get("device", {})
    return {**device, "driver": timed.get("driver")} if timed.get("name") == device["name"] else device


def write_result(path, device, about, rows):
    """In the form that `relayout_bench compare` reads; what was there stays until all is written."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"device": device, "date": date, "peers": about, "rows": rows}, file, indent=2)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", help="what relayout_bench --json or --list-json wrote")
    parser.add_argument("--check", metavar="FOLDER", help="compare with the results that --dump wrote; time nothing")
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--json", help="write the times to this file, for relayout_bench compare")
    parser.add_argument("--no-jax", action="store_true", help="leave JAX out")
    parser.add_argument("--no-cupy", action="store_true", help="leave CuPy out")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    if not arguments.result:
        parser.error("name relayout_bench's result, or --check FOLDER")
    return compare_times(arguments)


if __name__ == "__main__":
    sys.exit(main())
