#!/usr/bin/env python3
"""Redistributions between GPUs, one process each, beside what a user of torch.distributed writes: permute, all-to-all, permute.

    export PYTHONPATH=build/cuda/bindings/python
    torchrun --nproc-per-node 2 bench/peers/redistribute_peers.py --json result.json
    torchrun --nproc-per-node 2 bench/peers/redistribute_peers.py --random 30 --seed 101

Each row has microseconds by relayout's routes (staged by messages, and by way of registered workspaces, and joined there), by
the one that it chooses and by torch, and the rate of the link: the bytes that cross in one direction of
one link, over the time of the route that relayout chooses. `relayout_bench --suite redistribute` has the rate of plain copies
(link-copies). Results are compared first, every element. Inputs and outputs are rotated past the L2.

Exit status: 0; 1 when results differ; 3 when there is nothing here to time with.
"""

import argparse
import json
import math
import os
import random
import statistics
import sys

try:
    import torch
    import torch.distributed as dist
except ImportError as missing:
    print(f"PyTorch is not here ({missing}).", file=sys.stderr)
    sys.exit(3)

import relayout

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
REPETITIONS, LEAST_CALLS, CALLED_BYTES = 9, 4, 4 << 30


class Exchange:
    """A global tensor of this shape, cut along axis `cut`; out = permute(in, axes), cut along axis `out_cut`."""

    def __init__(self, name, in_type, out_type, shape, axes, cut, out_cut):
        self.name, self.in_type, self.out_type = name, in_type, out_type
        self.shape, self.axes, self.cut, self.out_cut = shape, axes, cut, out_cut

    def distributions(self, ranks):
        out_shape = tuple(self.shape[axis] for axis in self.axes)
        return (relayout.Distribution.split(self.shape, self.cut, ranks),
                relayout.Distribution.split(out_shape, self.out_cut, ranks))

    def by_torch(self, part, rank, before, after):
        """What torch.distributed has: pieces for each rank, permuted and packed; an exchange; one behind the other."""
        ranks, axis = before.ranks, self.axes[self.out_cut]
        wanted = [after.slices(other)[self.out_cut] for other in range(ranks)]
        sent = [part.narrow(axis, s.start, s.stop - s.start).permute(self.axes).to(TYPES[self.out_type]).reshape(-1)
                for s in wanted]
        along = self.axes.index(self.cut)
        shapes = []
        for other in range(ranks):
            shape = list(after.local_shape(rank))
            held = before.slices(other)[self.cut]
            shape[along] = held.stop - held.start
            shapes.append(shape)
        sizes = [math.prod(shape) for shape in shapes]
        received = part.new_empty(sum(sizes), dtype=TYPES[self.out_type])
        dist.all_to_all_single(received, torch.cat(sent), sizes, [piece.numel() for piece in sent])
        return torch.cat([piece.view(shape) for piece, shape in zip(received.split(sizes), shapes)], dim=along)

    def crossing_bytes(self, ranks):
        """From one rank to one other."""
        return math.prod(self.shape) // ranks ** 2 * min(TYPES[self.in_type].itemsize, TYPES[self.out_type].itemsize)


def named():
    square = lambda n, a, b: Exchange(f"transpose {n}^2", a, b, (n, n), (1, 0), 0, 0)
    heads = lambda *shape: Exchange("heads " + "x".join(map(str, shape)), "bf16", "bf16", shape, (0, 1, 2, 3), 1, 2)
    return [square(1024, "f32", "f32"), square(4096, "f32", "f32"), square(8192, "f32", "f32"), square(16384, "f32", "f32"),
            square(32768, "f16", "f16"), square(16384, "f32", "bf16"), heads(1, 32768, 32, 128), heads(2, 8192, 32, 128)]


def drawn(count, seed, ranks):
    """Rank-4 permutations and reshardings of 64 to 256 MiB a rank, every second one with odd extents."""
    draw = random.Random(seed)
    result = []
    while len(result) < count:
        odd = len(result) % 2 == 1
        extents = [3, 5, 7, 9, 13, 17, 31, 33, 49, 63, 77, 100, 197, 255, 257, 577, 1025] if odd else [2 ** k for k in range(2, 12)]
        kind = draw.choice(("f16", "f32"))
        shape = tuple(draw.choice(extents) for _ in range(4))
        if not 64 << 20 <= math.prod(shape) * TYPES[kind].itemsize // ranks <= 256 << 20:
            continue
        axes = tuple(draw.sample(range(4), 4))
        cut, out_cut = draw.randrange(4), draw.randrange(4)
        if axes[out_cut] == cut or shape[cut] < 2 * ranks or shape[axes[out_cut]] < 2 * ranks:
            continue
        result.append(Exchange(f"random {seed}-{len(result)}", kind, kind, shape, axes, cut, out_cut))
    return result


class Clock:
    """Times calls of all ranks together: the slowest rank counts."""

    def __init__(self, device):
        self.device = device
        self.l2_bytes = torch.cuda.get_device_properties(device).L2_cache_size

    def sets(self, part_bytes):
        return max(1, min(8, -(-2 * self.l2_bytes // part_bytes)))

    def seconds(self, call, part_bytes):
        """call(i) for the i-th set of operands."""
        calls = max(LEAST_CALLS, min(64, CALLED_BYTES // max(part_bytes, 1 << 24)))
        for i in range(3):
            call(i)
        samples = []
        for _ in range(REPETITIONS):
            torch.cuda.synchronize()
            dist.barrier()
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            call(0)  # the ranks meet in it
            start.record()
            for i in range(calls):
                call(i)
            stop.record()
            stop.synchronize()
            samples.append(start.elapsed_time(stop) * 1e-3 / calls)
        slowest = torch.tensor(statistics.median(samples), device=self.device)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        return slowest.item()


def numbers(shape, rank, kind, device):
    generator = torch.Generator(device).manual_seed(rank + 1)
    return torch.rand(shape, generator=generator, device=device).to(TYPES[kind])


def run(exchange, group, clock, rank, device):
    """A row of the table, or None where results differ."""
    before, after = exchange.distributions(group.ranks)
    shape, out_shape = before.local_shape(rank), after.local_shape(rank)
    # The same on all ranks, whose parts may differ: all make as many calls.
    part_bytes = math.prod(exchange.shape) // group.ranks * TYPES[exchange.in_type].itemsize
    sets = clock.sets(part_bytes)
    inputs = [numbers(shape, rank + 7 * i, exchange.in_type, device) for i in range(sets)]
    outputs = [torch.empty(out_shape, dtype=TYPES[exchange.out_type], device=device) for _ in range(sets)]
    for out in outputs:
        group.register_output(out)
    row = {"name": exchange.name, "types": [exchange.in_type, exchange.out_type], "shape": exchange.shape,
           "axes": exchange.axes, "cuts": [exchange.cut, exchange.out_cut], "crossing_bytes": exchange.crossing_bytes(group.ranks)}
    expected = exchange.by_torch(inputs[0], rank, before, after)
    for name, route in (("direct", "direct"), ("messages", "staged"), ("workspace", "staged"), ("joined", "joined"),
                        ("chosen", None)):
        if name == "workspace":
            # A rank sends and gets no more than it has; each of a few messages and chunks begins on a boundary.
            group.register_workspace(torch.empty(2 * part_bytes + (1 << 20), dtype=torch.uint8, device=device))
        try:
            plans = [relayout.plan_redistribute(group, x, before, after, exchange.axes, out=out, route=route)
                     for x, out in zip(inputs, outputs)]
        except relayout.Error as refused:
            row[name] = str(refused)
            continue
        outputs[0].zero_()
        plans[0].run()
        group.synchronize()
        right = torch.tensor(int(torch.equal(outputs[0], expected)), device=device)
        dist.all_reduce(right, dist.ReduceOp.MIN)
        if not right.item():
            print(f"{exchange.name}: route {name} gives other elements than torch", flush=True)
            return None
        row[name + " plan"] = plans[0].explain()
        row[name] = clock.seconds(lambda i: plans[i % sets].run(), part_bytes) * 1e6
    row["torch"] = clock.seconds(lambda i: exchange.by_torch(inputs[i % sets], rank, before, after), part_bytes) * 1e6
    row["rate"] = row["crossing_bytes"] / row["chosen"] * 1e6 if isinstance(row.get("chosen"), float) else None
    return row


def printed(value):
    return f"{value:10.1f}" if isinstance(value, float) else f"{'-':>10}"


def summary(rows):
    rates = sorted(row["rate"] / 1e9 for row in rows if row["rate"])
    slower = sum(1 for row in rows if row["rate"] and row["chosen"] > 1.03 * row["torch"])
    return (f"{len(rates)} rows, GB/s: p10 {rates[len(rates) // 10]:.0f}, median {rates[len(rates) // 2]:.0f}; "
            f"slower than torch by 3 %: {slower}") if rates else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0, help="so many random exchanges instead of the named ones")
    parser.add_argument("--seed", type=int, default=1, help="of these")
    parser.add_argument("--json", help="write the rows to this file")
    arguments = parser.parse_args()
    if not torch.cuda.is_available() or "LOCAL_RANK" not in os.environ:
        print("there is no GPU here, or this was not started by torchrun", file=sys.stderr)
        return 3
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", torch.cuda.current_device())
    clock = Clock(device)
    exchanges = drawn(arguments.random, arguments.seed, ranks) if arguments.random else named()
    rows = []
    if rank == 0:
        print(f"{'us':30}{'direct':>10}{'messages':>10}{'workspace':>10}{'joined':>10}{'chosen':>10}{'torch':>10}{'GB/s':>8}", flush=True)
    for exchange in exchanges:
        group = relayout.Group.from_torch()
        row = run(exchange, group, clock, rank, device)
        group.close()
        torch.cuda.empty_cache()
        if row is None:
            return 1
        rows.append(row)
        if rank == 0:
            times = "".join(printed(row.get(way)) for way in ("direct", "messages", "workspace", "joined", "chosen", "torch"))
            rates = f"{row['rate'] / 1e9:8.1f}" if row["rate"] else ""
            print(f"{exchange.name:22}{exchange.in_type:>4}{exchange.out_type:>4}{times}{rates}", flush=True)
    if rank == 0:
        print(summary(rows))
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "ranks": ranks,
                           "rows": rows}, file, indent=1)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
