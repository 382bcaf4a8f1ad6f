"""How a user of JAX would do each case, and how long that takes.

Arrays are held as they lie in memory (see torch_routes.py). XLA compiles many calls into one program. JAX has no events, so
the host's clock tells, with the device kept busy while the host launches.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import functools  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import formulas  # noqa: E402
import jax_elementwise  # noqa: E402

jax.config.update("jax_enable_x64", True)  # else f64 would silently be f32

TYPES = {"bool": jnp.bool_, "u8": jnp.uint8, "i8": jnp.int8, "i32": jnp.int32, "f16": jnp.float16, "bf16": jnp.bfloat16,
         "f32": jnp.float32, "f64": jnp.float64}
BITS = {"u8": jnp.uint8, "i8": jnp.uint8, "i32": jnp.uint32}
REPETITIONS = 15
CALLS = 20
LAUNCHES = 16
KEPT_BYTES = 16 << 30
BUSY_ELEMENTS, BUSY_STEPS = 64 << 20, 32  # about 6 ms on an H200


def about():
    return {"version": f"JAX {jax.__version__}", "runtime": jax.devices()[0].client.platform_version.splitlines()[0]}


def padded(x, pad, axis):
    widths = [(0, 0)] * x.ndim
    widths[axis] = (pad["left"], pad["right"])
    value = {"constant_values": pad["value"]} if pad["mode"] == "constant" else {}
    return jnp.pad(x, widths, mode=formulas.NUMPY_PAD_MODES[pad["mode"]], **value)


def img2col(x, parameters):
    x = x.astype(TYPES[parameters["out_type"]])
    if parameters["in_layout"] == "ncl":
        x = x.swapaxes(1, 2)
    x = padded(x, parameters["pad"], 1)
    taps, stride, dilation = parameters["taps"], parameters["stride"], parameters["dilation"]
    positions = (x.shape[1] - (taps - 1) * dilation - 1) // stride + 1
    slices = [x[:, k * dilation:k * dilation + (positions - 1) * stride + 1:stride] for k in range(taps)]
    a = jnp.stack(slices, axis=2 if parameters["order"] == "tap" else 3)
    return a.reshape(x.shape[0] * positions, -1)


def depthwise(parameters, x, weights, bias=None):
    """Shifted products, which XLA fuses into one pass."""
    time = 2 if parameters["in_layout"] == "ncl" else 1
    taps, length = parameters["taps"], x.shape[time]
    signal = padded(x, {"left": taps - 1, "right": 0, "mode": "constant", "value": 0}, time).astype(jnp.float32)

    def per_channel(values):
        return values.astype(jnp.float32)[:, None] if time == 2 else values.astype(jnp.float32)

    y = sum(per_channel(weights[:, k]) * jax.lax.slice_in_dim(signal, k, k + length, axis=time) for k in range(taps))
    if bias is not None:
        y = y + per_channel(bias)
    return (jax.nn.silu(y) if parameters["silu"] else y).astype(x.dtype)


def function_of(parameters):
    """The case as a function of its inputs."""
    operation, out_type = parameters["operation"], TYPES[parameters["out_type"]]
    if operation == "elementwise":
        return jax_elementwise.function_of(parameters)
    if operation == "quantized":
        return lambda *inputs: formulas.quantized(parameters, inputs, jnp)
    if operation == "copy":
        return jnp.copy
    if operation == "permute":
        alpha, beta = parameters.get("alpha", 1), parameters.get("beta", 0)
        if beta != 0:
            return lambda x, old: alpha * jnp.transpose(x, parameters["axes"]) + beta * old
        if alpha != 1:
            return lambda x: alpha * jnp.transpose(x, parameters["axes"])
        return lambda x: jnp.transpose(x, parameters["axes"])
    if operation == "cast":
        if parameters["in_layout"] == parameters["out_layout"]:
            return lambda x: x.astype(out_type)
        return lambda x: x.astype(out_type).swapaxes(-1, -2)
    if operation == "pad":
        def pad(x):
            x = padded(x.astype(out_type), parameters["pad"], 2 if parameters["in_layout"] == "ncl" else 1)
            return x if parameters["in_layout"] == parameters["out_layout"] else x.swapaxes(1, 2)
        return pad
    if operation == "depthwise":
        return lambda *operands: depthwise(parameters, *operands)
    if operation == "depthwise_backward":
        raise formulas.NoRoute("a route has one result, and XLA would leave out the gradients of the weights")
    if operation == "depthwise_update":  # the state stays what it is
        return lambda state, weights, bias, _: (
            depthwise(parameters, state, weights, bias)[:, :, -parameters["samples"]:])
    if operation == "img2col":
        return lambda x: img2col(x, parameters)
    return lambda x, bt: img2col(x, parameters) @ bt.T


def results(parameters, inputs):
    """[("jit", a call for the result as it lies in memory)], from and to numpy, on the CPU or the GPU, whatever JAX uses."""
    function = jax.jit(function_of(parameters))

    def result():
        found = function(*[jnp.asarray(x, TYPES[name]) for x, (_, name) in zip(inputs, formulas.input_shapes(parameters))])
        return np.asarray(found.astype(jnp.float32) if found.dtype == jnp.bfloat16 else found)

    return [("jit", result)]


def random_array(key, shape, dtype):
    if dtype == "bool":
        return jax.random.bernoulli(key, shape=shape)
    if dtype in BITS:
        return jax.random.bits(key, shape, BITS[dtype]).astype(TYPES[dtype])
    return jax.random.uniform(key, shape, jnp.float32, -1, 1).astype(TYPES[dtype])


def one_after_another(function):
    """A program of many calls. Without the barriers XLA would fuse small calls, or run them side by side."""
    def program(sets):
        results = [function(*sets[0])]
        for inputs in sets[1:]:
            inputs, results[-1] = jax.lax.optimization_barrier((inputs, results[-1]))
            results.append(function(*inputs))
        return results
    return jax.jit(program)


class Busy:
    """A few milliseconds of work. What is launched meanwhile runs right after it, however long launching takes, so the
    time that both take together, less that of the work alone, is the device's."""

    def __init__(self):
        self.x = jnp.zeros(BUSY_ELEMENTS, jnp.float32)
        self.work = jax.jit(lambda x: jax.lax.fori_loop(0, BUSY_STEPS, lambda _, y: y * 1.0001 + 1, x))
        jax.block_until_ready(self.start())

    def start(self):
        return self.work(self.x)

    def seconds(self, launch=None):
        begin = time.perf_counter()
        done = self.start()
        jax.block_until_ready((done, launch() if launch else None))
        return time.perf_counter() - begin


busy = functools.cache(Busy)


def seconds(parameters, shapes, case_bytes):
    """Median seconds per call; `shapes` as (shape, type's name)."""
    calls = min(CALLS, max(4, KEPT_BYTES // case_bytes))
    launches = min(LAUNCHES, max(1, KEPT_BYTES // (calls * case_bytes)))
    function = function_of(parameters)
    program = one_after_another(function)
    key = jax.random.key(1)
    sets = []
    for _ in range(launches * calls):  # each call has inputs of its own: small ones do not stay in the L2
        key, *keys = jax.random.split(key, len(shapes) + 1)
        sets.append([random_array(k, shape, dtype) for k, (shape, dtype) in zip(keys, shapes)])
    groups = [sets[begin:begin + calls] for begin in range(0, len(sets), calls)]
    jax.block_until_ready(program(groups[0]))
    times = []
    for _ in range(REPETITIONS):
        alone = busy().seconds()
        times.append((busy().seconds(lambda: [program(group) for group in groups]) - alone) / (launches * calls))
    median = statistics.median(times)
    if median <= 0:
        raise RuntimeError("the calls are shorter than the noise of the host's clock")
    return median
