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


def lines_of(indices, batch, null_ids, blocks=False):
    """The cache line of each sequence, i32 [batch], or with blocks of each of its blocks, i32 [batch, blocks], and the one
    number that means none beside the negative ones. indices: None, or with more entries than sequences, or a table,
    whose first column counts without blocks."""
    if indices is None:
        return None, -1
    lines = i32(indices[:batch, 0] if indices.dim() == 2 and not blocks else indices[:batch])
    null_ids = sorted({number for number in null_ids if number is not None and number >= 0})
    for number in null_ids[1:]:
        lines = torch.where(lines == number, lines.new_full((), -1), lines)
    return lines, null_ids[0] if null_ids else -1


def states_of(conv_states, lines, batch):
    """The cache lines that sequences may have: all of them, or without indices one for each, line b for sequence b."""
    return conv_states[:batch] if lines is None else conv_states


def blocks_of(batch, initial_block, last_block):
    """The options of a block table; none without last_block."""
    if last_block is None:
        return {}
    if initial_block is None:
        raise ValueError("block_idx_last_scheduled_token needs initial_state_idx")
    return {"initial_block": i32(initial_block[:batch]), "last_block": i32(last_block[:batch])}


@torch.no_grad()
def prefill(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation, null_ids,
            initial_block=None, last_block=None, first_block=None, computed_tokens=None, block_size=0, keep=False):
    """x [dim, tokens] to a new tensor of x's type. The states, which may be None, are the first width - 1 columns of the
    cache lines. With last_block, cache_indices are a table of blocks. Outputs of sequences without a line are undefined,
    or x's with keep."""
    silu, width, batch = is_silu(activation), weight.shape[1], query_start_loc.shape[0] - 1
    if conv_states is None:
        return relayout.depthwise_varlen(x, i32(query_start_loc), taken(weight, x), taken(bias, x),
                                         activation=activation_name(silu), out=torch.empty_like(x))
    tokens = x.to(conv_states.dtype)
    out = tokens.clone() if keep else torch.empty_like(tokens)
    blocks = blocks_of(batch, initial_block, last_block)
    lines, null = lines_of(cache_indices, batch, null_ids, bool(blocks))
    if blocks and block_size > 0:
        blocks.update(block_size=block_size, first_block=i32(first_block[:batch]),
                      computed_tokens=i32(computed_tokens[:batch]))
    if has_initial_state is None:
        has_initial_state = torch.zeros(batch, dtype=torch.bool, device=x.device)
    relayout.depthwise_varlen(tokens, i32(query_start_loc), taken(weight, tokens), taken(bias, tokens),
                              activation=activation_name(silu),
                              states=states_of(conv_states, lines, batch)[..., :width - 1], state_indices=lines,
                              has_initial_state=has_initial_state[:batch].to(torch.bool), null_index=null,
                              null_output="untouched", out=out, **blocks)
    return out.to(x.dtype)


@torch.no_grad()
def update(x, conv_state, weight, bias, activation, conv_state_indices, null_ids, cache_seqlens=None,
           num_accepted_tokens=None, query_start_loc=None, in_place=False, initial_block=None, last_block=None,
           whole=False, out=None):
    """x [batch, dim], [batch, dim, seqlen], or with query_start_loc [tokens, dim], to `out`, in place, or to a new tensor.
    There are as many sequences as conv_state_indices has lines: what is longer is padded. Outputs of sequences without a
    line are those that were there: x's, in place, otherwise undefined. whole: all columns of the states move on, not only
    the first width - 1."""
    silu, width = is_silu(activation), weight.shape[1]
    given = x.to(conv_state.dtype)
    if out is not None:
        made = out.to(conv_state.dtype)
    else:
        made = given if in_place else torch.empty_like(given)
    if query_start_loc is not None:
        samples, results = given.t(), made.t()
        batch = query_start_loc.shape[0] - 1
        if conv_state_indices is not None:
            batch = min(batch, conv_state_indices.shape[0])
        query_start_loc = query_start_loc[:batch + 1]
    else:
        samples, results = (given.unsqueeze(-1), made.unsqueeze(-1)) if x.dim() == 2 else (given, made)
        batch = x.shape[0]
    if made is given:
        results = samples
    if num_accepted_tokens is not None:
        num_accepted_tokens = num_accepted_tokens[:batch]
    blocks = blocks_of(batch, initial_block, last_block)
    lines, null = lines_of(conv_state_indices, batch, null_ids, bool(blocks))
    # Rings and drafts use all columns.
    whole = whole or cache_seqlens is not None or num_accepted_tokens is not None
    states = states_of(conv_state, lines, batch)
    relayout.depthwise_update(states if whole else states[..., :width - 1], samples, taken(weight, given),
                              taken(bias, given), activation=activation_name(silu), state_indices=lines, null_index=null,
                              null_output="untouched", cache_seqlens=i32(cache_seqlens),
                              num_accepted_tokens=i32(num_accepted_tokens), query_start_loc=i32(query_start_loc),
                              out=results, **blocks)
    if out is None:
        return made.to(x.dtype)
    return out if made is out else out.copy_(made)


def replace(module, functions):
    """Puts the functions into the module by their names, and into all modules that took the old ones from it, under
    whatever name."""
    new = {id(getattr(module, name)): function for name, function in functions.items()}
    for other in list(sys.modules.values()):
        for name, value in list(getattr(other, "__dict__", {}).items()):
            if id(value) in new:
                setattr(other, name, new[id(value)])
