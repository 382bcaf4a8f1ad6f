#!/usr/bin/env python3
"""A Mamba block's short convolution inside torch.compile, and its gradients: relayout.torch has operators of torch.library, so
the graph is one. Ends with 77 where torch is missing or older than 2.4."""
import sys

try:
    import torch

    import relayout.torch as rt
except ImportError as error:
    print(error)
    sys.exit(77)

import relayout

device = "cuda" if torch.cuda.is_available() and relayout.gpu_count() > 0 else "cpu"
x = torch.randn(2, 100, 64, device=device)  # [batch, time, channels]
weights = torch.randn(64, 4, device=device, requires_grad=True)
bias = torch.randn(64, device=device, requires_grad=True)


def ours(x, weights, bias):
    return rt.permute(rt.depthwise_conv1d(x.mT, weights, bias, activation="silu"), (0, 2, 1))


def theirs(x, weights, bias):
    y = torch.nn.functional.conv1d(x.mT, weights[:, None], bias, padding=3, groups=64)[..., :100]
    return torch.nn.functional.silu(y).mT


compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
results = []
for function in (compiled, theirs):
    y = function(x, weights, bias)
    results.append((y, *torch.autograd.grad(y.square().mean(), (weights, bias))))
for a, b in zip(*results):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
print(f"one graph, on {device}: the output and the gradients by weights and bias are those of torch's own operations")
