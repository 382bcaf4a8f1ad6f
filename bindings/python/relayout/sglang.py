"""SGLang's causal_conv1d_fn and causal_conv1d_update on relayout, with their signatures of 2026.

    import relayout.sglang
    relayout.sglang.install()

puts them into the place of SGLang's Triton ones, and kernel_fwd and kernel_update into that of sgl_kernel's and of those that
SGLang compiles for CUDA when they are first called.
"""
import importlib
import sys

import torch

from relayout import _drafts, _serving

PAD_SLOT_ID = -1
_KERNELS = ("sgl_kernel.mamba", "sglang.kernels.ops.mamba.causal_conv1d", "sglang.kernels.ops.mamba")
_MODULES = ("sglang.srt.layers.attention.mamba.causal_conv1d_triton", "sglang.kernels.ops.mamba.causal_conv1d_triton")
_SELECTOR = "sglang.kernels.selector"


def causal_conv1d_fn(x, weight, bias, conv_states, query_start_loc, seq_lens_cpu, cache_indices=None,
                     has_initial_state=None, activation="silu", pad_slot_id=PAD_SLOT_ID, validate_data=False, **kwargs):
    """relayout.vllm.causal_conv1d_fn without a null block; seq_lens_cpu is not needed."""
    return _serving.prefill(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, activation,
                            (pad_slot_id,))


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None, cache_seqlens=None, conv_state_indices=None,
                         num_accepted_tokens=None, intermediate_conv_window=None, intermediate_state_indices=None,
                         retrieve_next_token=None, retrieve_next_sibling=None, retrieve_parent_token=None,
                         pad_slot_id=PAD_SLOT_ID, metadata=None, validate_data=False, num_accept_tokens=None):
    """x [batch, dim] or [batch, dim, seqlen] to a new tensor, behind conv_state, which moves on; with cache_seqlens the
    states are rings. num_accept_tokens is the newer name of num_accepted_tokens.

    With retrieve_next_token and retrieve_next_sibling [batch, seqlen] the samples are trees of drafts, each of which
    follows its parent; retrieve_parent_token receives the parents. intermediate_conv_window [lines, seqlen, dim, width -
    1] receives the state behind each sample, in the lines intermediate_state_indices."""
    if num_accepted_tokens is None:
        num_accepted_tokens = num_accept_tokens
    if intermediate_conv_window is not None or retrieve_next_token is not None:
        _serving.refuse(cache_seqlens=cache_seqlens)
        return _drafts.update(x, conv_state, weight, bias, activation, conv_state_indices, pad_slot_id, num_accepted_tokens,
                              intermediate_conv_window, intermediate_state_indices, retrieve_next_token,
                              retrieve_next_sibling, retrieve_parent_token)
    return _serving.update(x, conv_state, weight, bias, activation, conv_state_indices, (pad_slot_id,),
                           cache_seqlens=cache_seqlens, num_accepted_tokens=num_accepted_tokens)


@torch.no_grad()
def kernel_fwd(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, silu_activation,
               pad_slot_id):
    """sgl_kernel.causal_conv1d_fwd: in place on x [dim, tokens] with query_start_loc, or [batch, dim, seqlen]."""
    tokens = x
    if query_start_loc is None:
        batch, dim, seqlen = x.shape
        tokens = x.transpose(0, 1).reshape(dim, batch * seqlen)
        query_start_loc = torch.arange(batch + 1, dtype=torch.int32, device=x.device) * seqlen
    out = _serving.prefill(tokens, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state,
                           silu_activation, (pad_slot_id,), keep=True)
    x.copy_(out if x.dim() == 2 else out.reshape(dim, batch, seqlen).transpose(0, 1))


def kernel_update(x, conv_state, weight, bias, silu_activation, cache_seqlens, conv_state_indices, pad_slot_id):
    """sgl_kernel.causal_conv1d_update: in place on x [batch, dim, seqlen]. States of more than width - 1 columns move on
    as a whole, and the last ones count, unlike those of the Triton functions."""
    out = _serving.update(x, conv_state, weight, bias, silu_activation, conv_state_indices, (pad_slot_id,),
                          cache_seqlens=cache_seqlens, in_place=True, whole=True)
    if out.data_ptr() != x.data_ptr():
        x.copy_(out)


def install():
    """Replaces the functions of every module of SGLang and sgl_kernel that has them, and gives the names of those that were
    replaced, as in "sgl_kernel.mamba.causal_conv1d_fwd"."""
    replaced = []
    triton = {f.__name__: f for f in (causal_conv1d_fn, causal_conv1d_update)}
    kernels = {"causal_conv1d_fwd": kernel_fwd, "causal_conv1d_update": kernel_update}
    # Kernels that do not load are no hindrance.
    wanted = [(name, triton, ModuleNotFoundError) for name in _MODULES] + [(name, kernels, ImportError) for name in _KERNELS]
    for name, functions, absent in wanted:
        try:
            module = importlib.import_module(name)
        except absent:
            continue
        functions = {function: ours for function, ours in functions.items() if hasattr(module, function)}
        _serving.replace(module, functions)
        replaced += [f"{name}.{function}" for function in functions]
    if not replaced:
        raise ModuleNotFoundError(f"there is no {' and no '.join(_MODULES)}")
    if hasattr(sys.modules.get(_SELECTOR), "clear_cache"):
        sys.modules[_SELECTOR].clear_cache()  # of functions that it found before
    return replaced
