"""relayout's functions as operators of torch.library, for torch 2.4 and later: with derivatives, and known to torch.compile.

    import relayout.torch
    relayout.torch.permute(x, (0, 2, 3, 1), dtype=torch.bfloat16)

They are those of the package, of the same names, for tensors of torch. Results are new tensors, so there is no `out=`; only
depthwise_update and depthwise_varlen write to an argument, their states. Every function that can has a derivative; the
others refuse tensors that require a gradient. The operators are torch.ops.relayout.*. They work on the current stream, and
can be captured in CUDA graphs once they have run with the same shapes on the capturing stream.
"""
import torch as _torch

from relayout import _PAD_MODES, Error as _Error
from relayout._operations import functions as _functions, names_and_places as _names_and_places, pair as _pair
from relayout._tangents import without_tangents as _without_tangents
from relayout._torch_ops import _ops, chain as _chain, positions as _positions, torch_type as _torch_type
from relayout import _torch_depthwise  # noqa: F401 (its operators are in _ops)

__all__ = ["permute", "transpose", "matrix_transpose", "copy", "contiguous", "cast", "pad", "img2col", "rearrange_weights",
           "gemm", "conv1d", "depthwise_conv1d", "depthwise_update", "depthwise_update_functional", "depthwise_varlen",
           "depthwise_varlen_states", "quantize", "dequantize", "chain"]


def permute(x, axes, *, dtype=None):
    """Result axis j is axis axes[j] of x."""
    return _ops.permute(x, axes, _torch_type(dtype))


def transpose(x, axes=None, *, dtype=None):
    """permute() as numpy.transpose: without axes all of them are reversed."""
    return permute(x, tuple(range(x.dim()))[::-1] if axes is None else axes, dtype=dtype)


def matrix_transpose(x, *, dtype=None):
    """The last two axes exchanged."""
    if x.dim() < 2:
        raise _Error(f"x has {x.dim()} axes, and needs two", "rank")
    return permute(x, (*range(x.dim() - 2), -1, -2), dtype=dtype)


def copy(x, *, dtype=None):
    """The elements of x in C order, in new memory."""
    return _ops.copy(x, _torch_type(dtype))


def contiguous(x):
    """x in C order without gaps, always in new memory."""
    return _ops.copy(x, None)


def cast(x, dtype, *, cast_rounding=None, saturate_fp8=None, saturate_integers=None):
    """x as elements of another type, in C order. The options are those of relayout.cast()."""
    return _ops.cast(x, _torch_type(dtype), cast_rounding, saturate_fp8, saturate_integers)


def pad(x, pad_width, mode="constant", *, constant_values=0, policy="strict", dtype=None):
    """Samples before and behind a signal [batch, channels, length], as relayout.pad(). The mode "constant" has a
    derivative."""
    return _ops.pad(x, *_pair(pad_width), _PAD_MODES.get(mode, mode), constant_values, policy, _torch_type(dtype))


def img2col(x, taps, *, stride=1, dilation=1, groups=1, order="tap_outer", pad_width=0, mode="constant",
            constant_values=0, policy="strict", dtype=None):
    """A convolution's input [batch, channels, length] as a matrix [batch * positions, taps * channels], as
    relayout.img2col(). The mode "constant" has a derivative."""
    return _ops.img2col(x, taps, stride, dilation, groups, order, *_pair(pad_width), _PAD_MODES.get(mode, mode),
                        constant_values, policy, _torch_type(dtype))


def rearrange_weights(weights, *, order="tap_outer", dtype=None):
    """Weights [out channels, channels of a group, taps] as the GEMM's [out channels, taps * channels of a group]."""
    return _ops.rearrange_weights(weights, order, _torch_type(dtype))


def gemm(a, bt, bias=None, *, dtype=None):
    """a [m, k] times the transpose of bt [n, k], plus bias [n], with f32 sums; both of f16 or bf16. dtype may be f32."""
    return _ops.gemm(a, bt, None if bias is None else bias.to(_torch.float32).contiguous(), _torch_type(dtype))


def conv1d(x, weights, bias=None, *, stride=1, dilation=1, groups=1, pad_width=0, dtype=None):
    """The convolution of x [batch, channels, length] with weights [out channels, channels of a group, taps], as
    [batch, positions, out channels], all of f16 or bf16: img2col() and gemm()."""
    rows, _, taps = weights.shape
    left, right = _pair(pad_width)
    a = img2col(x, taps, stride=stride, dilation=dilation, groups=groups, pad_width=(left, right))
    bt = rearrange_weights(weights)
    if groups > 1:
        bt = bt.unflatten(0, (groups, rows // groups))
    y = gemm(a, bt, bias, dtype=dtype)
    if groups > 1:
        y = permute(y, (1, 0, 2))
    return y.reshape(x.shape[0], _positions(x.shape[2], taps, stride, dilation, left, right), rows)


def depthwise_conv1d(x, weights, bias=None, *, activation=None, initial_state=None, sequence_ids=None,
                     return_final_state=False):
    """As relayout.depthwise_conv1d(); the output lies in memory as x does. With return_final_state the pair (output, last
    taps - 1 samples [batch, channels, taps - 1])."""
    out, state = _ops.depthwise_conv1d(x, weights, bias, activation or "none", initial_state, sequence_ids,
                                       return_final_state)
    return (out, state) if return_final_state else out


def depthwise_update(state, x, weights, bias=None, *, activation=None, state_indices=None, null_index=-1,
                     cache_seqlens=None, num_accepted_tokens=None, query_start_loc=None):
    """As relayout.depthwise_update(): new samples behind a state, which moves on in place. Has no derivative."""
    return _ops.depthwise_update(state, x, weights, bias, activation or "none", state_indices, null_index, cache_seqlens,
                                 num_accepted_tokens, query_start_loc)


def depthwise_update_functional(state, x, weights, bias=None, *, activation=None, state_indices=None, null_index=-1,
                                cache_seqlens=None, num_accepted_tokens=None, query_start_loc=None):
    """depthwise_update() that gives (output, new state) and leaves the state alone, for where nothing may be written to.
    Copies the whole state. Has no derivative."""
    return _ops.depthwise_update_functional(state, x, weights, bias, activation or "none", state_indices, null_index,
                                            cache_seqlens, num_accepted_tokens, query_start_loc)


def depthwise_varlen(x, query_start_loc, weights, bias=None, *, activation=None, states=None, state_indices=None,
                     has_initial_state=None, null_index=-1):
    """As relayout.depthwise_varlen(): sequences of any lengths, whose states move on in place. Has no derivative."""
    return _ops.depthwise_varlen(x, query_start_loc, weights, bias, activation or "none", states, state_indices,
                                 has_initial_state, null_index)


def depthwise_varlen_states(x, query_start_loc, state_length):
    """As relayout.depthwise_varlen_states(); channels are neighbours in the result's memory. Has no derivative."""
    return _ops.depthwise_varlen_states(x, query_start_loc, state_length)


def _scale_and_zero(scale, zero):
    """(tensor or None, number) of each."""
    is_tensor = isinstance(scale, _torch.Tensor), isinstance(zero, _torch.Tensor)
    return (scale if is_tensor[0] else None, 1.0 if is_tensor[0] else scale,
            zero if is_tensor[1] else None, 0 if is_tensor[1] else zero)


def quantize(x, scale, zero=0, *, dtype="i8"):
    """x as codes of i8 or u8, as relayout.quantize(). Has no derivative."""
    return _ops.quantize(x, *_scale_and_zero(scale, zero), _torch_type(dtype))


def dequantize(codes, scale, zero=0):
    """Codes as f32: (codes - zero) * scale. Has no derivative."""
    return _ops.dequantize(codes, *_scale_and_zero(scale, zero))


def _check_operands(operands):
    for i, x in enumerate(operands):
        if not isinstance(x, (_torch.Tensor, int, float, _torch.SymInt, _torch.SymFloat)):
            raise TypeError(f"operand {i} is of {type(x)}, and relayout.torch takes tensors of torch and numbers")
    if not any(isinstance(x, _torch.Tensor) for x in operands):
        raise _Error("one operand at least must be a tensor")


def chain(steps, *operands, dtype=None):
    """Up to 8 operations in one pass over the memory, as relayout.chain(): chain(["add", "relu"], x, bias)."""
    _check_operands(operands)
    names, places = _names_and_places(steps)
    return _chain(names, places, operands, _torch_type(dtype))


_by_name = _functions(chain, __name__)
globals().update(_by_name)
__all__ += _by_name
for _name in __all__:
    globals()[_name] = _without_tangents(globals()[_name])  # here, since torch.func.jvp hides them from the operators
del _name
