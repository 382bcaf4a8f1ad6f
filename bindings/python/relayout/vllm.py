"""vLLM's causal_conv1d_fn and causal_conv1d_update on relayout, with their signatures of 2026.

    import relayout.vllm
    relayout.vllm.install()

puts them into the place of vLLM's own; the wheel has a plugin for vLLM that does so where RELAYOUT_VLLM=1 is in the
environment. Widths of any size. Draft trees are refused with NotImplementedError.
"""
import functools
import importlib
import inspect
import os

from relayout import _serving

PAD_SLOT_ID = -1
NULL_BLOCK_ID = 0
_MODULE = "vllm.model_executor.layers.mamba.ops.causal_conv1d"


def causal_conv1d_fn(x, weight, bias, conv_states, query_start_loc, cache_indices=None, has_initial_state=None,
                     activation="silu", pad_slot_id=PAD_SLOT_ID, null_block_id=NULL_BLOCK_ID,
                     block_idx_first_scheduled_token=None, block_idx_last_scheduled_token=None, initial_state_idx=None,
                     num_computed_tokens=None, block_size_to_align=0, metadata=None, validate_data=False):
    """x [dim, tokens], the sequences of query_start_loc [batch + 1] one behind the other, computed in the type of
    conv_states [lines, dim, width - 1 or more], to a new tensor of x's type. Sequence b begins with the state in line
    cache_indices[b] where has_initial_state[b], and leaves its own there. Lines pad_slot_id, null_block_id and negative
    ones mean none: such a sequence is left out, and its outputs are undefined.

    Prefix caching: with block_idx_last_scheduled_token, cache_indices is [batch, blocks]; the state comes from block
    initial_state_idx[b] of a sequence and goes to block block_idx_last_scheduled_token[b], and those behind the multiples
    of block_size_to_align, num_computed_tokens[b] counted in, to the blocks from block_idx_first_scheduled_token[b] on."""
    return _serving.prefill(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation,
                            (pad_slot_id, null_block_id), initial_state_idx, block_idx_last_scheduled_token,
                            block_idx_first_scheduled_token, num_computed_tokens, block_size_to_align)


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None, conv_state_indices=None,
                         num_accepted_tokens=None, query_start_loc=None, max_query_len=-1, null_block_id=NULL_BLOCK_ID,
                         block_idx_last_scheduled_token=None, initial_state_idx=None, validate_data=False,
                         retrieve_parent_token=None, pad_slot_id=PAD_SLOT_ID, out=None):
    """x [batch, dim], [batch, dim, seqlen], or with query_start_loc [tokens, dim], to `out`, or in place where x has the
    type of conv_state, which moves on. There are as many sequences as conv_state_indices has lines; further ones in
    query_start_loc and num_accepted_tokens are padding. num_accepted_tokens [batch] are for speculative decoding. With
    block_idx_last_scheduled_token, conv_state_indices is [batch, blocks]; the state comes from block initial_state_idx[b]
    and goes to block block_idx_last_scheduled_token[b]."""
    _serving.refuse(retrieve_parent_token=retrieve_parent_token)
    return _serving.update(x, conv_state, weight, bias, activation, conv_state_indices, (pad_slot_id, null_block_id),
                           num_accepted_tokens=num_accepted_tokens, query_start_loc=query_start_loc, in_place=True,
                           initial_block=initial_state_idx, last_block=block_idx_last_scheduled_token, out=out)


def install():
    """Replaces vLLM's functions. Versions that know no null_block_id use line 0 as any other, and so do ours then."""
    module = importlib.import_module(_MODULE)
    functions = {}
    for function in (causal_conv1d_fn, causal_conv1d_update):
        theirs = getattr(module, function.__name__)
        ours = isinstance(theirs, functools.partial)  # of an earlier call
        known = not ours and "null_block_id" in inspect.signature(theirs).parameters
        functions[function.__name__] = function if known else functools.partial(function, null_block_id=None)
    _serving.replace(module, functions)


def plugin():
    """For vLLM's entry points: install() where RELAYOUT_VLLM=1."""
    if os.environ.get("RELAYOUT_VLLM") == "1":
        install()
