"""The formulas of the benchmark cases, in numpy; and the files that `relayout_bench --dump` writes."""

import json
import operator
import os

import numpy as np

import elementwise_formulas

NUMPY_PAD_MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric",
                   "circular": "wrap", "reflect_zero_extended": "reflect"}
NUMPY_TYPES = {"bool": np.bool_, "bf16": np.uint16, "i32": np.int32, "i8": np.int8, "u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}
QUANTIZED_FUNCTIONS = {"add": operator.add, "mul": operator.mul, "truediv": operator.truediv}


class NoRoute(Exception):
    """Why a library cannot do a case."""


def input_shapes(parameters):
    """[(shape in memory, type's name)] of a case's inputs."""
    if parameters["operation"] == "elementwise":
        return [(tensor["shape"], tensor["type"]) for tensor in parameters["operands"]]
    if parameters["operation"] == "quantized":
        scales = [(parameters["channels"], "f32")] * 3 if parameters["channels"] else []
        return [(parameters["image"], "i8"), (parameters["second"], "i8")] + scales
    shape = list(parameters["shape"])
    if parameters.get("in_layout", "ncl") == "nlc":
        shape[-2], shape[-1] = shape[-1], shape[-2]
    shapes = [(shape, parameters["in_type"])]
    if parameters.get("beta", 0) != 0:
        shapes.append(([shape[axis] for axis in parameters["axes"]], parameters["out_type"]))
    if parameters["operation"] == "conv1d":
        depth = parameters["taps"] * parameters["shape"][1]
        shapes.append(([parameters["out_channels"], depth], parameters["out_type"]))
    if parameters["operation"] in ("depthwise", "depthwise_backward", "depthwise_update"):
        channels = parameters["shape"][1]
        shapes.append(([channels, parameters["taps"]], parameters["in_type"]))
        if parameters["bias"]:
            shapes.append(([channels], parameters["in_type"]))
    if parameters["operation"] == "depthwise_backward":
        shapes.append(shapes[0])
    if parameters["operation"] == "depthwise_update":
        shapes.append((shape[:2] + [parameters["samples"]], parameters["in_type"]))
    return shapes


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
    if tensor["type"] == "bool":  # any byte other than 0 is true
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


def depthwise_backward(parameters, x, weights, bias, d_out):
    """The gradient by x."""
    taps, length = parameters["taps"], x.shape[2]
    sums = depthwise({**parameters, "silu": False}, x, weights, bias)
    sigmoid = 1 / (1 + np.exp(-sums))
    g = np.pad(d_out * sigmoid * (1 + sums * (1 - sigmoid)), ((0, 0), (0, 0), (0, taps - 1)))
    return sum(weights[None, :, k, None] * g[:, :, taps - 1 - k:taps - 1 - k + length] for k in range(taps))


def quantized(parameters, inputs, library=np):
    """Each step in float32: NumPy rounds it once; JAX and CuPy do what they compile."""
    units = quantized_units(parameters, inputs, library.float32)
    if parameters["function"] == "truediv":  # 0 / 0 becomes the zero point
        units = library.where(library.isnan(units), 0.0, units)
    return library.clip(library.rint(units) + parameters["zeros"][2], -128, 127).astype(library.int8)


def quantized_units(parameters, inputs, real):
    """The result in units of the output's scale, not yet a code."""
    scales, zeros = inputs[2:] if parameters["channels"] else parameters["scales"], parameters["zeros"]
    a, b = ((inputs[i].astype(real) - zeros[i]) * scales[i] for i in range(2))
    return QUANTIZED_FUNCTIONS[parameters["function"]](a, b) / scales[2]


def expected(parameters, inputs):
    """The result of a case; that of a sum in float64, not rounded."""
    operation = parameters["operation"]
    if operation == "quantized":
        with np.errstate(all="ignore"):  # divisions by 0
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
    if operation == "depthwise_backward":  # what it writes besides comes behind what it reads
        return depthwise_backward(parameters, *[array.astype(np.float64) for array in inputs[:4]])
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
    return parameters["operation"] not in ("conv1d", "depthwise", "depthwise_backward", "depthwise_update")


def agree(parameters, result, reference):
    """Equal bits where nothing is summed, else rounding errors of the output type and of fp32 sums."""
    if not is_exact(parameters):
        return close(result, reference, 5e-3 if parameters.get("out_type") == "bf16" else 2e-3)
    if result.shape != reference.shape or result.dtype != reference.dtype:
        return False
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[reference.dtype.itemsize]
    return np.array_equal(np.ascontiguousarray(result).view(bits), np.ascontiguousarray(reference).view(bits))


def close(result, reference, tolerance=2e-3):
    """bf16 itself is up to 2^-8 off."""
    return result.shape == reference.shape and bool(
        np.allclose(result.astype(np.float64), reference, rtol=tolerance, atol=tolerance, equal_nan=True))


def peer_agrees(parameters, inputs, result, reference):
    """As agree, but a library that fuses steps need not round between them, nor divide where it can multiply: chains in 16
    bits may differ by roundings, and where a number lies between two codes, either is right."""
    if parameters["operation"] == "quantized":
        with np.errstate(all="ignore"):
            units = np.nan_to_num(quantized_units(parameters, inputs, np.float64), nan=0) + parameters["zeros"][2]
        return result.dtype == reference.dtype and result.shape == reference.shape and bool(
            np.all(np.abs(result - np.clip(units, -128, 127)) < 0.5 + 1e-3))
    if parameters["operation"] == "depthwise_backward":  # sums and what follows from them are rounded in between
        return close(result, reference, {"bf16": 5e-2, "f16": 1e-2}.get(parameters["out_type"], 2e-3))
    if parameters["operation"] == "depthwise" and parameters.get("silu"):  # the sum is rounded before the activation
        return close(result, reference, 1e-2 if parameters["out_type"] == "bf16" else 2e-3)
    if len(parameters.get("functions", [])) > 1:
        return result.dtype == reference.dtype and close(result, reference)
    return agree(parameters, result, reference)
