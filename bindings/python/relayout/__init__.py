"""Tensors from one memory layout to another: permutations, casts, padding, img2col, arithmetic, depthwise conv1d.

Functions take and give tensors of numpy, torch, CuPy and whatever else speaks DLPack, without copies of them. Each has
`out=`; without it a new tensor of the first input's kind is made. Work on a GPU is queued on the framework's current
stream. Every function f has a twin plan_f, which gives a Plan to run as often as is wanted. What is wrong with a call is
an Error whose text is one sentence, and nothing is written then.
"""
import functools as _functools
import typing as _typing


class Error(Exception):
    """What the library refuses. `code` is the kind of error, as in "shape"."""

    def __init__(self, sentence, code="invalid_argument"):
        super().__init__(sentence)
        self.code = code


class Quantized(_typing.NamedTuple):
    """8-bit codes as an operand or an output: code q stands for scale * (q - zero). The scale and the zero point are
    numbers, or tensors that broadcast to the codes' shape."""
    codes: object
    scale: object = 1.0
    zero: object = 0


try:
    from . import _core, _frameworks  # they need nothing of the above, but are connected with it below
except ImportError as error:
    if "libamdhip64" not in str(error):
        raise
    raise ImportError(f"{error}: relayout_rocm needs the HIP runtime of ROCm, in the version that it was built with") from None
from ._core import Plan  # noqa: E402
from ._frameworks import View, dtype_name as _dtype_name  # noqa: E402

_core.connect(_frameworks, View, Error)
from ._redistribute import Distribution, Group, RedistributePlan, plan_redistribute, redistribute  # noqa: E402
__version__ = _core.version

(_CHAIN, _PERMUTE, _TRANSPOSE, _COPY, _CAST, _FILL, _QUANTIZED, _QUANTIZE, _DEQUANTIZE, _PAD, _IMG2COL, _REARRANGE,
 _DEPTHWISE, _UPDATE, _GEMM, _CONV1D, _BACKWARD, _VARLEN, _VARLEN_STATES) = range(19)
_OPERATIONS = {name: (number, count) for number, (name, count) in enumerate(_core.operations())}
# numpy's names for operations that have other names in the library.
_ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv", "floor_divide": "div_floor",
    "remainder": "mod", "power": "pow", "negative": "neg", "absolute": "abs", "bitwise_and": "bit_and",
    "bitwise_or": "bit_or", "bitwise_xor": "bit_xor", "bitwise_not": "bit_not", "invert": "bit_not",
    "left_shift": "shift_left", "right_shift": "shift_right", "rint": "round", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "arctan2": "atan2"}
_PAD_MODES = {"edge": "replicate", "wrap": "circular"}

__all__ = ["Distribution", "Error", "Group", "Plan", "Quantized", "RedistributePlan", "View", "built_with", "cache_clear",
           "cache_info", "depthwise_conv1d_backward_workspace_bytes", "gpu_count", "plan_redistribute", "redistribute"]


def built_with():
    """The back ends of the library, as in ("cpu", "cuda")."""
    return tuple(_core.built_with.split(","))


def gpu_count():
    """How many GPUs the library can work on."""
    return _core.gpu_count()


def cache_info():
    """(hits, misses, plans kept) of the plans of calls that were not planned. The last 256 are kept."""
    return _core.cache_info()


def cache_clear():
    """Forgets these plans."""
    _core.cache_clear()


def _with_dtype(options):
    if options.get("dtype") is not None:
        options["dtype"] = _dtype_name(options["dtype"])
    return options


def _public(arguments):
    """From a function that gives the extension's arguments: the function of its name, and its twin plan_."""
    @_functools.wraps(arguments)
    def run(*operands, **options):
        return _core.call(*arguments(*operands, **options))

    @_functools.wraps(arguments)
    def plan(*operands, **options):
        return _core.plan(*arguments(*operands, **options))

    name = arguments.__name__
    plan.__name__ = plan.__qualname__ = f"plan_{name}"
    plan.__doc__ = f"A Plan of {name}(), which takes the same arguments."
    globals()[plan.__name__] = plan
    __all__.extend((name, plan.__name__))
    return run


@_public
def permute(x, axes, *, out=None, **options):
    """Result axis j is axis axes[j] of x. Options: dtype, alpha, beta (out = alpha * x + beta * out), cast_rounding,
    saturate_fp8, saturate_integers."""
    return _PERMUTE, None, (x,), out, _with_dtype({**options, "axes": axes})


@_public
def transpose(x, axes=None, *, out=None, **options):
    """permute() as numpy.transpose: without axes all of them are reversed."""
    return _PERMUTE, None, (x,), out, _with_dtype({**options, "axes": axes})


@_public
def matrix_transpose(x, *, out=None, **options):
    """The last two axes exchanged. Options as permute()."""
    return _TRANSPOSE, None, (x,), out, _with_dtype(options)


@_public
def copy(x, *, out=None, **options):
    """The elements of x in C order; `out` may have another shape of as many elements. Options as permute()."""
    return _COPY, None, (x,), out, _with_dtype(options)


@_public
def contiguous(x, *, out=None):
    """x in C order without gaps, always in new memory or in `out`."""
    return _COPY, None, (x,), out, None


@_public
def cast(x, dtype=None, *, out=None, **options):
    """x as elements of another type: of `dtype`, or of out's. Options as permute()."""
    return _CAST, None, (x,), out, _with_dtype({**options, "dtype": dtype})


@_public
def fill(out, value, **options):
    """Every element of `out` becomes the number `value`. Options: cast_rounding, saturate_fp8, saturate_integers."""
    return _FILL, None, (_frameworks.as_number(value, "value"),), out, options


def _both_sides(pad_width):
    if not isinstance(pad_width, (tuple, list)):
        return pad_width, pad_width
    if len(pad_width) != 2:
        raise TypeError("pad_width must be a number or (left, right)")
    return pad_width


@_public
def pad(x, pad_width, mode="constant", *, constant_values=0, policy="strict", out=None, dtype=None):
    """Samples before and behind a signal [batch, channels, length]: pad_width is a number or (left, right), negative
    ones cut off. Modes: constant, replicate (edge), reflect, symmetric, circular (wrap), reflect_zero_extended.
    policy="extended" takes pads of any size, as numpy does."""
    left, right = _both_sides(pad_width)
    return _PAD, None, (x,), out, _with_dtype({"left": left, "right": right, "mode": _PAD_MODES.get(mode, mode),
                                               "value": constant_values, "policy": policy, "dtype": dtype})


@_public
def img2col(x, taps, *, stride=1, dilation=1, groups=1, order="tap_outer", pad_width=0, mode="constant",
            constant_values=0, policy="strict", out=None, dtype=None):
    """A convolution's input [batch, channels, length] as a matrix [batch * positions, taps * channels], one row for each
    position, cast and padded on the way; a matrix for each group where there are more."""
    return _IMG2COL, None, (x,), out, _window(taps, stride, dilation, groups, pad_width, dtype, mode=mode, order=order,
                                              value=constant_values, policy=policy)


def _window(taps, stride, dilation, groups, pad_width, dtype, mode="constant", **options):
    left, right = _both_sides(pad_width)
    return _with_dtype({"taps": taps, "stride": stride, "dilation": dilation, "groups": groups, "left": left,
                        "right": right, "dtype": dtype, "mode": _PAD_MODES.get(mode, mode), **options})


@_public
def rearrange_weights(weights, *, order="tap_outer", out=None, dtype=None):
    """Weights [out channels, channels of a group, taps] as the GEMM's [out channels, taps * channels of a group]."""
    return _REARRANGE, None, (weights,), out, _with_dtype({"order": order, "dtype": dtype})


def _sequence_options(activation, null_index, null_output, block_size=0):
    if activation is None and null_index == -1 and null_output == "zeros" and block_size == 0:
        return None
    return {"activation": activation, "null_index": null_index, "null_output": null_output, "block_size": block_size}


@_public
def depthwise_conv1d(x, weights, bias=None, *, activation=None, initial_state=None, final_state=None, sequence_ids=None,
                     out=None):
    """Causal, each channel with its own taps: x [batch, channels, length], weights [channels, taps], bias [channels].
    activation="silu" is applied to the result. The states are [batch, channels, taps - 1]; final_state is written.
    sequence_ids, i32 [batch, length], keep sequences of one row apart."""
    return (_DEPTHWISE, None, (x, weights, bias, initial_state, final_state, sequence_ids), out,
            {"activation": activation} if activation is not None else None)


@_public
def depthwise_update(state, x, weights, bias=None, *, activation=None, state_indices=None, null_index=-1,
                     null_output="zeros", cache_seqlens=None, num_accepted_tokens=None, query_start_loc=None,
                     initial_block=None, last_block=None, out=None):
    """New samples x [batch, channels, n] behind a state [batch, channels, taps - 1 or more], which moves on in place.
    state_indices, i32 [batch], say which row of a table of states a sequence has; one that is negative, null_index or no
    row has none, and its outputs are 0, or stay for null_output="untouched". With cache_seqlens, i32 [batch], states are
    rings. num_accepted_tokens, i32 [batch], are for speculative decoding. With query_start_loc, i32 [batch + 1], x is
    [channels, total], and the sequences lie in it one behind the other. With state_indices [batch, blocks] the state comes
    from block initial_block[b] of a sequence and goes to block last_block[b]. out may be x."""
    return (_UPDATE, None, (state, x, weights, bias, state_indices, cache_seqlens, num_accepted_tokens, query_start_loc,
                            initial_block, last_block), out, _sequence_options(activation, null_index, null_output))


@_public
def depthwise_varlen(x, query_start_loc, weights, bias=None, *, activation=None, states=None, state_indices=None,
                     has_initial_state=None, null_index=-1, null_output="zeros", initial_block=None, last_block=None,
                     block_size=0, first_block=None, computed_tokens=None, out=None):
    """Sequences of any lengths, one behind the other in x [channels, total]: those of query_start_loc, i32 [batch + 1].
    states [batch, channels, taps - 1], or a table with the rows state_indices, come before the sequences for which
    has_initial_state, bool [batch], is true; the last samples of every sequence replace them. With state_indices [batch,
    blocks] they come from block initial_block[b] of a sequence and go to block last_block[b]; with a block_size the states
    behind every multiple of it, the computed_tokens[b] samples before these counted in, go to the blocks from
    first_block[b] on, up to last_block[b]."""
    return (_VARLEN, None, (x, query_start_loc, weights, bias, states, state_indices, has_initial_state, initial_block,
                            last_block, first_block, computed_tokens), out,
            _sequence_options(activation, null_index, null_output, block_size))


@_public
def depthwise_varlen_states(x, query_start_loc, state_length, *, out=None):
    """The last state_length samples of each sequence of x [channels, total], zeros before its first one: [batch, channels,
    state_length]."""
    return _VARLEN_STATES, None, (x, query_start_loc), out, {"state_length": state_length}


@_public
def depthwise_conv1d_backward(x, weights, d_out, bias=None, *, activation=None, initial_state=None, sequence_ids=None,
                              d_final_state=None, d_weights=None, d_bias=None, d_initial_state=None, workspace=None,
                              out=None):
    """The gradient by x of depthwise_conv1d, which was given x, weights, bias, activation, initial_state and sequence_ids;
    d_out and d_final_state are the gradients of its results. Tensors d_weights, d_bias and d_initial_state, where given,
    receive those by these. The workspace, one-dimensional of u8, has as many bytes as
    depthwise_conv1d_backward_workspace_bytes says; without one it is made. A Plan keeps its own, so its runs follow
    each other on one stream."""
    optional = (bias, initial_state, sequence_ids, d_final_state, d_weights, d_bias, d_initial_state)
    options = {"activation": activation} if activation is not None else None
    if workspace is None:
        count = _core.workspace_bytes(_BACKWARD, None, (x, d_out, None, weights, *optional), out, options)
        workspace = _frameworks.empty(x, (count,), "u8") if count > 0 else None
    return _BACKWARD, None, (x, d_out, workspace, weights, *optional), out, options


def depthwise_conv1d_backward_workspace_bytes(x, weights, d_out, bias=None, **arguments):
    """Bytes of the workspace of a depthwise_conv1d_backward with these arguments: by shapes, types and what is wanted."""
    names = ("initial_state", "sequence_ids", "d_final_state", "d_weights", "d_bias", "d_initial_state")
    unknown = set(arguments) - {*names, "activation", "workspace", "out"}
    if unknown:
        raise TypeError(f"there is no argument {min(unknown)!r}")
    return _core.workspace_bytes(_BACKWARD, None, (x, d_out, None, weights, bias, *map(arguments.get, names)), None, None)


@_public
def gemm(a, bt, bias=None, *, workspace=None, out=None, dtype=None):
    """a [m, k] times the transpose of bt [n, k], plus bias, with f32 sums; both of f16 or bf16. dtype may be f32."""
    return _GEMM, None, (a, bt, bias, workspace), out, _with_dtype({"dtype": dtype})


@_public
def conv1d(x, weights, bias=None, *, stride=1, dilation=1, groups=1, pad_width=0, route="operand", out=None, dtype=None):
    """The convolution of x [batch, channels, length] with weights [out channels, channels of a group, taps], as
    [batch, positions, out channels] of f16 or bf16. A causal one has pad_width=((taps - 1) * dilation, 0). Its plan
    prepares the weights once; a call without a plan prepares them each time."""
    return _CONV1D, None, (x, weights, bias), out, _window(None, stride, dilation, groups, pad_width, dtype, route=route)


@_public
def quantize(x, scale, zero=0, *, dtype=None, out=None):
    """x as codes of i8 or u8, without dtype and out of i8: clamp(nearest_even(x / scale) + zero). The scale and the zero
    point are numbers or tensors."""
    return _QUANTIZE, None, (x,), Quantized(out, scale, zero), _with_dtype({"dtype": dtype})


@_public
def dequantize(codes, scale, zero=0, *, out=None):
    """Codes as f32: (codes - zero) * scale."""
    return _DEQUANTIZE, None, (Quantized(codes, scale, zero),), out, None


@_public
def quantized(operation, *operands, out):
    """An operation that is computed in f32, whatever the operands are."""
    return _QUANTIZED, _number(operation), operands, out, None


def _number(name):
    found = _OPERATIONS.get(_ALIASES.get(name, name))
    if found is None:
        raise Error(f"relayout has no operation {name!r}")
    return found[0]


def _step(step):
    if isinstance(step, str):
        return step, 0
    if not isinstance(step, (tuple, list)) or len(step) != 2:
        raise TypeError(f"a step is a name or (name, operand), and not {step!r}")
    return step


@_public
def chain(steps, *operands, out=None, **options):
    """Up to 8 operations in one pass over the memory: chain(["add", "relu"], x, bias). A step is a name, or (name,
    which of its operands is what the operation before gave): chain(["add", ("divide", 1)], std, 1e-5, x). Options:
    dtype, broadcasting ("numpy", "repeat"), rounding, precision, flush_to_zero, rtol, atol, equal_nan, cast_rounding,
    saturate_fp8, saturate_integers."""
    numbers = tuple((_number(name), place) for name, place in map(_step, steps))
    return _CHAIN, numbers, operands, out, _with_dtype(options)


def _make_operation(name, number, count):
    call, plan = _core.call, _core.plan
    if count == 1:
        def run(a, /, *, out=None, **options):
            return call(_CHAIN, number, (a,), out, _with_dtype(options) if options else None)
    elif count == 2:
        def run(a, b, /, *, out=None, **options):
            return call(_CHAIN, number, (a, b), out, _with_dtype(options) if options else None)
    else:
        def run(a, b, c, /, *, out=None, **options):
            return call(_CHAIN, number, (a, b, c), out, _with_dtype(options) if options else None)

    def plan_it(*operands, out=None, **options):
        if len(operands) != count:
            raise TypeError(f"{name} takes {count} operands, and {len(operands)} were given")
        return plan(_CHAIN, number, operands, out, _with_dtype(options))

    run.__doc__ = (f"The operation {name}, element by element, with numpy's broadcasting; numbers are constants. Options "
                   "as chain().")
    plan_it.__doc__ = f"A Plan of {name}(), which takes the same arguments."
    for made, its_name in ((run, name), (plan_it, f"plan_{name}")):
        made.__name__ = made.__qualname__ = its_name
        made.__module__ = __name__
        globals()[its_name] = made
        __all__.append(its_name)


for _name, (_index, _count) in _OPERATIONS.items():
    _make_operation(_name, _index, _count)
for _alias, _name in _ALIASES.items():
    for _prefix in ("", "plan_"):
        globals()[_prefix + _alias] = globals()[_prefix + _name]
        __all__.append(_prefix + _alias)
leaky_relu, plan_leaky_relu = globals()["prelu"], globals()["plan_prelu"]
__all__ += ["leaky_relu", "plan_leaky_relu"]
del _name, _index, _count, _alias, _prefix
