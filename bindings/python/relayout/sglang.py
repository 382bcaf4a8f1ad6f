"""SGLang's causal_conv1d_fn and causal_conv1d_update on relayout, with their signatures of 2026.

    import relayout.sglang
    relayout.sglang.install()

puts them into the place of SGLang's Triton ones, and kernel_fwd and kernel_update into that of sgl_kernel's. Draft trees
and windows of drafts (intermediate_*, retrieve_*) are refused with NotImplementedError.
"""
import importlib

import torch

from relayout import _serving

PAD_SLOT_ID = -1
_KERNELS = "sgl_kernel.mamba"
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


@torch.no_grad()
def kernel_fwd(x, weight, bias, conv_states, query_start_loc, cache_indices, has_initial_state, silu_activation, pad_slot_id):
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
    """sgl_kernel.causal_conv1d_update: in place on x [batch, dim, seqlen]."""
    out = _serving.update(x, conv_state, weight, bias, silu_activation, conv_state_indices, (pad_slot_id,),
                          cache_seqlens=cache_seqlens, in_place=True)
    if out.data_ptr() != x.data_ptr():
        x.copy_(out)


def install():
    """Replaces the functions of every module of SGLang and sgl_kernel that has them."""
    found = 0
    triton = {f.__name__: f for f in (causal_conv1d_fn, causal_conv1d_update)}
    kernels = {"causal_conv1d_fwd": kernel_fwd, "causal_conv1d_update": kernel_update}
    for name, functions in (*((name, triton) for name in _MODULES), (_KERNELS, kernels)):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        found += 1
        _serving.replace(module, functions)
    if found == 0:
        raise ModuleNotFoundError(f"there is no {' and no '.join(_MODULES)}")
