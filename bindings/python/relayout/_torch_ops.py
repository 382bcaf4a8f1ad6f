"""relayout's functions as operators of torch.library, in the namespace torch.ops.relayout: what runs, what is known without
running (fake), and the derivatives. relayout.torch has the functions that users call."""
import functools
import typing

import torch

if not hasattr(torch.library, "register_autograd"):
    raise ImportError(f"relayout.torch needs torch 2.4 or newer, and this is torch {torch.__version__}")

import relayout
from relayout import _OPERATIONS, _core, _derivatives, _frameworks
from relayout._operations import counted_axes
from relayout._tangents import without_tangents

_ops = torch.ops.relayout
_library = torch.library.Library("relayout", "DEF")
_TAGS = tuple(getattr(torch.Tag, name) for name in ("pt2_compliant_tag", "needs_fixed_stride_order")
              if hasattr(torch.Tag, name))


def _define(schema, run, fake, backward=None, setup=None):
    """backward None: the operator has no derivative, which setup says for tensors that want one. No argument has a default,
    since torch leaves out those that are given one's value, and then expects as many gradients fewer."""
    name = schema.partition("(")[0]
    _library.define(schema, tags=_TAGS)
    for device in ("CPU", "CUDA"):
        _library.impl(name, without_tangents(run), device)
    torch.library.register_fake(f"relayout::{name}", fake, lib=_library)
    if setup is not None:
        torch.library.register_autograd(f"relayout::{name}", backward or _nothing, setup_context=setup, lib=_library)


def _nothing(ctx, *gradients):
    raise AssertionError("an operator without a derivative was recorded")


def _refuse(name):
    raise relayout.Error(f"{name} has no derivative, and a tensor requires a gradient: pass its detach(), or call it "
                         "under torch.no_grad()", "unsupported")


def _without_derivative(name):
    def setup(ctx, inputs, output):
        _refuse(name)
    return setup


def _refuse_gradients(name, *tensors):
    """For operators that write to an argument, which can have no derivative registered."""
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        _refuse(name)


def _check_rank(x, rank, name):
    if x.dim() != rank:
        raise relayout.Error(f"{name} has {x.dim()} axes, and must have {rank}", "rank")


def _sum_type(dtype):
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


# Movement


def _permute_fake(x, axes, dtype=None):
    return x.new_empty([x.shape[axis] for axis in counted_axes(axes, x.dim())], dtype=dtype or x.dtype)


def _permute_setup(ctx, inputs, output):
    x, axes, _ = inputs
    counted = counted_axes(axes, x.dim())
    ctx.back, ctx.dtype = [counted.index(axis) for axis in range(len(counted))], x.dtype


def _permute_backward(ctx, gradient):
    return _ops.permute(gradient, ctx.back, ctx.dtype), None, None


def _cast_setup(ctx, inputs, output):
    ctx.dtype = inputs[0].dtype


_define("permute(Tensor x, int[] axes, ScalarType? dtype) -> Tensor",
        lambda x, axes, dtype=None: relayout.permute(x, axes, dtype=dtype), _permute_fake, _permute_backward, _permute_setup)
_define("copy(Tensor x, ScalarType? dtype) -> Tensor",
        lambda x, dtype=None: relayout.copy(x, dtype=dtype),
        lambda x, dtype=None: x.new_empty(x.shape, dtype=dtype or x.dtype),
        lambda ctx, gradient: (_ops.copy(gradient, ctx.dtype), None), _cast_setup)
_define("cast(Tensor x, ScalarType dtype, str? cast_rounding, bool? saturate_fp8, bool? saturate_integers) "
        "-> Tensor",
        lambda x, dtype, cast_rounding=None, saturate_fp8=None, saturate_integers=None: relayout.cast(
            x, dtype, cast_rounding=cast_rounding, saturate_fp8=saturate_fp8, saturate_integers=saturate_integers),
        lambda x, dtype, *_: x.new_empty(x.shape, dtype=dtype),
        lambda ctx, gradient: (_ops.copy(gradient, ctx.dtype), None, None, None, None), _cast_setup)


# Signals


def _pad_run(x, left, right, mode="constant", value=0.0, policy="strict", dtype=None):
    return relayout.pad(x, (left, right), mode, constant_values=value, policy=policy, dtype=dtype)


def _pad_fake(x, left, right, mode="constant", value=0.0, policy="strict", dtype=None):
    _check_rank(x, 3, "x")
    return x.new_empty((x.shape[0], x.shape[1], x.shape[2] + left + right), dtype=dtype or x.dtype)


def _pad_setup(ctx, inputs, output):
    x, ctx.left, ctx.right, mode, *_ = inputs
    if mode != "constant":
        _refuse(f"pad of mode '{mode}'")
    ctx.dtype = x.dtype


def _cut(x, left, right, dtype):
    """Without that many samples before and behind; zeros where they are negative."""
    return _ops.pad(x, -left, -right, "constant", 0.0, "strict", dtype)


def _pad_backward(ctx, gradient):
    return _cut(gradient, ctx.left, ctx.right, ctx.dtype), *(None,) * 6


_define("pad(Tensor x, SymInt left, SymInt right, str mode, float value, str policy, "
        "ScalarType? dtype) -> Tensor", _pad_run, _pad_fake, _pad_backward, _pad_setup)


def _img2col_run(x, taps, stride=1, dilation=1, groups=1, order="tap_outer", left=0, right=0, mode="constant", value=0.0,
                 policy="strict", dtype=None):
    return relayout.img2col(x, taps, stride=stride, dilation=dilation, groups=groups, order=order, pad_width=(left, right),
                            mode=mode, constant_values=value, policy=policy, dtype=dtype)


def positions(length, taps, stride, dilation, left, right):
    """How many windows a padded signal has."""
    return (length + left + right - dilation * (taps - 1) - 1) // stride + 1


def _img2col_fake(x, taps, stride=1, dilation=1, groups=1, order="tap_outer", left=0, right=0, mode="constant", value=0.0,
                  policy="strict", dtype=None):
    _check_rank(x, 3, "x")
    rows = x.shape[0] * positions(x.shape[2], taps, stride, dilation, left, right)
    columns = taps * (x.shape[1] // groups)
    return x.new_empty((rows, columns) if groups == 1 else (groups, rows, columns), dtype=dtype or x.dtype)


def _img2col_setup(ctx, inputs, output):
    x, *ctx.window, mode, _, _, _ = inputs
    if mode != "constant":
        _refuse(f"img2col of mode '{mode}'")
    ctx.shape, ctx.dtype = x.shape, x.dtype


def _img2col_backward(ctx, gradient):
    """Each sample gets the sum over the windows that saw it: torch's fold, of the padded signal."""
    batch, channels, length = ctx.shape
    taps, stride, dilation, groups, order, left, right = ctx.window
    split = (taps, channels // groups) if order == "tap_outer" else (channels // groups, taps)
    windows = gradient.to(_sum_type(gradient.dtype)).reshape(groups, batch, -1, *split)
    windows = windows.permute((1, 0, 4, 3, 2) if order == "tap_outer" else (1, 0, 3, 4, 2))
    signal = torch.nn.functional.fold(windows.reshape(batch, channels * taps, -1), (1, length + left + right), (1, taps),
                                      dilation=(1, dilation), stride=(1, stride)).squeeze(2)
    return _cut(signal, left, right, ctx.dtype), *(None,) * 11


_define("img2col(Tensor x, int taps, int stride, int dilation, int groups, str order, SymInt left, "
        "SymInt right, str mode, float value, str policy, ScalarType? dtype) -> Tensor",
        _img2col_run, _img2col_fake, _img2col_backward, _img2col_setup)


def _rearrange_fake(weights, order="tap_outer", dtype=None):
    _check_rank(weights, 3, "weights")
    return weights.new_empty((weights.shape[0], weights.shape[1] * weights.shape[2]), dtype=dtype or weights.dtype)


def _rearrange_setup(ctx, inputs, output):
    weights, ctx.order, _ = inputs
    ctx.shape, ctx.dtype = weights.shape, weights.dtype


def _rearrange_backward(ctx, gradient):
    rows, channels, taps = ctx.shape
    split = gradient.reshape((rows, taps, channels) if ctx.order == "tap_outer" else (rows, channels, taps))
    return _ops.permute(split, (0, 2, 1) if ctx.order == "tap_outer" else (0, 1, 2), ctx.dtype), None, None


_define("rearrange_weights(Tensor weights, str order, ScalarType? dtype) -> Tensor",
        lambda weights, order="tap_outer", dtype=None: relayout.rearrange_weights(weights, order=order, dtype=dtype),
        _rearrange_fake, _rearrange_backward, _rearrange_setup)


def _gemm_setup(ctx, inputs, output):
    a, bt, bias, _ = inputs
    ctx.save_for_backward(a, bt)
    ctx.bias = None if bias is None else (bias.shape, bias.dtype)


def _gemm_backward(ctx, gradient):
    a, bt = ctx.saved_tensors
    wants_a, wants_bt, wants_bias, _ = ctx.needs_input_grad
    short = gradient.to(a.dtype)
    d_bias = None
    if wants_bias:  # [groups, m, n] and a bias for each group's n, one behind the other
        d_bias = gradient.sum(-2, dtype=torch.float32).reshape(ctx.bias[0]).to(ctx.bias[1])
    return short @ bt if wants_a else None, short.transpose(-1, -2) @ a if wants_bt else None, d_bias, None


_define("gemm(Tensor a, Tensor bt, Tensor? bias, ScalarType? dtype) -> Tensor",
        lambda a, bt, bias=None, dtype=None: relayout.gemm(a, bt, bias, dtype=dtype),
        lambda a, bt, bias=None, dtype=None: a.new_empty((*a.shape[:-1], bt.shape[-2]), dtype=dtype or a.dtype),
        _gemm_backward, _gemm_setup)


# Codes


def _quantize_run(x, scales, scale, zeros, zero, dtype):
    return relayout.quantize(x, scale if scales is None else scales, zero if zeros is None else zeros, dtype=dtype)


def _dequantize_run(codes, scales, scale, zeros, zero):
    return relayout.dequantize(codes, scale if scales is None else scales, zero if zeros is None else zeros)


_define("quantize(Tensor x, Tensor? scales, float scale, Tensor? zeros, int zero, ScalarType dtype) -> Tensor", _quantize_run,
        lambda x, scales, scale, zeros, zero, dtype: x.new_empty(x.shape, dtype=dtype), None, _without_derivative("quantize"))
_define("dequantize(Tensor codes, Tensor? scales, float scale, Tensor? zeros, int zero) -> Tensor", _dequantize_run,
        lambda codes, *_: codes.new_empty(codes.shape, dtype=torch.float32), None, _without_derivative("dequantize"))


# Arithmetic: one operator for all operations, alone or several in one pass. Operands are the tensors in their order, with
# the numbers `constants` at the places `places` between them.


def _operands(tensors, places, constants):
    at, rest = dict(zip(places, constants)), iter(tensors)
    return [at[i] if i in at else next(rest) for i in range(len(tensors) + len(constants))]


@functools.lru_cache(maxsize=4096)
def _result_name(steps, kinds):
    """relayout's name for the type of the result. kinds: for each operand a type's name, or a number's (class, value)."""
    operands = tuple(kind if isinstance(kind, str) else kind[0](kind[1]) for kind in kinds)
    return _core.chain_dtype(steps, operands)


def _kind(operand):
    if isinstance(operand, torch.Tensor):
        return _frameworks.dtype_name(operand.dtype)
    for symbolic, plain in ((torch.SymBool, bool), (torch.SymInt, int), (torch.SymFloat, float)):
        if isinstance(operand, symbolic):
            return plain, plain(0)
    return type(operand), operand


def torch_type(dtype):
    """torch's type of a name or a type."""
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype
    return getattr(torch, _frameworks._TYPES[_frameworks.dtype_name(dtype)][0])


def _steps(operations, running):
    return tuple((_OPERATIONS[name][0], place) for name, place in zip(operations, running))


def _chain_run(operations, running, tensors, places, constants, dtype=None):
    options = None if dtype is None else {"dtype": _frameworks.dtype_name(dtype)}
    return _core.call(relayout._CHAIN, _steps(operations, running), tuple(_operands(tensors, places, constants)), None,
                      options)


def _chain_fake(operations, running, tensors, places, constants, dtype=None):
    if dtype is None:
        kinds = tuple(map(_kind, _operands(tensors, places, constants)))
        dtype = torch_type(_result_name(_steps(operations, running), kinds))
    return tensors[0].new_empty(torch.broadcast_shapes(*(x.shape for x in tensors)), dtype=dtype)


def _inputs_of(operations, running):
    """For each operation the places of its operands among the chain's; None is what the operation before gave."""
    taken, steps = 0, []
    for name, place in zip(operations, running):
        own = _OPERATIONS[name][1] - bool(steps)
        places = list(range(taken, taken + own))
        taken += own
        if steps:
            places.insert(place, None)
        steps.append(places)
    return steps


def chain(operations, running, operands, dtype=None):
    """The operator, from operands as users write them."""
    tensors = [x for x in operands if isinstance(x, torch.Tensor)]
    places = [i for i, x in enumerate(operands) if not isinstance(x, torch.Tensor)]
    return _ops.chain(operations, running, tensors, places, [operands[i] for i in places], dtype)


class _Kind(typing.NamedTuple):
    """What is kept of a tensor whose elements no derivative needs."""
    shape: torch.Size
    dtype: torch.dtype


def _chain_setup(ctx, inputs, output):
    ctx.operations, ctx.running, tensors, ctx.places, ctx.constants, _ = inputs
    if len(ctx.operations) == 1 and ctx.operations[0] in _derivatives.CONSTANT:
        ctx.kinds = [_Kind(x.shape, x.dtype) for x in tensors]
    else:
        ctx.kinds = None
        ctx.save_for_backward(*tensors)


def _chain_backward(ctx, gradient):
    operands = _operands(ctx.kinds or ctx.saved_tensors, ctx.places, ctx.constants)
    wanted = _operands(ctx.needs_input_grad[2], ctx.places, [False] * len(ctx.places))
    steps, value = [], None
    for number, (name, places) in enumerate(zip(ctx.operations, _inputs_of(ctx.operations, ctx.running))):
        given = [value if place is None else operands[place] for place in places]
        flows = [value.is_floating_point() if place is None else wanted[place] for place in places]
        steps.append((name, places, given, flows))
        if number + 1 < len(ctx.operations):
            value = chain([name], [0], given)
    result = [None] * len(operands)
    for name, places, given, flows in reversed(steps):
        before = None
        for place, part in zip(places, _derivatives.gradients(name, given, flows, gradient)):
            if place is None:
                before = part
            else:
                result[place] = part
        if before is None:
            break
        gradient = before
    # torch takes an empty list for a list of no numbers, and None for others.
    nothing = None if ctx.places else []
    return None, None, [x for i, x in enumerate(result) if i not in ctx.places], nothing, nothing, None


_define("chain(str[] operations, int[] running, Tensor[] tensors, int[] places, Scalar[] constants, "
        "ScalarType? dtype) -> Tensor", _chain_run, _chain_fake, _chain_backward, _chain_setup)
