"""How a user of CuPy would copy, cast and permute, and how long that takes. Arrays keep their order in memory."""

import functools
import statistics

import cupy

import cupy_elementwise
import formulas

TYPES = {"bool": cupy.bool_, "u8": cupy.uint8, "i8": cupy.int8, "i32": cupy.int32, "f16": cupy.float16, "f32": cupy.float32,
         "f64": cupy.float64}
try:
    import ml_dtypes
    TYPES["bf16"] = ml_dtypes.bfloat16
except ImportError:
    pass
ELEMENTWISE = {"elementwise": cupy_elementwise.elementwise_routes, "quantized": cupy_elementwise.quantized_routes}
REPETITIONS = 15
CALLS = 20
MOST_SETS = 256
KEPT_BYTES = 4 << 30
BUSY_BYTES = 64 << 20


def about():
    runtime = cupy.cuda.runtime.runtimeGetVersion()
    return {"version": f"CuPy {cupy.__version__}", "runtime": f"CUDA {runtime // 1000}.{runtime % 1000 // 10}"}


def routes(parameters):
    """[(name, function of the input)]; none for what CuPy has no function of its own for."""
    operation, out_type = parameters["operation"], TYPES.get(parameters["out_type"])
    if operation in ELEMENTWISE:
        if any(name not in TYPES for _, name in formulas.input_shapes(parameters)):
            raise formulas.NoRoute("CuPy has bf16 by ml_dtypes, which is not installed")
        return ELEMENTWISE[operation](parameters, out_type)
    if operation == "copy":
        return [("copy", lambda x: x.copy())]
    if operation == "permute" and "alpha" in parameters:
        return []
    if operation == "permute":
        return [("transpose, ascontiguousarray", lambda x: cupy.ascontiguousarray(x.transpose(parameters["axes"])))]
    if operation == "cast":
        if parameters["in_layout"] == parameters["out_layout"]:
            return [("astype", lambda x: x.astype(out_type))]
        return [("transpose, astype", lambda x: x.swapaxes(-1, -2).astype(out_type, order="C"))]
    return []


def random_array(shape, dtype):
    if cupy.dtype(TYPES[dtype]).kind not in "bui":
        return (cupy.random.random(shape, dtype=cupy.float32) * 2 - 1).astype(TYPES[dtype])
    row = shape[-1] * cupy.dtype(TYPES[dtype]).itemsize
    return cupy.random.randint(0, 2 if dtype == "bool" else 256, (*shape[:-1], row), dtype=cupy.uint8).view(TYPES[dtype])


def seconds(function, shapes, case_bytes):
    """Median seconds per call, timed as torch_timing.py times PyTorch; `shapes` as (shape, type's name)."""
    l2_bytes = cupy.cuda.Device().attributes["L2CacheSize"]
    sets = min(-(-4 * l2_bytes // case_bytes), MOST_SETS)
    calls = max(sets, min(CALLS, max(4, KEPT_BYTES // case_bytes)))
    pool = cupy.get_default_memory_pool()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        inputs = [[random_array(*shape) for shape in shapes] for _ in range(sets)]
        busy = [cupy.zeros(BUSY_BYTES, cupy.uint8) for _ in range(2)]

        def run():
            """Results stay until the end, as far as there is room: each call writes to memory of its own."""
            kept = []
            for i in range(calls):
                result = function(*inputs[i % sets])
                if (i + 1) * case_bytes <= KEPT_BYTES:
                    kept.append(result)

        run()  # compiles, and leaves the pool the memory that the capture takes: nothing is allocated in it
        stream.synchronize()
        stream.begin_capture()
        run()
        graph = stream.end_capture()
        times = []
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        for _ in range(REPETITIONS + 1):
            for _ in range(2):
                cupy.copyto(busy[0], busy[1])
            start.record(stream)
            graph.launch(stream)
            stop.record(stream)
            stop.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, stop) * 1e-3 / calls)
        del graph, inputs, busy
    pool.free_all_blocks()
    return statistics.median(times[1:])


def results(parameters, inputs):
    """[(name, a call for the result as it lies in memory)] by every route, from and to numpy."""
    def result(function):
        found = function(*[cupy.asarray(x.astype(TYPES[name], copy=False))
                           for x, (_, name) in zip(inputs, formulas.input_shapes(parameters))]).get()
        return found.astype(cupy.float32) if parameters["out_type"] == "bf16" else found

    return [(name, functools.partial(result, function)) for name, function in routes(parameters)]
