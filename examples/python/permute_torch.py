#!/usr/bin/env python3
"""Attention's heads: [batch, time, heads, width] in f32 becomes [batch, heads, width, time] in bf16, in one pass over the
memory. torch does it in two: a copy of the permuted tensor, and a cast. Ends with 77 where there is no torch."""
import sys

try:
    import torch
except ImportError:
    print("there is no torch")
    sys.exit(77)

import relayout

device = "cuda" if torch.cuda.is_available() and relayout.gpu_count() > 0 else "cpu"
x = torch.randn(2, 128, 8, 64, device=device)

heads = relayout.permute(x, (0, 2, 3, 1), dtype=torch.bfloat16)
assert torch.equal(heads, x.permute(0, 2, 3, 1).contiguous().to(torch.bfloat16))

# For many tensors of one layout the work is planned once.
plan = relayout.plan_permute(x, (0, 2, 3, 1), out=heads)
plan.run(torch.randn_like(x))
print(f"{tuple(x.shape)} {x.dtype} -> {tuple(heads.shape)} {heads.dtype} on {heads.device}")
print(plan.explain(), end="")
