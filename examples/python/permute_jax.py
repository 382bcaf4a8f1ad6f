#!/usr/bin/env python3
"""An array of JAX, channels last, becomes channels first in f16, in one pass over the memory. JAX's arrays cannot be written
to, so the result is memory of CuPy on a GPU and of numpy on the processor, which DLPack gives back to JAX. Ends with 77 where
there is no JAX."""
import sys

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print("there is no JAX")
    sys.exit(77)

import numpy as np

import relayout

x = jax.random.normal(jax.random.key(0), (2, 16, 24, 3), jnp.float32)
arrays = np
if x.device.platform != "cpu":
    try:
        import cupy as arrays
    except ImportError:
        arrays = None
    if arrays is None or relayout.gpu_count() == 0:
        x, arrays = jax.device_put(x, jax.devices("cpu")[0]), np

out = relayout.permute(x, (0, 3, 1, 2), out=arrays.empty((2, 3, 16, 24), arrays.float16))
y = jax.dlpack.from_dlpack(out)
assert jnp.array_equal(y, jnp.transpose(x, (0, 3, 1, 2)).astype(jnp.float16))
print(f"{x.shape} {x.dtype} -> {y.shape} {y.dtype} on {y.device}")
