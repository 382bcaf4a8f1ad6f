"""SGLang's causal_conv1d_fn and causal_conv1d_update on relayout, with their signatures of 2026.

    import relayout.sglang
    relayout.sglang.install()

puts them into the place of SGLang's Triton ones. Draft trees and windows of drafts (intermediate_*, retrieve_*) are refused
with NotImplementedError.
"""
import importlib

from relayout import _serving

PAD_SLOT_ID = -1
_MODULES = ("sglang.srt.layers.attention.mamba.causal_conv1d_triton", "sglang.kernels.ops.mamba.causal_conv1d_triton")


def causal_conv1d_fn(x, weight, bias, conv_states, query_start_loc, seq_lens_cpu, cache_indices=None,
                     has_initial_state=None, activation="silu", pad_slot_id=PAD_SLOT_ID, validate_data=False, **kwargs):
    """relayout.vllm.causal_conv1d_fn without a null block; seq_lens_cpu is not needed."""
    return _serving.prefill(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation,
                            (pad_slot_id,))


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None, cache_seqlens=None, conv_state_indices=None,
                         num_accepted_tokens=None, intermediate_conv_window=None, intermediate_state_indices=None,
                         retrieve_next_token=None, retrieve_next_sibling=None, retrieve_parent_token=None,
                         pad_slot_id=PAD_SLOT_ID, metadata=None, validate_data=False):
    """x [batch, dim] or [batch, dim, seqlen] to a new tensor, behind conv_state, which moves on; with cache_seqlens the
    states are rings."""
    _serving.refuse(intermediate_conv_window=intermediate_conv_window, retrieve_next_token=retrieve_next_token,
                    retrieve_next_sibling=retrieve_next_sibling, retrieve_parent_token=retrieve_parent_token)
    return _serving.update(x, conv_state, weight, bias, activation, conv_state_indices, (pad_slot_id,),
                           cache_seqlens=cache_seqlens, num_accepted_tokens=num_accepted_tokens)


def install():
    """Replaces the functions of every module of SGLang that has them."""
    found = 0
    for name in _MODULES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        found += 1
        _serving.replace(module, {f.__name__: f for f in (causal_conv1d_fn, causal_conv1d_update)})
    if found == 0:
        raise ModuleNotFoundError(f"there is no {' and no '.join(_MODULES)}")
