#!/usr/bin/env python3
"""The short convolution of a Mamba block: a prompt in one call, then token by token with a state.

Channels lie last in memory, as the projection before leaves them; relayout takes the strides as they are. The same lines
work with tensors of torch, on a GPU too.
"""
import numpy as np

import relayout

BATCH, CHANNELS, TAPS, PROMPT, TOKENS = 2, 64, 4, 100, 8

random = np.random.default_rng(0)
weights = random.standard_normal((CHANNELS, TAPS), np.float32)
bias = random.standard_normal(CHANNELS, np.float32)
signal = random.standard_normal((BATCH, PROMPT + TOKENS, CHANNELS), np.float32).transpose(0, 2, 1)  # [batch, channels, time]

# Prefill: the whole prompt, and the last taps - 1 samples for what follows.
state = np.zeros((BATCH, CHANNELS, TAPS - 1), np.float32)
prompt = relayout.depthwise_conv1d(signal[:, :, :PROMPT], weights, bias, activation="silu", final_state=state)

# Decode: planned once for one sample of each channel; the state moves on in place.
sample, y = np.empty((BATCH, CHANNELS, 1), np.float32), np.empty((BATCH, CHANNELS, 1), np.float32)
step = relayout.plan_depthwise_update(state, sample, weights, bias, activation="silu", out=y)
tokens = []
for t in range(PROMPT, PROMPT + TOKENS):
    sample[:] = signal[:, :, t:t + 1]
    tokens.append(step.run().copy())

# Cut into pieces or not, the bits are the same.
whole = relayout.depthwise_conv1d(signal, weights, bias, activation="silu")
assert np.array_equal(np.concatenate([prompt, *tokens], axis=2), whole)
print(f"{PROMPT} samples at once and {TOKENS} one by one give the bits of {PROMPT + TOKENS} at once")
print(step.explain(), end="")
