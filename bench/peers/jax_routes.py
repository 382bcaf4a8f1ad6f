"""How a user of JAX would do each case, and how long that takes.

Arrays are held as they lie in memory (see torch_routes.py). XLA compiles many calls into one program, so that launching it
from Python is spread over them; the host's clock then tells, as JAX has no events.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import statistics  # noqa: E402
import time  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from formulas import NUMPY_PAD_MODES  # noqa: E402

TYPES = {"f16": jnp.float16, "f32": jnp.float32}
REPETITIONS = 15
CALLS = 20
KEPT_BYTES = 16 << 30


def padded(x, pad, axis):
    widths = [(0, 0)] * x.ndim
    widths[axis] = (pad["left"], pad["right"])
    value = {"constant_values": pad["value"]} if pad["mode"] == "constant" else {}
    return jnp.pad(x, widths, mode=NUMPY_PAD_MODES[pad["mode"]], **value)


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
    if operation == "copy":
        return jnp.copy
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
    if operation == "depthwise_update":  # the state stays what it is
        return lambda state, weights, bias, _: (
            depthwise(parameters, state, weights, bias)[:, :, -parameters["samples"]:])
    if operation == "img2col":
        return lambda x: img2col(x, parameters)
    return lambda x, bt: img2col(x, parameters) @ bt.T


def run(parameters, inputs):
    """On the CPU or the GPU, whatever JAX uses."""
    return jax.jit(function_of(parameters))(*[jnp.asarray(x) for x in inputs])


def seconds(parameters, shapes, case_bytes):
    """Median seconds per call; `shapes` as (shape, type's name)."""
    calls = min(CALLS, max(4, KEPT_BYTES // case_bytes))
    function = function_of(parameters)
    program = jax.jit(lambda sets: [function(*inputs) for inputs in sets])
    key = jax.random.key(1)
    sets = []
    for _ in range(calls):
        key, *keys = jax.random.split(key, len(shapes) + 1)
        sets.append([jax.random.uniform(k, shape, jnp.float32, -1, 1).astype(TYPES[dtype])
                     for k, (shape, dtype) in zip(keys, shapes)])
    jax.block_until_ready(program(sets))
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        jax.block_until_ready(program(sets))
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)
