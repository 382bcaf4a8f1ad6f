"""What the cases of the suite `elementwise` mean, in numpy. bf16, which numpy does not have, is widened to float32."""

import math

import numpy as np

UNARY = {"sqrt": np.sqrt, "exp": np.exp, "tanh": np.tanh, "relu": lambda a: np.maximum(a, 0),
         "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "silu": lambda a: a / (1 + np.exp(-a)),
         "gelu": lambda a: a / 2 * (1 + np.vectorize(math.erf)(a / math.sqrt(2)))}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "greater": np.greater, "less": np.less,
          "logical_and": np.logical_and}
EXACT = set(BINARY) | {"relu", "clip", "pow"}


def wrapped_power(a, b):
    """Of i32, modulo 2^32; of a negative exponent what is left of the fraction toward zero."""
    def one(base, exponent):
        if exponent < 0:
            return base if abs(base) == 1 and exponent % 2 else 1 if abs(base) == 1 else 0
        return (pow(base, exponent, 1 << 32) + (1 << 31)) % (1 << 32) - (1 << 31)
    return np.array([one(int(x), int(y)) for x, y in zip(a.ravel(), b.ravel())], np.int32).reshape(a.shape)


def operand(tensor, memory):
    """The part of it that takes part, its axes in their order."""
    if tensor["begin"]:
        memory = memory[tuple(slice(begin, end) for begin, end in zip(tensor["begin"], tensor["end"]))]
    return memory.transpose(tensor["axes"]) if tensor["axes"] else memory


def rounded_to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)


def elementwise(parameters, inputs):
    """The output as it lies in memory."""
    tensors = parameters["operands"]
    common = np.result_type(*inputs)
    operands = [operand(tensor, memory) for tensor, memory in zip(tensors, inputs)] + parameters["constants"]
    in_bf16 = all(tensor["type"] == "bf16" for tensor in tensors)
    result, rest = operands[0].astype(common), operands[1:]
    for function in parameters["functions"]:
        if function == "clip":
            low, high, rest = rest[0], rest[1], rest[2:]
            result = np.clip(result, common.type(low), common.type(high))
        elif function in UNARY:
            with np.errstate(invalid="ignore"):  # roots of negative numbers
                result = UNARY[function](result if function in EXACT else result.astype(np.float64))
        else:
            second, rest = np.asarray(rest[0]).astype(common), rest[1:]
            result = wrapped_power(result, second) if function == "pow" else BINARY[function](result, second)
        result = rounded_to_bf16(result) if in_bf16 else result
    axes = parameters["out"]["axes"]
    return np.transpose(result, np.argsort(axes)) if axes else result


def is_exact(parameters):
    return all(function in EXACT for function in parameters["functions"])


def bytes_of(parameters, sizes):
    def elements(tensor):
        return math.prod(end - begin for begin, end in zip(tensor["begin"], tensor["end"])) if tensor["begin"] else math.prod(
            tensor["shape"])
    return sum(elements(tensor) * sizes[tensor["type"]] for tensor in parameters["operands"] + [parameters["out"]])
