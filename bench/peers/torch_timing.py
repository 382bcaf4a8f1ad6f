"""Times PyTorch as relayout_bench times itself: operands rotated past the L2, many calls between two events, median.

The calls are captured into a CUDA graph. A copy in front of the first event keeps the GPU busy while the graph is
being launched.
"""

import gc
import statistics

import torch

REPETITIONS = 15
CALLS = 20
MOST_SETS = 256
KEPT_BYTES = 4 << 30
BUSY_BYTES = 64 << 20
BUSY_COPIES = 8  # while a graph of hundreds of short kernels is launched


SIGNED = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def random_tensor(shape, dtype, device):
    if dtype.is_complex:
        return torch.rand(shape, dtype=dtype, device=device)
    if dtype in [getattr(torch, name, None) for name in ("uint16", "uint32", "uint64")]:  # randint does not make these
        return random_tensor(shape, SIGNED[dtype.itemsize], device).view(dtype)
    if dtype.is_floating_point:  # the numbers that relayout_bench draws: half of them below 1, where functions are cheap
        unit = torch.rand(shape, device=device)
        return torch.where(torch.rand(shape, device=device) < 0.5, 0.125 + 0.875 * unit, 1 + 99 * unit).to(dtype)
    low, high = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    return torch.randint(low, min(high + 1, torch.iinfo(torch.int64).max), shape, dtype=dtype, device=device)


class Timer:
    def __init__(self):
        self.device = torch.device("cuda")
        self.l2_bytes = torch.cuda.get_device_properties(self.device).L2_cache_size
        self.copies = {}
        self.busy = [torch.zeros(BUSY_BYTES, dtype=torch.uint8, device=self.device) for _ in range(2)]

    def copy_seconds(self, case_bytes):
        """Times copies that read and write as many bytes together: {name: seconds}. The second is a kernel: a large copy in
        a graph may run on a slower copy engine."""
        if case_bytes not in self.copies:
            shapes = [([max(1, case_bytes // 8)], torch.float32)]
            self.copies[case_bytes] = {"clone": self.seconds(torch.clone, shapes, case_bytes),
                                       "abs": self.seconds(torch.abs, shapes, case_bytes)}
        return self.copies[case_bytes]

    def seconds(self, function, shapes, case_bytes):
        """Median seconds per call."""
        sets = min(-(-4 * self.l2_bytes // case_bytes), MOST_SETS)
        calls = max(sets, min(CALLS, max(4, KEPT_BYTES // case_bytes)))
        inputs = [[random_tensor(*shape, self.device) for shape in shapes] for _ in range(sets)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                function(*inputs[0])
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # Results stay until the capture ends: each call then writes to memory of its own, as far as there is room.
        kept = []
        with torch.cuda.graph(graph):
            for i in range(calls):
                result = function(*inputs[i % len(inputs)])
                if (i + 1) * case_bytes <= KEPT_BYTES:
                    kept.append(result)
                del result
        seconds = [self._sample(graph) / calls for _ in range(REPETITIONS + 1)][1:]
        del graph, kept, inputs
        gc.collect()
        torch.cuda.empty_cache()
        return statistics.median(seconds)

    def side_by_side(self, functions, calls):
        """Median seconds per call of some functions, which take turns: {name: seconds}. A function takes the number of its
        call. What it returns may lie where an earlier result lay."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        graphs = {}
        for name, function in functions.items():
            with torch.cuda.stream(stream):
                for i in range(2):
                    function(i)
            torch.cuda.synchronize()
            graphs[name] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[name], stream=stream):
                for i in range(calls):
                    function(i)
        samples = {name: [] for name in functions}
        for _ in range(REPETITIONS + 1):
            for name, graph in graphs.items():
                samples[name].append(self._sample(graph, BUSY_COPIES) / calls)
        return {name: statistics.median(seconds[1:]) for name, seconds in samples.items()}

    def _sample(self, graph, busy_copies=2):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(busy_copies):
            self.busy[0].copy_(self.busy[1])
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3
