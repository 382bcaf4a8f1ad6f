"""relayout's functions for JAX: calls of jax.ffi on XLA's own buffers and streams, under jax.jit too, with derivatives.

    import relayout.jax as rj
    rj.permute(x, (0, 2, 3, 1), dtype=jnp.bfloat16)

They are those of the package, of the same names, without `out=`. Results are new arrays. An array lies in memory in C order
unless `layout` says how else, as a tuple of its axes from the outermost to the innermost: XLA then hands it over so without a
copy where it has it so, as a jnp.swapaxes() of an array often is. Derivatives are for jax.grad and jax.vjp, not for jax.jvp.
"""
import jax as _jax
import jax.numpy as _jnp

from relayout import _OPERATIONS, _PAD_MODES, Error as _Error, _core, _frameworks, _jax_reference as _reference
from relayout._jax_call import (call as _call, check_rank as _check_rank, checked_layout as _checked_layout, choice as _choice,
                                differentiable as _differentiable, dtype_of as _dtype, name_of as _name, text as _text)
from relayout._jax_depthwise import depthwise_conv1d
from relayout._operations import (counted_axes as _counted_axes, functions as _functions,
                                  names_and_places as _names_and_places, pair as _pair)

__all__ = ["permute", "transpose", "matrix_transpose", "cast", "pad", "img2col", "depthwise_conv1d", "chain"]

_ROUNDINGS = ("default", "nearest_even", "nearest_away", "toward_zero", "down", "up")
_MODES = ("constant", "replicate", "reflect", "symmetric", "circular", "reflect_zero_extended")


# Movement


def _permute_backward(static, arrays, gradient):
    (x,), (axes, _, _) = arrays, static
    return (_permute((gradient,), (_inverse(axes), _name(x), None)),)


def _inverse(axes):
    return tuple(axes.index(axis) for axis in range(len(axes)))


@_differentiable(_permute_backward)
def _permute(arrays, static):
    (x,), (axes, dtype, layout) = arrays, static
    result = [x.shape[axis] for axis in axes], _dtype(dtype or _name(x))
    return _call(_text("permute", axes=axes), (x,), [result], (layout, None))[0]


def permute(x, axes, *, dtype=None, layout=None):
    """Result axis j is axis axes[j] of x, in C order. layout: how x lies in memory."""
    x = _jnp.asarray(x)
    return _permute((x,), (tuple(_counted_axes(axes, x.ndim)), _frameworks.dtype_name(dtype), _checked_layout(layout, x)))


def transpose(x, axes=None, *, dtype=None, layout=None):
    """permute() as numpy.transpose: without axes all of them are reversed."""
    return permute(x, tuple(range(_jnp.ndim(x)))[::-1] if axes is None else axes, dtype=dtype, layout=layout)


def matrix_transpose(x, *, dtype=None, layout=None):
    """The last two axes exchanged."""
    rank = _jnp.ndim(x)
    if rank < 2:
        raise _Error(f"x has {rank} axes, and needs two", "rank")
    return permute(x, (*range(rank - 2), -1, -2), dtype=dtype, layout=layout)


def _cast_backward(static, arrays, gradient):
    return (_cast((gradient,), (_name(arrays[0]), None, None, None)),)


@_differentiable(_cast_backward)
def _cast(arrays, static):
    (x,), (dtype, rounding, saturate_fp8, saturate_integers) = arrays, static
    text = _text("cast", rounding=rounding, saturate_fp8=saturate_fp8, saturate_integers=saturate_integers)
    return _call(text, (x,), [(x.shape, _dtype(dtype))])[0]


def cast(x, dtype, *, cast_rounding=None, saturate_fp8=None, saturate_integers=None):
    """x as elements of another type. The options are those of relayout.cast()."""
    rounding = None if cast_rounding is None else _choice(cast_rounding, _ROUNDINGS, "cast_rounding")
    return _cast((_jnp.asarray(x),), (_frameworks.dtype_name(dtype), rounding, saturate_fp8, saturate_integers))


# Signals


def _only_constant(mode, what):
    if _MODES[mode] != "constant":
        raise _Error(f"{what} of mode '{_MODES[mode]}' has no derivative", "unsupported")


def _pad_backward(static, arrays, gradient):
    left, right, mode, _, _, _ = static
    _only_constant(mode, "pad")
    return (_pad((gradient,), (-left, -right, 0, 0.0, 0, _name(arrays[0]))),)


@_differentiable(_pad_backward)
def _pad(arrays, static):
    (x,), (left, right, mode, value, extended, dtype) = arrays, static
    text = _text("pad", left=left, right=right, mode=mode, value=value, extended=extended)
    return _call(text, (x,), [((*x.shape[:2], x.shape[2] + left + right), _dtype(dtype or _name(x)))])[0]


def _pad_options(mode, constant_values, policy):
    return (_choice(_PAD_MODES.get(mode, mode), _MODES, "mode"), float(constant_values),
            _choice(policy, ("strict", "extended"), "policy"))


def pad(x, pad_width, mode="constant", *, constant_values=0, policy="strict", dtype=None):
    """Samples before and behind a signal [batch, channels, length], as relayout.pad(). The mode "constant" has a
    derivative."""
    x = _jnp.asarray(x)
    _check_rank(x, 3, "x")
    return _pad((x,), (*_pair(pad_width), *_pad_options(mode, constant_values, policy), _frameworks.dtype_name(dtype)))


def _img2col_backward(static, arrays, gradient):
    window, (left, right, mode, _, _), _ = static
    _only_constant(mode, "img2col")
    (x,) = arrays
    back = _jax.vjp(lambda x: _reference.windows(x, *window, left, right), x.astype(_jnp.promote_types(x.dtype, _jnp.float32)))[1]
    (d_x,) = back(gradient.astype(_jnp.promote_types(x.dtype, _jnp.float32)))
    return (d_x.astype(x.dtype),)


@_differentiable(_img2col_backward)
def _img2col(arrays, static):
    (x,), (window, (left, right, mode, value, extended), dtype) = arrays, static
    taps, stride, dilation, groups, channel_outer = window
    positions = (x.shape[2] + left + right - dilation * (taps - 1) - 1) // stride + 1
    shape = (x.shape[0] * positions, taps * (x.shape[1] // groups))
    text = _text("img2col", taps=taps, stride=stride, dilation=dilation, groups=groups, channel_outer=channel_outer, left=left,
                 right=right, mode=mode, value=value, extended=extended)
    return _call(text, (x,), [(shape if groups == 1 else (groups, *shape), _dtype(dtype or _name(x)))])[0]


def img2col(x, taps, *, stride=1, dilation=1, groups=1, order="tap_outer", pad_width=0, mode="constant", constant_values=0,
            policy="strict", dtype=None):
    """A convolution's input [batch, channels, length] as a matrix [batch * positions, taps * channels], as
    relayout.img2col(). The mode "constant" has a derivative."""
    x = _jnp.asarray(x)
    _check_rank(x, 3, "x")
    window = (taps, stride, dilation, groups, _choice(order, ("tap_outer", "channel_outer"), "order"))
    return _img2col((x,), (window, (*_pair(pad_width), *_pad_options(mode, constant_values, policy)),
                           _frameworks.dtype_name(dtype)))


# Arithmetic


def _operands(arrays, constants):
    """The arrays and numbers in their order; constants has a None for every array."""
    rest = iter(arrays)
    return [next(rest) if constant is None else constant for constant in constants]


def _chain_backward(static, arrays, gradient):
    operations, running, constants, _ = static
    floating = [_jnp.issubdtype(x.dtype, _jnp.floating) for x in arrays]
    compute = _jnp.float64 if _jnp.float64 in [x.dtype for x in (*arrays, gradient)] else _jnp.float32

    def result(*moving):
        rest = iter(moving)
        given = [next(rest) if moves else x for x, moves in zip(arrays, floating)]
        return _reference.chain(operations, running, _operands(given, constants)).astype(compute)

    back = _jax.vjp(result, *(x.astype(compute) for x, moves in zip(arrays, floating) if moves))[1]
    parts = iter(back(gradient.astype(compute)))
    return tuple(next(parts).astype(x.dtype) if moves else None for x, moves in zip(arrays, floating))


def _word(constant):
    """An operand for the handler."""
    if constant is None:
        return "t"
    if isinstance(constant, bool):
        return f"b{int(constant)}"
    if isinstance(constant, float):
        return f"f{constant.hex()}"
    if not -2**63 <= constant < 2**64:
        raise _Error("a constant that needs more than 64 bits has no element type", "literal_range")
    return f"i{constant}" if constant < 2**63 else f"u{constant}"


@_differentiable(_chain_backward)
def _chain(arrays, static):
    operations, running, constants, dtype = static
    rest = iter(arrays)
    kinds = tuple(_name(next(rest)) if constant is None else constant for constant in constants)
    steps = tuple((_OPERATIONS[name][0], place) for name, place in zip(operations, running))
    result = dtype or _core.chain_dtype(steps, kinds)
    text = _text("chain", steps=operations, running=running, operands=[_word(constant) for constant in constants],
                 cast_out=None if dtype is None else 1)
    shape = _jnp.broadcast_shapes(*(x.shape for x in arrays))
    return _call(text, arrays, [(shape, _dtype(result))])[0]


def chain(steps, *operands, dtype=None):
    """Up to 8 operations in one pass over the memory, as relayout.chain(): chain(["add", "relu"], x, bias). Operands are
    arrays and Python's numbers."""
    names, places = _names_and_places(steps)
    constants = tuple(x if isinstance(x, (bool, int, float)) else None for x in operands)
    arrays = tuple(_jnp.asarray(x) for x, constant in zip(operands, constants) if constant is None)
    if not arrays:
        raise _Error("one operand at least must be an array")
    return _chain(arrays, (tuple(names), tuple(places), constants, _frameworks.dtype_name(dtype)))


_by_name = _functions(chain, __name__)
globals().update(_by_name)
__all__ += _by_name
