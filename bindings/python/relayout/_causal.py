"""The depthwise convolutions of the package on tensors of torch, with arguments as causal_conv1d gives them: any integers as
indices, weights of any of the three types. What relayout.causal_conv1d, relayout.torch and the functions for servers run."""
import torch

import relayout
from relayout._tangents import without_tangents


def i32(numbers):
    return numbers if numbers is None or numbers.dtype == torch.int32 else numbers.to(torch.int32)


def taken(parameter, x):
    """Weights or a bias as the forward functions take them beside x: f32 or of x's type."""
    other_half = parameter is not None and parameter.dtype != x.dtype and parameter.dtype in (torch.float16, torch.bfloat16)
    return parameter.float() if other_half else parameter


def channels_last(batch, channels, columns, x):
    return torch.empty(batch, columns, channels, dtype=x.dtype, device=x.device).transpose(1, 2)


def states_like(x, columns):
    """A new tensor [batch, channels, columns] that lies in memory as x does."""
    batch, channels, _ = x.shape
    return channels_last(batch, channels, columns, x) if x.stride(1) == 1 else x.new_empty((batch, channels, columns))


def activation_name(silu):
    return "silu" if silu else None


def forward_without_gradients(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu):
    """Writes out, and final_states_out unless it is None. For where gradients are off, or nothing requires one."""
    relayout.depthwise_conv1d(x, taken(weight, x), taken(bias, x), activation=activation_name(silu),
                              initial_state=initial_states, final_state=final_states_out, sequence_ids=i32(seq_idx),
                              out=out)


forward_into = without_tangents(torch.no_grad()(forward_without_gradients))


@without_tangents
@torch.no_grad()
def backward_into(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu):
    """Writes the gradients; dweight, dbias and dinitial_states may be None."""
    relayout.depthwise_conv1d_backward(x, weight, dout, bias, activation=activation_name(silu),
                                       initial_state=initial_states, sequence_ids=i32(seq_idx),
                                       d_final_state=dfinal_states, d_weights=dweight, d_bias=dbias,
                                       d_initial_state=dinitial_states, out=dx)


@without_tangents
@torch.no_grad()
def update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices):
    """Writes out, and moves conv_state on."""
    relayout.depthwise_update(conv_state, x, taken(weight, x), taken(bias, x), activation=activation_name(silu),
                              state_indices=i32(conv_state_indices), cache_seqlens=i32(cache_seqlens), out=out)


@without_tangents
@torch.no_grad()
def varlen_states(x, cu_seqlens, state_len):
    """A new tensor [batch, channels, state_len] from x [channels, total]."""
    states = channels_last(cu_seqlens.shape[0] - 1, x.shape[0], state_len, x)
    relayout.depthwise_varlen_states(x, i32(cu_seqlens), state_len, out=states)
    return states
