"""Operations by jax's own, for the derivatives of relayout.jax."""
import functools

import jax
import jax.nn as nn
import jax.numpy as jnp
import numpy as np

from relayout import _OPERATIONS, Error


def windows(x, taps, stride, dilation, groups, channel_outer, left, right):
    """img2col by jax's own operations, for its derivative."""
    padded = jnp.pad(x, ((0, 0), (0, 0), (left, right)))
    positions = (padded.shape[2] - dilation * (taps - 1) - 1) // stride + 1
    index = stride * np.arange(positions)[:, None] + dilation * np.arange(taps)[None, :]
    unfolded = padded[:, :, index].reshape(x.shape[0], groups, x.shape[1] // groups, positions, taps)
    order = (1, 0, 3, 2, 4) if channel_outer else (1, 0, 3, 4, 2)
    unfolded = unfolded.transpose(order).reshape(groups, x.shape[0] * positions, -1)
    return unfolded[0] if groups == 1 else unfolded


def _fmod(a, b):
    return a - b * jax.lax.stop_gradient(jnp.trunc(a / b))


def _mod(a, b):
    return a - b * jax.lax.stop_gradient(jnp.floor(a / b))


FUNCTIONS = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.true_divide, "truediv": jnp.true_divide,
    "div_trunc": lambda a, b: jnp.trunc(a / b), "div_floor": lambda a, b: jnp.floor(a / b), "mod": _mod, "fmod": _fmod,
    "pow": jnp.power, "maximum": jnp.maximum, "minimum": jnp.minimum, "fmax": jnp.fmax, "fmin": jnp.fmin,
    "prelu": lambda a, b: jnp.where(a > 0, a, a * b), "abs_diff": lambda a, b: jnp.abs(a - b),
    "squared_diff": lambda a, b: jnp.square(a - b), "hypot": jnp.hypot, "atan2": jnp.arctan2,
    "copysign": jnp.copysign, "equal": jnp.equal, "not_equal": jnp.not_equal, "less": jnp.less,
    "less_equal": jnp.less_equal, "greater": jnp.greater, "greater_equal": jnp.greater_equal,
    "isclose": jnp.isclose, "logical_and": jnp.logical_and, "logical_or": jnp.logical_or,
    "logical_xor": jnp.logical_xor, "where": lambda a, b, c: jnp.where(a != 0, b, c),
    "clip": lambda a, low, high: jnp.minimum(jnp.maximum(a, low), high), "lerp": lambda a, b, c: a + c * (b - a),
    "neg": jnp.negative, "abs": jnp.abs, "sign": jnp.sign, "relu": nn.relu, "square": jnp.square,
    "step": lambda a: (a > 0).astype(a.dtype), "floor": jnp.floor, "ceil": jnp.ceil, "trunc": jnp.trunc,
    "round": jnp.round, "logical_not": jnp.logical_not, "isnan": jnp.isnan, "isinf": jnp.isinf,
    "isfinite": jnp.isfinite, "sqrt": jnp.sqrt, "rsqrt": jax.lax.rsqrt, "reciprocal": lambda a: 1 / a, "exp": jnp.exp,
    "exp2": jnp.exp2, "expm1": jnp.expm1, "log": jnp.log, "log2": jnp.log2, "log1p": jnp.log1p, "sin": jnp.sin,
    "cos": jnp.cos, "tan": jnp.tan, "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh, "asin": jnp.arcsin,
    "acos": jnp.arccos, "atan": jnp.arctan, "erf": jax.lax.erf, "sigmoid": nn.sigmoid, "silu": nn.silu,
    "gelu": functools.partial(nn.gelu, approximate=False),
    "gelu_tanh": functools.partial(nn.gelu, approximate=True), "softplus": nn.softplus, "elu": nn.elu,
    "hardswish": nn.hard_silu, "hardsigmoid": nn.hard_sigmoid}


def chain(operations, running, operands):
    """Operations one after another; running says which operand is what the one before gave."""
    value, rest = None, iter(operands)
    for name, place in zip(operations, running):
        if name not in FUNCTIONS:
            raise Error(f"{name} has no derivative", "unsupported")
        given = [next(rest) for _ in range(_OPERATIONS[name][1] - (value is not None))]
        if value is not None:
            given.insert(place, value)
        value = FUNCTIONS[name](*given)
    return value
