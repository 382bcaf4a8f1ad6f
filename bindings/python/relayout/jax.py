"""relayout's functions for JAX: calls of jax.ffi on XLA's own buffers and streams, under jax.jit too, with derivatives.

    import relayout.jax as rj
    rj.permute(x, (0, 2, 3, 1), dtype=jnp.bfloat16)

They are those of the package, of the same names, without `out=`. Results are new arrays. An array lies in memory in C order
unless `layout` says how else, as a tuple of its axes from the outermost to the innermost: XLA then hands it over so without a
copy where it has it so, as a jnp.swapaxes() of an array often is. Derivatives are for jax.grad and jax.vjp, not for jax.jvp.
"""
import ctypes as _ctypes
import functools as _functools
import pathlib as _pathlib

import jax as _jax
import jax.dtypes as _dtypes
import jax.ffi as _ffi
import jax.nn as _nn
import jax.numpy as _jnp
import numpy as _np

import relayout as _relayout
from relayout import _ALIASES, _PAD_MODES, Error as _Error, _core, _frameworks

__all__ = ["permute", "transpose", "matrix_transpose", "cast", "pad", "img2col", "depthwise_conv1d", "chain"]

_TARGET = "relayout"
_NUMBERS = {name: (number, count) for number, (name, count) in enumerate(_core.operations())}
_ROUNDINGS = ("default", "nearest_even", "nearest_away", "toward_zero", "down", "up")
_MODES = ("constant", "replicate", "reflect", "symmetric", "circular", "reflect_zero_extended")


def _register():
    file = _pathlib.Path(_core.__file__).with_name("_jax_handlers.so")
    if not file.exists():
        raise ImportError("relayout was built without the handlers for jax: build it where python3 has jax, with "
                          "--no-build-isolation, or with -DRELAYOUT_JAX_INCLUDE=FOLDER of jax.ffi.include_dir()")
    library = _ctypes.CDLL(str(file))
    platforms = {"cpu": "relayout_jax_cpu"}
    for backend, platform in (("cuda", "CUDA"), ("hip", "ROCM")):
        if backend in _relayout.built_with():
            platforms[platform] = "relayout_jax_gpu"
    for platform, symbol in platforms.items():
        _ffi.register_ffi_target(_TARGET, _ffi.pycapsule(getattr(library, symbol)), platform=platform)


_register()


def _dtype(dtype):
    """jax's type of a name or a type."""
    name = _frameworks._TYPES[_frameworks.dtype_name(dtype)][0]
    return _jnp.dtype(getattr(_jnp, "bool_" if name == "bool" else name))


def _name(x):
    return _frameworks.dtype_name(x.dtype)


def _choice(value, choices, what):
    if value not in choices:
        raise _Error(f"{what} is {value!r}, and must be one of {', '.join(choices)}")
    return choices.index(value)


def _text(operation, **options):
    """What the handler reads; options that are None are left out."""
    words = [operation]
    for name, value in options.items():
        if value is None:
            continue
        values = value if isinstance(value, (tuple, list)) else (value,)
        words.append(f"{name}=" + ",".join(float(v).hex() if isinstance(v, float) else str(int(v)) if isinstance(v, bool)
                                           else str(v) for v in values))
    return " ".join(words)


def _call(text, operands, results, layouts=None):
    """The results, which are (shape, dtype). layouts: of the operands, then of the results; None is C order."""
    if all(0 in shape for shape, _ in results):
        return [_jnp.zeros(shape, dtype) for shape, dtype in results]
    options = {}
    if layouts is not None and any(layout is not None for layout in layouts):
        ranks = [x.ndim for x in operands] + [len(shape) for shape, _ in results]
        whole = [tuple(range(rank)) if layout is None else layout for rank, layout in zip(ranks, layouts)]
        text += "".join(f" layout{i}=" + ",".join(map(str, layout)) for i, layout in enumerate(layouts) if layout is not None)
        options = {"input_layouts": whole[:len(operands)], "output_layouts": whole[len(operands):]}
    made = _ffi.ffi_call(_TARGET, [_jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results],
                             vmap_method="sequential", **options)
    return list(made(*operands, call=text))


def _checked_layout(layout, x):
    """Counted from the first axis; None for C order."""
    if layout is None:
        return None
    counted = tuple(axis % x.ndim if -x.ndim <= axis < x.ndim else axis for axis in layout)
    if sorted(counted) != list(range(x.ndim)):
        raise _Error(f"layout is {tuple(layout)}, no permutation of the {x.ndim} axes of x")
    return None if counted == tuple(range(x.ndim)) else counted


def _check_rank(x, rank, what):
    if x.ndim != rank:
        raise _Error(f"{what} has {x.ndim} axes, and must have {rank}", "rank")


def _differentiable(backward):
    """A function of (arrays, static arguments) with a derivative by the floating arrays: backward(static, arrays, gradient)
    gives one for each array, None for none."""
    def run_backward(static, arrays, gradient):
        if getattr(gradient, "dtype", None) == _dtypes.float0:  # of integers nothing flows
            return ((None,) * len(arrays),)
        parts = backward(static, arrays, gradient)
        return (tuple(part if x is not None and _jnp.issubdtype(x.dtype, _jnp.inexact) else None
                      for x, part in zip(arrays, parts)),)

    def decorate(function):
        @_functools.partial(_jax.custom_vjp, nondiff_argnums=(1,))
        @_functools.wraps(function)
        def run(arrays, static):
            return function(arrays, static)

        run.defvjp(lambda arrays, static: (function(arrays, static), arrays), run_backward)
        return run
    return decorate


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
    counted = tuple(axis + x.ndim if axis < 0 else axis for axis in axes)
    if sorted(counted) != list(range(x.ndim)):
        raise _Error(f"axes are {list(axes)}, no permutation of the {x.ndim} axes of x")
    return _permute((x,), (counted, _frameworks.dtype_name(dtype), _checked_layout(layout, x)))


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


def _pair(pad_width):
    left, right = pad_width if isinstance(pad_width, (tuple, list)) else (pad_width, pad_width)
    return left, right


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


def _windows(x, taps, stride, dilation, groups, channel_outer, left, right):
    """img2col by jax's own operations, for its derivative."""
    padded = _jnp.pad(x, ((0, 0), (0, 0), (left, right)))
    positions = (padded.shape[2] - dilation * (taps - 1) - 1) // stride + 1
    index = stride * _np.arange(positions)[:, None] + dilation * _np.arange(taps)[None, :]
    windows = padded[:, :, index].reshape(x.shape[0], groups, x.shape[1] // groups, positions, taps)
    order = (1, 0, 3, 2, 4) if channel_outer else (1, 0, 3, 4, 2)
    windows = windows.transpose(order).reshape(groups, x.shape[0] * positions, -1)
    return windows[0] if groups == 1 else windows


def _img2col_backward(static, arrays, gradient):
    window, (left, right, mode, _, _), _ = static
    _only_constant(mode, "img2col")
    (x,) = arrays
    back = _jax.vjp(lambda x: _windows(x, *window, left, right), x.astype(_jnp.promote_types(x.dtype, _jnp.float32)))[1]
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


# Depthwise convolutions. Arrays are x, weights, bias, initial_state and sequence_ids, of which the last three may be None.


class _OnGpu:
    """A tensor of a shape, for the size of a workspace."""

    def __init__(self, x):
        self.x = x

    @property
    def __cuda_array_interface__(self):
        kind = {"f16": "<f2", "bf16": "<f2", "f32": "<f4"}[_name(self.x)]
        return {"data": (0, False), "shape": tuple(self.x.shape), "typestr": kind, "version": 3}


def _on_cpu(x):
    return _np.empty(x.shape, _np.float32 if _name(x) == "f32" else _np.float16)


def _workspace_bytes(x, weights, bias, state):
    """Where the call will run is not known yet, so the most of what it needs anywhere."""
    sample = _np.zeros((), _np.float32 if _name(x) == "f32" else _np.float16)
    bytes_ = 0
    for stand_in in (_on_cpu, _OnGpu) if _relayout.gpu_count() > 0 else (_on_cpu,):
        wide = _np.broadcast_to(sample, x.shape) if stand_in is _on_cpu else stand_in(x)
        w, b, s = (None if array is None else stand_in(array) for array in (weights, bias, state))
        bytes_ = max(bytes_, _relayout.depthwise_conv1d_backward_workspace_bytes(
            wide, w, wide, b, initial_state=s, d_weights=w, d_bias=b, d_initial_state=s))
    return bytes_


def _given(*arrays):
    return tuple(int(array is not None) for array in arrays)


def _depthwise_backward(static, arrays, gradients):
    silu, with_state, layout = static
    x, weights, bias, state, ids = arrays
    d_out, d_state = gradients if with_state else (gradients, None)
    wants = (True, bias is not None, state is not None)
    bytes_ = _workspace_bytes(x, weights, bias, state)
    operands = [array for array in (x, weights, bias, state, ids, d_out, d_state) if array is not None]
    results = [(x.shape, x.dtype)] + [((bytes_,), _jnp.uint8)] * (bytes_ > 0)
    results += [(array.shape, array.dtype) for array in (weights, bias, state) if array is not None]
    layouts = [layout if array is x or array is d_out else None for array in operands]
    text = _text("depthwise_conv1d_backward", silu=silu,
                 given=(*_given(x, weights, bias, state, ids, d_out, d_state), 1, int(bytes_ > 0), *map(int, wants)))
    made = _call(text, operands, results, [*layouts, layout] + [None] * (len(results) - 1))
    d_x, *others = made[:1] + made[1 + (bytes_ > 0):]
    others = iter(others)
    return (d_x, *(next(others) if want else None for want in wants), None)


@_differentiable(_depthwise_backward)
def _depthwise(arrays, static):
    silu, with_state, layout = static
    x, weights, bias, state, ids = arrays
    weights, bias = _taken(weights, x), _taken(bias, x)
    operands = [array for array in (x, weights, bias, state, ids) if array is not None]
    results = [(x.shape, x.dtype)]
    if with_state:
        results.append(((*x.shape[:2], weights.shape[1] - 1), x.dtype))
    text = _text("depthwise_conv1d", silu=silu, given=(*_given(x, weights, bias, state, ids), 1, int(with_state)))
    layouts = [layout] + [None] * (len(operands) - 1) + [layout] + [None] * (len(results) - 1)
    made = _call(text, operands, results, layouts)
    return tuple(made) if with_state else made[0]


def _taken(parameter, x):
    """Weights or a bias as the forward function takes them beside x: f32 or of x's type."""
    if parameter is None or parameter.dtype in (x.dtype, _jnp.float32):
        return parameter
    return parameter.astype(_jnp.float32)


def depthwise_conv1d(x, weights, bias=None, *, activation=None, initial_state=None, sequence_ids=None,
                     return_final_state=False, layout=None):
    """As relayout.depthwise_conv1d(): x [batch, channels, length], weights [channels, taps]. layout is that of x and of the
    output: (0, 2, 1) where channels are the innermost axis in memory. With return_final_state the pair (output, last
    taps - 1 samples [batch, channels, taps - 1]). Has a derivative by x, weights, bias and initial_state."""
    arrays = [None if array is None else _jnp.asarray(array) for array in (x, weights, bias, initial_state, sequence_ids)]
    x, weights, bias, state, ids = arrays
    _check_rank(x, 3, "x")
    _check_rank(weights, 2, "weights")
    silu = _choice(activation or "none", ("none", "silu"), "activation")
    ids = None if ids is None else ids.astype(_jnp.int32)
    return _depthwise((x, weights, bias, state, ids), (silu, bool(return_final_state), _checked_layout(layout, x)))


# Arithmetic


def _fmod(a, b):
    return a - b * _jax.lax.stop_gradient(_jnp.trunc(a / b))


def _mod(a, b):
    return a - b * _jax.lax.stop_gradient(_jnp.floor(a / b))


# The operations by jax's own, for their derivatives.
_REFERENCE = {
    "add": _jnp.add, "sub": _jnp.subtract, "mul": _jnp.multiply, "div": _jnp.true_divide, "truediv": _jnp.true_divide,
    "div_trunc": lambda a, b: _jnp.trunc(a / b), "div_floor": lambda a, b: _jnp.floor(a / b), "mod": _mod, "fmod": _fmod,
    "pow": _jnp.power, "maximum": _jnp.maximum, "minimum": _jnp.minimum, "fmax": _jnp.fmax, "fmin": _jnp.fmin,
    "prelu": lambda a, b: _jnp.where(a > 0, a, a * b), "abs_diff": lambda a, b: _jnp.abs(a - b),
    "squared_diff": lambda a, b: _jnp.square(a - b), "hypot": _jnp.hypot, "atan2": _jnp.arctan2,
    "copysign": _jnp.copysign, "equal": _jnp.equal, "not_equal": _jnp.not_equal, "less": _jnp.less,
    "less_equal": _jnp.less_equal, "greater": _jnp.greater, "greater_equal": _jnp.greater_equal,
    "isclose": _jnp.isclose, "logical_and": _jnp.logical_and, "logical_or": _jnp.logical_or,
    "logical_xor": _jnp.logical_xor, "where": lambda a, b, c: _jnp.where(a != 0, b, c),
    "clip": lambda a, low, high: _jnp.minimum(_jnp.maximum(a, low), high), "lerp": lambda a, b, c: a + c * (b - a),
    "neg": _jnp.negative, "abs": _jnp.abs, "sign": _jnp.sign, "relu": _nn.relu, "square": _jnp.square,
    "step": lambda a: (a > 0).astype(a.dtype), "floor": _jnp.floor, "ceil": _jnp.ceil, "trunc": _jnp.trunc,
    "round": _jnp.round, "logical_not": _jnp.logical_not, "isnan": _jnp.isnan, "isinf": _jnp.isinf,
    "isfinite": _jnp.isfinite, "sqrt": _jnp.sqrt, "rsqrt": _jax.lax.rsqrt, "reciprocal": lambda a: 1 / a, "exp": _jnp.exp,
    "exp2": _jnp.exp2, "expm1": _jnp.expm1, "log": _jnp.log, "log2": _jnp.log2, "log1p": _jnp.log1p, "sin": _jnp.sin,
    "cos": _jnp.cos, "tan": _jnp.tan, "sinh": _jnp.sinh, "cosh": _jnp.cosh, "tanh": _jnp.tanh, "asin": _jnp.arcsin,
    "acos": _jnp.arccos, "atan": _jnp.arctan, "erf": _jax.lax.erf, "sigmoid": _nn.sigmoid, "silu": _nn.silu,
    "gelu": _functools.partial(_nn.gelu, approximate=False),
    "gelu_tanh": _functools.partial(_nn.gelu, approximate=True), "softplus": _nn.softplus, "elu": _nn.elu,
    "hardswish": _nn.hard_silu, "hardsigmoid": _nn.hard_sigmoid}


def _operands(arrays, constants):
    """The arrays and numbers in their order; constants has a None for every array."""
    rest = iter(arrays)
    return [next(rest) if constant is None else constant for constant in constants]


def _by_reference(static, arrays):
    """A chain by jax's own operations, in f32, or in f64 where anything is f64."""
    operations, running, constants, _ = static
    value, rest = None, iter(_operands(arrays, constants))
    for name, place in zip(operations, running):
        if name not in _REFERENCE:
            raise _Error(f"{name} has no derivative", "unsupported")
        given = [next(rest) for _ in range(_NUMBERS[name][1] - (value is not None))]
        if value is not None:
            given.insert(place, value)
        value = _REFERENCE[name](*given)
    return value


def _chain_backward(static, arrays, gradient):
    floating = [_jnp.issubdtype(x.dtype, _jnp.floating) for x in arrays]
    compute = _jnp.float64 if _jnp.float64 in [x.dtype for x in (*arrays, gradient)] else _jnp.float32

    def result(*moving):
        rest = iter(moving)
        return _by_reference(static, [next(rest) if moves else x for x, moves in zip(arrays, floating)]).astype(compute)

    back = _jax.vjp(result, *(x.astype(compute) for x, moves in zip(arrays, floating) if moves))[1]
    parts = iter(back(gradient.astype(compute)))
    return tuple(next(parts).astype(x.dtype) if moves else None for x, moves in zip(arrays, floating))


def _word(constant):
    """An operand for the handler."""
    if constant is None:
        return "t"
    if isinstance(constant, bool):
        return f"b{int(constant)}"
    return f"i{constant}" if isinstance(constant, int) else f"f{constant.hex()}"


@_differentiable(_chain_backward)
def _chain(arrays, static):
    operations, running, constants, dtype = static
    rest = iter(arrays)
    kinds = tuple(_name(next(rest)) if constant is None else constant for constant in constants)
    steps = tuple((_NUMBERS[name][0], place) for name, place in zip(operations, running))
    result = dtype or _core.chain_dtype(steps, kinds)
    text = _text("chain", steps=operations, running=running, operands=[_word(constant) for constant in constants],
                 cast_out=None if dtype is None else 1)
    shape = _jnp.broadcast_shapes(*(x.shape for x in arrays))
    return _call(text, arrays, [(shape, _dtype(result))])[0]


def chain(steps, *operands, dtype=None):
    """Up to 8 operations in one pass over the memory, as relayout.chain(): chain(["add", "relu"], x, bias). Operands are
    arrays and Python's numbers."""
    named = [(step, 0) if isinstance(step, str) else tuple(step) for step in steps]
    operations = tuple(_ALIASES.get(name, name) for name, _ in named)
    for name in operations:
        if name not in _NUMBERS:
            raise _Error(f"relayout has no operation {name!r}")
    constants = tuple(x if isinstance(x, (bool, int, float)) else None for x in operands)
    arrays = tuple(_jnp.asarray(x) for x, constant in zip(operands, constants) if constant is None)
    if not arrays:
        raise _Error("one operand at least must be an array")
    return _chain(arrays, (operations, tuple(place for _, place in named), constants, _frameworks.dtype_name(dtype)))


def _make_operation(name, count):
    if count == 1:
        def run(a, /, *, dtype=None):
            return chain((name,), a, dtype=dtype)
    elif count == 2:
        def run(a, b, /, *, dtype=None):
            return chain((name,), a, b, dtype=dtype)
    else:
        def run(a, b, c, /, *, dtype=None):
            return chain((name,), a, b, c, dtype=dtype)
    run.__name__ = run.__qualname__ = name
    run.__module__ = __name__
    run.__doc__ = f"The operation {name}, element by element, with broadcasting; numbers are constants."
    return run


for _operation, (_, _count) in _NUMBERS.items():
    globals()[_operation] = _make_operation(_operation, _count)
    __all__.append(_operation)
for _alias, _operation in {**_ALIASES, "leaky_relu": "prelu"}.items():
    globals()[_alias] = globals()[_operation]
    __all__.append(_alias)
del _operation, _count, _alias
