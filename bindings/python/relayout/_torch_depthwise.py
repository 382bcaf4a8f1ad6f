"""The depthwise convolutions as operators of torch.library, for relayout.torch."""
import torch

import relayout
from relayout import _causal
from relayout._causal import i32, taken
from relayout._torch_ops import _check_rank, _define, _ops, _refuse_gradients, _without_derivative


def _forward_run(x, weights, bias=None, activation="none", initial_state=None, sequence_ids=None, return_final_state=False):
    out, state = _forward_fake(x, weights, bias, activation, initial_state, sequence_ids, return_final_state)
    relayout.depthwise_conv1d(x, taken(weights, x), taken(bias, x), activation=activation, initial_state=initial_state,
                              final_state=state if return_final_state else None, sequence_ids=i32(sequence_ids), out=out)
    return out, state


def _forward_fake(x, weights, bias=None, activation="none", initial_state=None, sequence_ids=None, return_final_state=False):
    """The output and the state lie in memory as x does. The state is empty where it is not wanted."""
    _check_rank(x, 3, "x")
    _check_rank(weights, 2, "weights")
    state = _causal.states_like(x, weights.shape[1] - 1) if return_final_state else x.new_empty((0,))
    return torch.empty_like(x), state


def _forward_setup(ctx, inputs, output):
    x, weights, bias, ctx.activation, initial_state, sequence_ids, ctx.has_final_state = inputs
    ctx.save_for_backward(x, weights, bias, initial_state, sequence_ids)


def _forward_backward(ctx, gradient, state_gradient):
    x, weights, bias, initial_state, sequence_ids = ctx.saved_tensors
    _, wants_weights, wants_bias, _, wants_state, _, _ = ctx.needs_input_grad
    d_x, d_weights, d_bias, d_state = _ops.depthwise_conv1d_backward(
        gradient, x, weights, bias, ctx.activation, initial_state, sequence_ids,
        state_gradient if ctx.has_final_state else None, [wants_weights, wants_bias, wants_state])
    return (d_x, d_weights if wants_weights else None, d_bias if wants_bias else None, None,
            d_state if wants_state else None, None, None)


_define("depthwise_conv1d(Tensor x, Tensor weights, Tensor? bias, str activation, Tensor? initial_state, "
        "Tensor? sequence_ids, bool return_final_state) -> (Tensor, Tensor)",
        _forward_run, _forward_fake, _forward_backward, _forward_setup)


def _backward_run(d_out, x, weights, bias, activation, initial_state, sequence_ids, d_final_state, wanted):
    made = _backward_fake(d_out, x, weights, bias, activation, initial_state, sequence_ids, d_final_state, wanted)
    d_weights, d_bias, d_state = (tensor if wants else None for tensor, wants in zip(made[1:], wanted))
    relayout.depthwise_conv1d_backward(x, weights, d_out, bias, activation=activation, initial_state=initial_state,
                                       sequence_ids=i32(sequence_ids), d_final_state=d_final_state, d_weights=d_weights,
                                       d_bias=d_bias, d_initial_state=d_state, out=made[0])
    return made


def _backward_fake(d_out, x, weights, bias, activation, initial_state, sequence_ids, d_final_state, wanted):
    """Those that are not wanted are empty."""
    return (torch.empty_like(x), *(torch.empty_like(tensor) if wants else x.new_empty((0,))
                                   for tensor, wants in zip((weights, bias, initial_state), wanted)))


_define("depthwise_conv1d_backward(Tensor d_out, Tensor x, Tensor weights, Tensor? bias, str activation, "
        "Tensor? initial_state, Tensor? sequence_ids, Tensor? d_final_state, bool[] wanted) "
        "-> (Tensor, Tensor, Tensor, Tensor)",
        _backward_run, _backward_fake, None, _without_derivative("depthwise_conv1d_backward"))


# Those that move states on. They write to an argument, or give a new state.


def _update_run(state, x, weights, bias=None, activation="none", state_indices=None, null_index=-1, cache_seqlens=None,
                num_accepted_tokens=None, query_start_loc=None):
    return relayout.depthwise_update(state, x, taken(weights, x), taken(bias, x), activation=activation,
                                     state_indices=i32(state_indices), null_index=null_index,
                                     cache_seqlens=i32(cache_seqlens), num_accepted_tokens=i32(num_accepted_tokens),
                                     query_start_loc=i32(query_start_loc), out=torch.empty_like(x))


def _update_fake(state, x, weights, bias=None, *_):
    _refuse_gradients("depthwise_update", state, x, weights, bias)
    return torch.empty_like(x)


def _functional_run(state, x, *others):
    moved = state.clone()
    return _update_run(moved, x, *others), moved


_UPDATE = ("Tensor x, Tensor weights, Tensor? bias, str activation, Tensor? state_indices, int null_index, "
           "Tensor? cache_seqlens, Tensor? num_accepted_tokens, Tensor? query_start_loc)")
_define(f"depthwise_update(Tensor(a!) state, {_UPDATE} -> Tensor", _update_run, _update_fake)
_define(f"depthwise_update_functional(Tensor state, {_UPDATE} -> (Tensor, Tensor)", _functional_run,
        lambda state, x, *_: (torch.empty_like(x), torch.empty_like(state)), None,
        _without_derivative("depthwise_update_functional"))


def _varlen_run(x, query_start_loc, weights, bias=None, activation="none", states=None, state_indices=None,
                has_initial_state=None, null_index=-1):
    return relayout.depthwise_varlen(x, i32(query_start_loc), taken(weights, x), taken(bias, x), activation=activation,
                                     states=states, state_indices=i32(state_indices),
                                     has_initial_state=has_initial_state, null_index=null_index, out=torch.empty_like(x))


def _varlen_fake(x, query_start_loc, weights, bias=None, activation="none", states=None, *_):
    _refuse_gradients("depthwise_varlen", x, weights, bias, states)
    return torch.empty_like(x)


_define("depthwise_varlen(Tensor x, Tensor query_start_loc, Tensor weights, Tensor? bias, str activation, "
        "Tensor(a!)? states, Tensor? state_indices, Tensor? has_initial_state, int null_index) -> Tensor",
        _varlen_run, _varlen_fake)


def _varlen_states_fake(x, query_start_loc, state_length):
    _check_rank(x, 2, "x")
    return _causal.channels_last(query_start_loc.shape[0] - 1, x.shape[0], state_length, x)


_define("depthwise_varlen_states(Tensor x, Tensor query_start_loc, SymInt state_length) -> Tensor", _causal.varlen_states,
        _varlen_states_fake, None, _without_derivative("depthwise_varlen_states"))


# The extension module of causal_conv1d, for those who call it themselves: everything is written to arguments.


def _nothing_new(*_):
    return None


_define("causal_conv1d_fwd(Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, Tensor(a!) out, "
        "Tensor(b!)? final_states_out, bool silu) -> ()", _causal.forward_into, _nothing_new)
_define("causal_conv1d_bwd(Tensor x, Tensor weight, Tensor? bias, Tensor dout, Tensor? seq_idx, Tensor? initial_states, "
        "Tensor? dfinal_states, Tensor(a!) dx, Tensor(b!)? dweight, Tensor(c!)? dbias, Tensor(d!)? dinitial_states, "
        "bool silu) -> ()", _causal.backward_into, _nothing_new)
_define("causal_conv1d_update(Tensor x, Tensor(a!) conv_state, Tensor weight, Tensor? bias, Tensor(b!) out, bool silu, "
        "Tensor? cache_seqlens, Tensor? conv_state_indices) -> ()", _causal.update_into, _nothing_new)
