"""What each benchmark case means, in numpy; and the files that `relayout_bench --dump` writes."""

import json
import os

import numpy as np

import elementwise_formulas

NUMPY_PAD_MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric",
                   "circular": "wrap", "reflect_zero_extended": "reflect"}
NUMPY_TYPES = {"bool": np.bool_, "bf16": np.uint16, "i32": np.int32, "i8": np.int8, "u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def load_cases(folder):
    """The rows of a dump, each with its arrays: "inputs" and "output" in place of the files' descriptions."""
    with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    for row in rows:
        row["inputs"] = [load_tensor(folder, tensor) for tensor in row["inputs"]]
        row["output"] = load_tensor(folder, row["output"])
    return rows


def load_tensor(folder, tensor):
    memory = np.fromfile(os.path.join(folder, tensor["file"]), np.uint8 if tensor["type"] == "bool" else NUMPY_TYPES[tensor["type"]])
    if tensor["type"] == "bool":  # any byte but 0 is true
        memory = memory != 0
    if tensor["type"] == "bf16":  # widened
        memory = (memory.astype(np.uint32) << 16).view(np.float32)
    strides = [stride * memory.itemsize for stride in tensor["strides"]]
    return np.lib.stride_tricks.as_strided(memory, tensor["shape"], strides)


def padded(x, pad):
    """[batch, channels, length] along time. The benchmark's signals are longer than their pads, so that
    reflect_zero_extended is reflect."""
    left, right = pad["left"], pad["right"]
    value = {"constant_values": pad["value"]} if pad["mode"] == "constant" else {}
    return np.pad(x, ((0, 0), (0, 0), (left, right)), mode=NUMPY_PAD_MODES[pad["mode"]], **value)


def img2col(x, parameters):
    """A [batch * ho, taps * channels]."""
    x = padded(x, parameters["pad"])
    taps, stride, dilation = parameters["taps"], parameters["stride"], parameters["dilation"]
    positions = (x.shape[2] - (taps - 1) * dilation - 1) // stride + 1
    samples = np.arange(positions)[:, None] * stride + np.arange(taps)[None, :] * dilation
    windows = x[:, :, samples]  # [batch, channels, ho, taps]
    order = (0, 2, 3, 1) if parameters["order"] == "tap" else (0, 2, 1, 3)
    return windows.transpose(order).reshape(x.shape[0] * positions, -1)


def depthwise(parameters, x, weights, bias=None):
    taps, length = parameters["taps"], x.shape[2]
    signal = np.pad(x, ((0, 0), (0, 0), (taps - 1, 0)))
    y = sum(weights[None, :, k, None] * signal[:, :, k:k + length] for k in range(taps))
    if parameters["bias"]:
        y = y + bias[None, :, None]
    return y / (1 + np.exp(-y)) if parameters["silu"] else y


def quantized(parameters, inputs):
    """Each step in f32: NumPy rounds it once."""
    scales = inputs[2:] if parameters["channels"] else np.float32(parameters["scales"])
    zeros = parameters["zeros"]
    a, b = ((inputs[i].astype(np.float32) - np.float32(zeros[i])) * scales[i] for i in range(2))
    function = {"add": np.add, "mul": np.multiply, "truediv": np.divide}[parameters["function"]]
    with np.errstate(all="ignore"):
        units = np.rint(function(a, b) / scales[2])
    return np.clip(np.nan_to_num(units, nan=0, posinf=1e9, neginf=-1e9) + zeros[2], -128, 127).astype(np.int8)


def expected(parameters, inputs):
    """The result of a case; that of a sum in float64, not rounded."""
    operation = parameters["operation"]
    if operation == "quantized":
        return quantized(parameters, inputs)
    if operation == "elementwise":
        return elementwise_formulas.elementwise(parameters, inputs)
    x = inputs[0].astype(NUMPY_TYPES[parameters["out_type"]])
    if operation in ("copy", "cast"):
        return x
    if operation == "permute":
        result = x.transpose(parameters["axes"])
        if "alpha" not in parameters:
            return result
        result = result.dtype.type(parameters["alpha"]) * result
        return result + result.dtype.type(parameters["beta"]) * inputs[1] if parameters["beta"] != 0 else result
    if operation == "pad":
        return padded(x, parameters["pad"])
    if operation == "depthwise":
        return depthwise(parameters, *[array.astype(np.float64) for array in inputs])
    if operation == "depthwise_update":  # from the state that the update left: it ends with the new samples
        operands = [array.astype(np.float64) for array in inputs[:3]]
        return depthwise(parameters, *operands)[:, :, -parameters["samples"]:]
    a = img2col(x, parameters)
    if operation == "img2col":
        return a
    return a.astype(np.float64) @ inputs[1].astype(np.float64).T


def is_exact(parameters):
    if parameters["operation"] == "elementwise":
        return elementwise_formulas.is_exact(parameters)
    return parameters["operation"] not in ("conv1d", "depthwise", "depthwise_update")


def agree(parameters, result, reference):
    """Equal bits where nothing is summed, else rounding errors of the output type and of fp32 sums."""
    if result.shape != reference.shape:
        return False
    if is_exact(parameters):
        bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[reference.dtype.itemsize]
        return result.dtype == reference.dtype and np.array_equal(
            np.ascontiguousarray(result).view(bits), np.ascontiguousarray(reference).view(bits))
    return bool(np.allclose(result.astype(np.float64), reference, rtol=2e-3, atol=2e-3, equal_nan=True))
