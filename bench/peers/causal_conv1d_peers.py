#!/usr/bin/env python3
"""relayout's short convolutions beside Dao-AILab's causal_conv1d and vLLM's Triton kernels, in one process on one NVIDIA GPU.

    export PYTHONPATH=build/cuda/bindings/python:FOLDER_OF_causal_conv1d_cuda
    python3 bench/peers/causal_conv1d_peers.py --vllm VLLM_CHECKOUT --json result.json
    python3 bench/peers/causal_conv1d_peers.py --section update,varlen --quick
    python3 bench/peers/causal_conv1d_peers.py --smoke       tiny sizes on the processor, beside torch's own operations

Each row has the time of relayout, the peer's, their ratio, and relayout's share of the speed of a copy of as many bytes. All
have SiLU and a bias. Results are compared first. An asterisk says that a goal is missed.

Exit status: 0; 1 when results differ; 2 for bad arguments; 3 when there is nothing here to time with.
"""

import argparse
import importlib.util
import json
import math
import os
import sys
import time
import types

try:
    import torch
except ImportError as error:
    print(f"PyTorch is not here ({error}).", file=sys.stderr)
    sys.exit(3)

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
SIZES = {"bf16": 2, "f16": 2, "f32": 4}
# Allowed differences, as shares of the largest result: Dao-AILab's exponential is the fast one, and gradients are summed in
# another order.
TOLERANCES = {"bf16": 2e-2, "f16": 4e-3, "f32": 1e-3}
SHAPES = [(8, 2048, 8192), (2, 4096, 2048), (1, 5120, 4096), (8, 2048, 8191), (2, 4096, 2047), (1, 5120, 4095)]
LAYOUTS = ("ncl", "nlc")
TOKENS, SEQUENCES = 65536, (1, 8, 64)
MOST_SETS, LEAST_CALLS, MOST_CALLS, CALLED_BYTES = 256, 3, 20, 2 << 30
POOL_BYTES = 3 << 29


class Case:
    """functions: {"relayout": call, "peer": call or None}, which take the number of a set of operands.
    differences(): {name of a result: largest difference of both, of the largest value}. share and ratio are the goals."""

    def __init__(self, name, type_name, moved_bytes, functions, differences, share, ratio, microseconds=None):
        self.name, self.type_name, self.bytes = name, type_name, moved_bytes
        self.functions, self.differences = functions, differences
        self.share, self.ratio, self.microseconds = share, ratio, microseconds


def difference(ours, theirs):
    ours, theirs = ours.float(), theirs.float()
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(1e-30))


class Bench:
    """The device, its clock, the peers and the memory that copies use."""

    def __init__(self, arguments):
        self.smoke, self.quick = arguments.smoke, arguments.quick
        self.device = torch.device("cpu" if self.smoke else "cuda")
        self.random = torch.Generator(self.device).manual_seed(1)
        if self.smoke:
            self.rotated, self.dao, self.vllm = 0, References, References.varlen
            return
        from torch_timing import Timer
        self.timer = Timer()
        self.rotated = 4 * self.timer.l2_bytes
        self.dao, self.vllm = dao_functions(), vllm_function(arguments.vllm) if arguments.vllm else None
        self.pool = [torch.zeros(POOL_BYTES // 4, device=self.device) for _ in range(2)]

    def sets(self, moved_bytes):
        """As many operands as go past the L2."""
        return min(max(1, -(-self.rotated // moved_bytes)), MOST_SETS)

    def numbers(self, shape, type_name):
        tensor = torch.empty(shape, dtype=torch.float32 if self.smoke else TYPES[type_name], device=self.device)
        return tensor.uniform_(-1, 1, generator=self.random).to(TYPES[type_name])

    def signal(self, shape, type_name, layout):
        """[batch, channels, length]; in the layout nlc channels are neighbours in memory."""
        batch, channels, length = shape
        if layout == "ncl":
            return self.numbers(shape, type_name)
        return self.numbers((batch, length, channels), type_name).transpose(1, 2)

    def copies(self, moved_bytes):
        """Copies that read and write as many bytes together, two ways."""
        count = max(1, moved_bytes // 8)
        assert count <= self.pool[0].numel()
        slot = -(-count // 128) * 128
        slots = max(1, min(self.pool[0].numel() // slot, self.sets(moved_bytes)))
        pairs = [tuple(memory[i * slot:i * slot + count] for memory in self.pool) for i in range(slots)]
        return {"copy": lambda i: pairs[i % slots][0].copy_(pairs[i % slots][1]),
                "abs": lambda i: torch.abs(pairs[i % slots][1], out=pairs[i % slots][0])}

    def seconds(self, case):
        functions = {name: function for name, function in case.functions.items() if function}
        if self.smoke:
            return {name: host_seconds(function) for name, function in functions.items()}
        calls = max(self.sets(case.bytes), min(MOST_CALLS, max(LEAST_CALLS, CALLED_BYTES // case.bytes)))
        return self.timer.side_by_side({**functions, **self.copies(case.bytes)}, calls)


def host_seconds(function):
    start = time.perf_counter()
    function(0)
    return time.perf_counter() - start


def dao_functions():
    """The extension module of Dao-AILab's causal_conv1d: its functions write to tensors that are there."""
    try:
        import causal_conv1d_cuda
    except ImportError as error:
        print(f"causal_conv1d_cuda is not here ({error}), so relayout is timed alone.", file=sys.stderr)
        return None
    return causal_conv1d_cuda


def vllm_function(checkout):
    """vLLM's causal_conv1d_fn from its own file, which needs of vLLM only the names below: its package is not imported."""
    import triton
    import triton.language
    names = {"vllm.triton_utils": {"tl": triton.language, "triton": triton},
             "vllm.platforms": {"current_platform": types.SimpleNamespace(is_cpu=lambda: False)},
             "vllm.v1.attention.backends.utils": {"PAD_SLOT_ID": -1, "NULL_BLOCK_ID": 0}}
    for name, members in names.items():
        parts = name.split(".")
        for i in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
        vars(sys.modules[name]).update(members)
    path = os.path.join(checkout, "vllm/model_executor/layers/mamba/ops/causal_conv1d.py")
    spec = importlib.util.spec_from_file_location("vllm_causal_conv1d", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.causal_conv1d_fn


class References:
    """torch's own operations in the peers' place, for --smoke."""

    @staticmethod
    def causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states, silu):
        from relayout.causal_conv1d import causal_conv1d_ref
        out.copy_(causal_conv1d_ref(x.float(), weight.float(), bias.float(), activation="silu"))

    @staticmethod
    def causal_conv1d_bwd(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states,
                          silu):
        from relayout.causal_conv1d import causal_conv1d_ref
        operands = [tensor.detach().float().requires_grad_(True) for tensor in (x, weight, bias)]
        found = torch.autograd.grad(causal_conv1d_ref(*operands, activation="silu"), operands, dout.float())
        dx.copy_(found[0])
        dweight.add_(found[1])
        dbias.add_(found[2])

    @staticmethod
    def causal_conv1d_update(x, conv_state, weight, bias, out, silu, cache_seqlens, indices):
        from relayout.causal_conv1d import causal_conv1d_update_ref
        states = conv_state[indices.long()].float()
        out.copy_(causal_conv1d_update_ref(x.float(), states, weight.float(), bias.float(), activation="silu"))
        conv_state[indices.long()] = states.to(conv_state.dtype)

    @staticmethod
    def varlen(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation, metadata):
        from relayout.causal_conv1d import causal_conv1d_ref
        out, before = torch.empty_like(x), weight.shape[1] - 1
        for b, (begin, end) in enumerate(zip(query_start_loc[:-1].tolist(), query_start_loc[1:].tolist())):
            state = conv_states[cache_indices[b].long(), None, :, :before] * has_initial_state[b]
            result, state = causal_conv1d_ref(x[None, :, begin:end].float(), weight.float(), bias.float(), state.float(), True,
                                              activation=activation)
            out[:, begin:end], conv_states[cache_indices[b].long(), :, :before] = result[0], state[0].to(x.dtype)
        return out


def signals(bench):
    """(shape, width, type, layout, name) of the forward and backward cases."""
    shapes = [(2, 32, 64), (1, 16, 63)] if bench.smoke else SHAPES[:4] if bench.quick else SHAPES
    for type_name in ("bf16",) if bench.quick else TYPES:
        for width in (4,) if bench.quick else (2, 3, 4):
            for layout in LAYOUTS:
                for shape in shapes:
                    yield shape, width, type_name, layout, f"{layout} w{width} {type_name} " + "x".join(map(str, shape))


def forward_cases(bench):
    """The weights have x's type."""
    from relayout.causal_conv1d import forward_into
    for shape, width, type_name, layout, name in signals(bench):
        moved = 2 * math.prod(shape) * SIZES[type_name]
        x = [bench.signal(shape, type_name, layout) for _ in range(bench.sets(moved))]
        out = [torch.empty_like(tensor) for tensor in x]
        weight, bias = bench.numbers((shape[1], width), type_name), bench.numbers((shape[1],), type_name)

        def call(function):
            return lambda i: function(x[i % len(x)], weight, bias, None, None, out[i % len(x)], None, True)

        functions = {"relayout": call(forward_into), "peer": bench.dao and call(bench.dao.causal_conv1d_fwd)}

        def differences():
            functions["relayout"](0)
            ours = out[0].clone()
            functions["peer"](0)
            return {"out": difference(ours, out[0])}

        yield Case(name, type_name, moved, functions, differences, 0.92 if shape[2] % 2 == 0 else 0.85, 1.0)


def backward_cases(bench):
    """The weights and their gradients are f32, as in training. The peer adds to its gradients of the weights: their zeros are
    part of its time."""
    from relayout.causal_conv1d import backward_into
    for shape, width, type_name, layout, name in signals(bench):
        moved = 3 * math.prod(shape) * SIZES[type_name]
        x, dout = ([bench.signal(shape, type_name, layout) for _ in range(bench.sets(moved))] for _ in range(2))
        dx = [torch.empty_like(tensor) for tensor in x]
        weight, bias = bench.numbers((shape[1], width), "f32"), bench.numbers((shape[1],), "f32")
        dweight, dbias = torch.empty_like(weight), torch.empty_like(bias)

        def ours(i):
            i %= len(x)
            backward_into(x[i], weight, bias, dout[i], None, None, None, dx[i], dweight, dbias, None, True)

        def peer(i):
            i %= len(x)
            dweight.zero_()
            dbias.zero_()
            bench.dao.causal_conv1d_bwd(x[i], weight, bias, dout[i], None, None, None, dx[i], dweight, dbias, None, True)

        def differences():
            ours(0)
            results = {"dx": dx[0], "dweight": dweight, "dbias": dbias}
            found = {result: tensor.clone() for result, tensor in results.items()}
            peer(0)
            return {result: difference(found[result], tensor) for result, tensor in results.items()}

        yield Case(name, type_name, moved, {"relayout": ours, "peer": bench.dao and peer}, differences, 0.80, 0.8)


def update_cases(bench):
    """States in a table, as Mamba keeps them (as many columns as taps, the last axis contiguous) and as servers do (channels
    are neighbours, one column less than taps). Each set of operands has lines of its own, in random order."""
    from relayout.causal_conv1d import update_into
    batches, all_channels = ((1, 4), (16,)) if bench.smoke else ((1, 4, 16, 64, 128, 256), (2048, 4096, 5120, 10240))
    width = 4
    for type_name in ("bf16",) if bench.quick else ("bf16", "f16"):
        for layout in ("rows",) if bench.quick else ("rows", "nlc"):
            columns = width if layout == "rows" else width - 1
            for channels in all_channels:
                for batch in batches:
                    moved = batch * channels * (2 * columns + 2) * SIZES[type_name]
                    sets = bench.sets(moved)
                    order = torch.randperm(sets * batch, generator=bench.random, device=bench.device)
                    indices = order.to(torch.int32).view(sets, batch)
                    x = bench.numbers((sets, batch, channels, 1), type_name)
                    out = torch.empty_like(x)
                    table = bench.signal((sets * batch, channels, columns), type_name, "ncl" if layout == "rows" else "nlc")
                    weight, bias = bench.numbers((channels, width), type_name), bench.numbers((channels,), type_name)

                    def call(function, table=table):
                        return lambda i: function(x[i % sets], table, weight, bias, out[i % sets], True, None,
                                                  indices[i % sets])

                    functions = {"relayout": call(update_into), "peer": bench.dao and call(bench.dao.causal_conv1d_update)}

                    def differences():
                        theirs = table.clone()
                        functions["relayout"](0)
                        result = out[0].clone()
                        call(bench.dao.causal_conv1d_update, theirs)(0)
                        return {"out": difference(result, out[0]), "states": 0.0 if torch.equal(table, theirs) else 1.0}

                    limit = 15 if (batch, channels, type_name) == (256, 10240, "bf16") else None
                    yield Case(f"{layout} {type_name} {batch}x{channels}", type_name, moved, functions, differences, None,
                               0.85 if batch >= 16 else 1.0, limit)


class Programs:
    """What vLLM's scheduler prepares for its kernel: the blocks of tokens of each sequence."""

    def __init__(self, lengths, device, tokens=8):
        counts = [-(-length // tokens) for length in lengths]
        sequences = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(counts)).to(torch.int32)
        offsets = torch.cat([torch.arange(count) for count in counts]).to(torch.int32)
        self.batch_ptr, self.token_chunk_offset_ptr = sequences.to(device), offsets.to(device)
        self.nums_dict = {tokens: {"tot": sum(counts), "mlist": sequences, "mlist_len": len(sequences), "offsetlist": offsets,
                                   "batch_ptr": self.batch_ptr, "token_chunk_offset_ptr": self.token_chunk_offset_ptr}}


def lengths_of(sequences, tokens):
    """Uneven ones, none of them zero."""
    shares = [1 + (7 * i) % 5 for i in range(sequences)]
    lengths = [tokens * share // sum(shares) for share in shares]
    lengths[-1] += tokens - sum(lengths)
    return lengths


def varlen_cases(bench):
    """x [channels, tokens] with channels as neighbours, states as servers keep them; every other sequence begins with one."""
    import relayout.vllm
    tokens, all_channels, width = (640, (16,), 4) if bench.smoke else (TOKENS, (4096, 10240), 4)
    for type_name in ("bf16",):
        for channels in all_channels:
            for sequences in SEQUENCES:
                lengths = lengths_of(sequences, tokens)
                starts = torch.tensor([0] + lengths).cumsum(0).to(bench.device, torch.int32)
                moved = 2 * tokens * channels * SIZES[type_name]
                x = [bench.signal((1, channels, tokens), type_name, "nlc")[0] for _ in range(bench.sets(moved))]
                weight, bias = bench.numbers((channels, width), type_name), bench.numbers((channels,), type_name)
                table = bench.signal((sequences + 1, channels, width - 1), type_name, "nlc")
                indices = 1 + torch.arange(sequences, device=bench.device, dtype=torch.int32)  # line 0 means none
                begun = torch.arange(sequences, device=bench.device) % 2 == 0
                programs = Programs(lengths, bench.device)

                def call(function, table=table):
                    return lambda i: function(x[i % len(x)], weight, bias, table, starts, cache_indices=indices,
                                              has_initial_state=begun, activation="silu", metadata=programs)

                def differences():
                    theirs = table.clone()
                    ours = call(relayout.vllm.causal_conv1d_fn)(0)
                    peer = call(bench.vllm, theirs)(0)
                    return {"out": difference(ours, peer), "states": 0.0 if torch.equal(table, theirs) else 1.0}

                functions = {"relayout": call(relayout.vllm.causal_conv1d_fn), "peer": bench.vllm and call(bench.vllm)}
                yield Case(f"{type_name} {sequences} of {tokens}x{channels}", type_name, moved, functions, differences, None,
                           0.9)


# The cases, whose peer, and the goal for the geometric mean of the ratios.
SECTIONS = {"forward": (forward_cases, "causal_conv1d", 0.9), "backward": (backward_cases, "causal_conv1d", 0.8),
            "update": (update_cases, "causal_conv1d", None), "varlen": (varlen_cases, "vLLM, Triton", 0.9)}


def timed(bench, section, case):
    """The row of a case."""
    row = {"section": section, "name": case.name, "bytes": case.bytes,
           "goals": {"share": case.share, "ratio": case.ratio, "us": case.microseconds}}
    if case.functions["peer"]:
        row["differences"] = case.differences()
        row["agree"] = all(value <= TOLERANCES[case.type_name] for value in row["differences"].values())
    seconds = bench.seconds(case)
    row["us"] = {name: value * 1e6 for name, value in seconds.items()}
    ours = row["us"]["relayout"]
    if "peer" in seconds:
        row["ratio"] = ours / row["us"]["peer"]
    if "copy" in seconds:
        row["share"] = min(row["us"]["copy"], row["us"]["abs"]) / ours
    row["missed"] = [goal for goal, bad in (("ratio", case.ratio and row.get("ratio", 0) > case.ratio),
                                            ("share", case.share and row.get("share", 1) < case.share),
                                            ("us", case.microseconds and ours > case.microseconds)) if bad]
    return row


def cell(value, width, digits=2, missed=False):
    return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}" + ("*" if missed else " ")


def print_row(row):
    us, missed = row["us"], row["missed"]
    copy = min(us["copy"], us["abs"]) if "copy" in us else None
    line = (f"{row['name']:32}" + cell(us["relayout"], 9, missed="us" in missed) + cell(us.get("peer"), 9)
            + cell(row.get("ratio"), 6, 3, "ratio" in missed) + cell(copy, 9) + cell(row.get("share"), 6, 3, "share" in missed))
    if not row.get("agree", True):
        line += "  DIFFERENT: " + ", ".join(f"{name} {value:.1e}" for name, value in row["differences"].items())
    print(line, flush=True)


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_summary(section, rows, goal):
    words = [f"{section}: {len(rows)} cases"]
    for name, worst, better in (("ratio", max, "ratio to the peer"), ("share", min, "share of a copy")):
        with_it = [row for row in rows if name in row]
        if with_it:
            extreme = worst(with_it, key=lambda row: row[name])
            words.append(f"{better} {geometric([row[name] for row in with_it]):.3f} geometric, worst {extreme[name]:.3f} "
                         f"({extreme['name']}), {sum(name in row['missed'] for row in rows)} miss the goal")
    if goal:
        words.append(f"the goal of the geometric ratio is {goal}")
    words.append(f"{sum('us' in row['missed'] for row in rows)} too slow")
    print("; ".join(words) + "\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", default=",".join(SECTIONS), help="forward, backward, update, varlen: some, with commas")
    parser.add_argument("--quick", action="store_true", help="bf16 and 4 taps only, fewer shapes")
    parser.add_argument("--filter", default="", help="only cases whose name has this")
    parser.add_argument("--vllm", metavar="FOLDER", help="where vllm/model_executor/... lies")
    parser.add_argument("--json", help="write all rows to this file")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes on the processor, beside torch's own operations")
    arguments = parser.parse_args()
    wanted = arguments.section.split(",")
    if not set(wanted) <= set(SECTIONS):
        parser.error(f"--section is {arguments.section}, and takes {', '.join(SECTIONS)}")
    if not arguments.smoke and not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} sees no GPU here.", file=sys.stderr)
        return 3
    bench, rows = Bench(arguments), []
    about = {"device": "processor" if arguments.smoke else torch.cuda.get_device_name(), "torch": torch.__version__}
    print(f"{about['device']}, torch {about['torch']}")
    for section in wanted:
        cases, peer, goal = SECTIONS[section]
        start, first = time.perf_counter(), len(rows)
        print(f"\n{section + ', peer: ' + peer:32}{'us':>9} {'peer us':>9} {'ratio':>6} {'copy us':>9} {'share':>6}")
        for case in cases(bench):
            if arguments.filter in case.name:
                rows.append(timed(bench, section, case))
                print_row(rows[-1])
        if len(rows) > first:
            print_summary(section, rows[first:], goal)
        print(f"{section}: {time.perf_counter() - start:.0f} s")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({**about, "rows": rows}, file, indent=1)
    return 0 if rows and all(row.get("agree", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
