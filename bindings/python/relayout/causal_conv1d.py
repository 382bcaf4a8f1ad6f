"""The functions of the package causal_conv1d (version 1.6), with its signatures, for tensors of torch on any device that
relayout has.

    from relayout.causal_conv1d import causal_conv1d_fn, causal_conv1d_update

`python -m relayout.compat causal_conv1d` makes a package of that name of them, which other packages find unchanged.

x and the states are f16, bf16 or f32 of one type, weight and bias any of the three. Where causal_conv1d wants channels to
be neighbours in memory, any strides will do here, and any number of taps. Gradients are the same in every run.
"""
import torch

import relayout
from relayout import _causal

__all__ = ["causal_conv1d_fn", "causal_conv1d_ref", "causal_conv1d_update", "causal_conv1d_update_ref",
           "causal_conv1d_varlen_states", "causal_conv1d_varlen_states_ref"]


def _is_silu(activation):
    if activation not in (None, "silu", "swish"):
        raise NotImplementedError(f"activation is {activation!r}, and must be None, 'silu' or 'swish'")
    return activation is not None


# torch.compile takes operators of torch.library only. Eager calls go past them, which is faster; with an older torch all do.
if hasattr(torch.library, "register_autograd"):
    from relayout import _torch_depthwise  # noqa: F401 (its operators are in _ops)
    _ops, _is_compiling = torch.ops.relayout, torch.compiler.is_compiling
else:
    def _is_compiling():
        return False


def forward_into(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu):
    """Writes out, and final_states_out unless it is None. Has no gradients, nor have the next two."""
    if not _is_compiling():
        return _causal.forward_into(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu)
    with torch.no_grad():
        _ops.causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu)


def backward_into(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu):
    """Writes the gradients; dweight, dbias and dinitial_states may be None."""
    if not _is_compiling():
        return _causal.backward_into(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias,
                                     dinitial_states, silu)
    with torch.no_grad():
        _ops.causal_conv1d_bwd(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias,
                               dinitial_states, silu)


def update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices):
    """Writes out, and moves conv_state on."""
    if not _is_compiling():
        return _causal.update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices)
    with torch.no_grad():
        _ops.causal_conv1d_update(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices)


class _CausalConv1d(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, seq_idx, initial_states, return_final_states, final_states_out, silu):
        states = None
        if return_final_states:  # a buffer that is given and returned stays out of the graph; its alias is in it
            states = _causal.states_like(x, weight.shape[1] - 1) if final_states_out is None else final_states_out
        out = torch.empty_like(x)
        _causal.forward_without_gradients(x, weight, bias, seq_idx, initial_states, out, states, silu)
        ctx.save_for_backward(x, weight, bias, seq_idx, initial_states)
        ctx.silu = silu
        return out if states is None else (out, states)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout, dfinal_states=None):
        x, weight, bias, seq_idx, initial_states = ctx.saved_tensors
        _, want_weight, want_bias, _, want_states, *_ = ctx.needs_input_grad
        dx = torch.empty_like(x)
        dweight = torch.empty_like(weight) if want_weight else None
        dbias = torch.empty_like(bias) if want_bias else None
        dinitial_states = torch.empty_like(initial_states) if want_states else None
        _causal.backward_into(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias,
                              dinitial_states, ctx.silu)
        return dx, dweight, dbias, None, dinitial_states, None, None, None


def _copied(states, final_states_out):
    if (final_states_out.shape, final_states_out.dtype) != (states.shape, states.dtype):
        raise relayout.Error(f"final_states_out is {final_states_out.dtype} {list(final_states_out.shape)}, and must be "
                             f"{states.dtype} {list(states.shape)}", "shape")
    with torch.no_grad():
        final_states_out.copy_(states)
    return torch.empty_like(final_states_out).copy_(states)  # the buffer itself stays out of the graph


def causal_conv1d_fn(x, weight, bias=None, seq_idx=None, initial_states=None, return_final_states=False,
                     final_states_out=None, activation=None):
    """x [batch, dim, seqlen], weight [dim, width], bias [dim], to a new tensor with x's strides; activation is None,
    "silu" or "swish". seq_idx [batch, seqlen] numbers the sequences of a row, which do not see each other; where it is
    negative the output is 0. initial_states [batch, dim, width - 1] come before x. With return_final_states the last
    width - 1 samples are returned beside the output, in final_states_out where it is given; torch.compile returns a copy of
    it. Has gradients by x, weight, bias and initial_states."""
    silu = _is_silu(activation)
    if seq_idx is not None and (initial_states is not None or return_final_states):
        raise AssertionError("seq_idx excludes initial_states and return_final_states")
    if not _is_compiling():
        return _CausalConv1d.apply(x, weight, bias, seq_idx, initial_states, return_final_states, final_states_out, silu)
    out, states = _ops.depthwise_conv1d(x, weight, bias, "silu" if silu else "none", initial_states, seq_idx,
                                        return_final_states)
    if not return_final_states:
        return out
    return out, states if final_states_out is None else _copied(states, final_states_out)


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None, cache_seqlens=None, conv_state_indices=None):
    """One sample x [batch, dim], or some [batch, dim, seqlen], behind conv_state [batch, dim, state_len >= width - 1],
    which moves on in place. With cache_seqlens [batch] the states are rings, written from column cache_seqlens %
    state_len on. conv_state_indices [batch] name the rows of conv_state; where one is negative the output is 0, and no
    state is touched."""
    silu = _is_silu(activation)
    out = torch.empty_like(x)
    samples, results = (x.unsqueeze(-1), out.unsqueeze(-1)) if x.dim() == 2 else (x, out)
    update_into(samples, conv_state, weight, bias, results, silu, cache_seqlens, conv_state_indices)
    return out


def causal_conv1d_varlen_states(x, cu_seqlens, state_len):
    """The last state_len samples of each sequence of x [total, dim]: [batch, dim, state_len], zeros before a sequence's
    first. cu_seqlens [batch + 1] says where sequences begin, and where the last one ends."""
    if not _is_compiling():
        return _causal.varlen_states(x.t(), cu_seqlens, state_len)
    with torch.no_grad():
        return _ops.depthwise_varlen_states(x.t(), cu_seqlens, state_len)


# The same by torch's own operations, for tests.

def _taps(padded, weight, bias, seqlen, activation):
    """padded: [batch, dim, width - 1 + seqlen]"""
    out = sum(weight[:, k, None] * padded[..., k:k + seqlen] for k in range(weight.shape[1]))
    if bias is not None:
        out = out + bias[:, None]
    return torch.nn.functional.silu(out) if _is_silu(activation) else out


def causal_conv1d_ref(x, weight, bias=None, initial_states=None, return_final_states=False, final_states_out=None,
                      activation=None):
    """What causal_conv1d_fn computes, in weight's type."""
    before = weight.shape[1] - 1
    if initial_states is None:
        initial_states = x.new_zeros(x.shape[0], x.shape[1], before)
    padded = torch.cat([initial_states, x], dim=-1)
    out = _taps(padded.to(weight.dtype), weight, bias, x.shape[-1], activation).to(x.dtype)
    if not return_final_states:
        return out
    states = padded[..., padded.shape[-1] - before:]
    return out, states if final_states_out is None else final_states_out.copy_(states)


def causal_conv1d_update_ref(x, conv_state, weight, bias=None, activation=None, cache_seqlens=None):
    """What causal_conv1d_update computes, in weight's type, and what becomes of conv_state."""
    samples = x.unsqueeze(-1) if x.dim() == 2 else x
    seqlen, before, state_len = samples.shape[-1], weight.shape[1] - 1, conv_state.shape[-1]
    begin = torch.zeros(x.shape[0], dtype=torch.long, device=x.device) if cache_seqlens is None else cache_seqlens.long()

    def columns(first, count):
        index = (begin[:, None] + torch.arange(first, first + count, device=x.device)) % state_len
        return index[:, None, :].expand(-1, samples.shape[1], -1)

    padded = torch.cat([conv_state.gather(2, columns(-before, before)), samples], dim=-1)
    if cache_seqlens is None:
        conv_state.copy_(torch.cat([conv_state, samples], dim=-1)[..., -state_len:])
    else:
        conv_state.scatter_(2, columns(0, seqlen), samples)
    out = _taps(padded.to(weight.dtype), weight, bias, seqlen, activation).to(x.dtype)
    return out.squeeze(-1) if x.dim() == 2 else out


def causal_conv1d_varlen_states_ref(x, cu_seqlens, state_len):
    """What causal_conv1d_varlen_states gives."""
    states = _causal.channels_last(cu_seqlens.shape[0] - 1, x.shape[1], state_len, x).zero_()
    for sequence, (begin, end) in enumerate(zip(cu_seqlens[:-1].tolist(), cu_seqlens[1:].tolist())):
        count = min(end - begin, state_len)
        if count > 0:
            states[sequence, :, state_len - count:] = x[end - count:end].t()
    return states
