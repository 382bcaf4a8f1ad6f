"""What the functions for servers share: causal_conv1d over tokens of many sequences, with their states in cache lines."""
import sys

import torch

import relayout
from relayout._causal import activation_name, i32, taken
from relayout.causal_conv1d import _is_silu


def is_silu(activation):
    return activation if isinstance(activation, bool) else _is_silu(activation)


def refuse(**arguments):
    """Arguments that would change the result, and that are not served."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"relayout does not take {name}")


def lines_of(indices, batch, null_ids):
    """The cache line of each sequence, i32 [batch], and the one number that means none beside the negative ones.
    indices: None, or with more entries than sequences, or a table whose first column counts."""
    if indices is None:
        return None, -1
    lines = i32(indices[:batch] if indices.dim() == 1 else indices[:batch, 0])
    null_ids = sorted({number for number in null_ids if number is not None and number >= 0})
    for number in null_ids[1:]:
        lines = torch.where(lines == number, lines.new_full((), -1), lines)
    return lines, null_ids[0] if null_ids else -1


@torch.no_grad()
def prefill(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation, null_ids):
    """x [dim, tokens] to a new tensor of x's type. The states are the first width - 1 columns of the cache lines."""
    silu, width, batch = is_silu(activation), weight.shape[1], query_start_loc.shape[0] - 1
    tokens = x.to(conv_states.dtype)
    out = torch.empty_like(tokens)
    lines, null = lines_of(cache_indices, batch, null_ids)
    if has_initial_state is None:
        has_initial_state = torch.zeros(batch, dtype=torch.bool, device=x.device)
    relayout.depthwise_varlen(tokens, i32(query_start_loc), taken(weight, tokens), taken(bias, tokens),
                              activation=activation_name(silu), states=conv_states[..., :width - 1], state_indices=lines,
                              has_initial_state=has_initial_state[:batch].to(torch.bool), null_index=null,
                              null_output="untouched", out=out)
    return out.to(x.dtype)


@torch.no_grad()
def update(x, conv_state, weight, bias, activation, conv_state_indices, null_ids, cache_seqlens=None,
           num_accepted_tokens=None, query_start_loc=None, in_place=False):
    """x [batch, dim], [batch, dim, seqlen], or with query_start_loc [tokens, dim]. Outputs of sequences without a line are
    those that were there: x's, in place, otherwise undefined."""
    silu, width = is_silu(activation), weight.shape[1]
    given = x.to(conv_state.dtype)
    out = given if in_place else torch.empty_like(given)
    if query_start_loc is not None:
        samples, results = given.t(), out.t()
        batch = query_start_loc.shape[0] - 1
    else:
        samples, results = (given.unsqueeze(-1), out.unsqueeze(-1)) if x.dim() == 2 else (given, out)
        batch = x.shape[0]
    if in_place:
        results = samples
    lines, null = lines_of(conv_state_indices, batch, null_ids)
    # Rings and drafts use all columns.
    whole = cache_seqlens is not None or num_accepted_tokens is not None
    relayout.depthwise_update(conv_state if whole else conv_state[..., :width - 1], samples, taken(weight, given),
                              taken(bias, given), activation=activation_name(silu), state_indices=lines, null_index=null,
                              null_output="untouched", cache_seqlens=i32(cache_seqlens),
                              num_accepted_tokens=i32(num_accepted_tokens), query_start_loc=i32(query_start_loc),
                              out=results)
    return out.to(x.dtype)


def replace(module, functions):
    """Puts the functions into the module by their names, and into all modules that took the old ones from it."""
    for name, function in functions.items():
        old = getattr(module, name)
        for other in list(sys.modules.values()):
            if getattr(other, "__dict__", {}).get(name) is old:
                setattr(other, name, function)
