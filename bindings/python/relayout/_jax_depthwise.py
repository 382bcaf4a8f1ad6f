"""The depthwise convolution for relayout.jax. Its arrays are x, weights, bias, initial_state and sequence_ids, of which the last
three may be None."""
import jax.numpy as jnp
import numpy as np

import relayout
from relayout._jax_call import call, check_rank, checked_layout, choice, differentiable, name_of, text


def _stand_in_type(x):
    """numpy's type of as many bytes as x's elements."""
    return np.dtype({"f16": "f2", "bf16": "f2", "f32": "f4", "i32": "i4"}[name_of(x)])


class _OnGpu:
    """A tensor of a shape, for the size of a workspace."""

    def __init__(self, x):
        self.x = x

    @property
    def __cuda_array_interface__(self):
        return {"data": (0, False), "shape": tuple(self.x.shape), "typestr": _stand_in_type(self.x).str, "version": 3}


def _on_cpu(x):
    return np.empty(x.shape, _stand_in_type(x))


def _workspace_bytes(x, weights, bias, state, ids):
    """Where the call will run is not known yet, so the most of what it needs anywhere."""
    sample = np.zeros((), _stand_in_type(x))
    bytes_ = 0
    for stand_in in (_on_cpu, _OnGpu) if relayout.gpu_count() > 0 else (_on_cpu,):
        wide = np.broadcast_to(sample, x.shape) if stand_in is _on_cpu else stand_in(x)
        w, b, s, i = (None if array is None else stand_in(array) for array in (weights, bias, state, ids))
        bytes_ = max(bytes_, relayout.depthwise_conv1d_backward_workspace_bytes(
            wide, w, wide, b, initial_state=s, sequence_ids=i, d_weights=w, d_bias=b, d_initial_state=s))
    return bytes_


def _given(*arrays):
    return tuple(int(array is not None) for array in arrays)


def _depthwise_backward(static, arrays, gradients):
    silu, with_state, layout = static
    x, weights, bias, state, ids = arrays
    d_out, d_state = gradients if with_state else (gradients, None)
    wants = (True, bias is not None, state is not None)
    bytes_ = _workspace_bytes(x, weights, bias, state, ids)
    operands = [array for array in (x, weights, bias, state, ids, d_out, d_state) if array is not None]
    results = [(x.shape, x.dtype)] + [((bytes_,), jnp.uint8)] * (bytes_ > 0)
    results += [(array.shape, array.dtype) for array in (weights, bias, state) if array is not None]
    layouts = [layout if array is x or array is d_out else None for array in operands]
    said = text("depthwise_conv1d_backward", silu=silu,
                given=(*_given(x, weights, bias, state, ids, d_out, d_state), 1, int(bytes_ > 0), *map(int, wants)))
    made = call(said, operands, results, [*layouts, layout] + [None] * (len(results) - 1))
    d_x, *others = made[:1] + made[1 + (bytes_ > 0):]
    others = iter(others)
    return (d_x, *(next(others) if want else None for want in wants), None)


@differentiable(_depthwise_backward)
def _depthwise(arrays, static):
    silu, with_state, layout = static
    x, weights, bias, state, ids = arrays
    weights, bias = _taken(weights, x), _taken(bias, x)
    operands = [array for array in (x, weights, bias, state, ids) if array is not None]
    results = [(x.shape, x.dtype)]
    if with_state:
        results.append(((*x.shape[:2], weights.shape[1] - 1), x.dtype))
    said = text("depthwise_conv1d", silu=silu, given=(*_given(x, weights, bias, state, ids), 1, int(with_state)))
    layouts = [layout] + [None] * (len(operands) - 1) + [layout] + [None] * (len(results) - 1)
    made = call(said, operands, results, layouts)
    return tuple(made) if with_state else made[0]


def _taken(parameter, x):
    """Weights or a bias as the forward function takes them beside x: f32 or of x's type."""
    if parameter is None or parameter.dtype in (x.dtype, jnp.float32):
        return parameter
    return parameter.astype(jnp.float32)


def depthwise_conv1d(x, weights, bias=None, *, activation=None, initial_state=None, sequence_ids=None,
                     return_final_state=False, layout=None):
    """As relayout.depthwise_conv1d(): x [batch, channels, length], weights [channels, taps]. layout is that of x and of the
    output: (0, 2, 1) where channels are the innermost axis in memory. With return_final_state the pair (output, last
    taps - 1 samples [batch, channels, taps - 1]). Has a derivative by x, weights, bias and initial_state."""
    arrays = [None if array is None else jnp.asarray(array) for array in (x, weights, bias, initial_state, sequence_ids)]
    x, weights, bias, state, ids = arrays
    check_rank(x, 3, "x")
    check_rank(weights, 2, "weights")
    silu = choice(activation or "none", ("none", "silu"), "activation")
    ids = None if ids is None else ids.astype(jnp.int32)
    return _depthwise((x, weights, bias, state, ids), (silu, bool(return_final_state), checked_layout(layout, x)))
