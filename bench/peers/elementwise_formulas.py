"""The formulas of the cases of the suite `elementwise`, in numpy. bf16, which numpy lacks, is widened to float32."""

import math

import numpy as np

UNARY = {"sqrt": np.sqrt, "exp": np.exp, "tanh": np.tanh, "relu": lambda a: np.maximum(a, 0),
         "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "silu": lambda a: a / (1 + np.exp(-a)),
         "gelu": lambda a: a / 2 * (1 + np.vectorize(math.erf)(a / math.sqrt(2)))}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "greater": np.greater, "less": np.less,
          "logical_and": np.logical_and}
EXACT = set(BINARY) | {"relu", "clip", "pow"}


def wrapped_power(a, b):
    """Powers of i32 modulo 2^32; with a negative exponent the fraction is cut toward zero."""
    def one(base, exponent):
        if exponent < 0:
            return base if abs(base) == 1 and exponent % 2 else 1 if abs(base) == 1 else 0
        return (pow(base, exponent, 1 << 32) + (1 << 31)) % (1 << 32) - (1 << 31)
    return np.array([one(int(x), int(y)) for x, y in zip(a.ravel(), b.ravel())], np.int32).reshape(a.shape)


FUNCTIONS = {**UNARY, **BINARY, "clip": np.clip, "pow": wrapped_power}


def view_of(tensor, permute=np.transpose):
    """A function of a tensor's memory: a view of the part that takes part, its axes in their order."""
    part, axes = tuple(slice(begin, end) for begin, end in zip(tensor["begin"], tensor["end"])), tensor["axes"]

    def view(memory):
        memory = memory[part] if part else memory
        return permute(memory, axes) if axes else memory
    return view


def expression(parameters, functions, permute=np.transpose):
    """The case as a function of its operands' memory, in any library's `functions` by name: each takes what the one before
    gave and further operands in their order. Keywords go to all of them. The result's axes lie as in the output's memory."""
    views = [view_of(tensor, permute) for tensor in parameters["operands"]]
    steps = [(functions[name], 0 if name in UNARY else 2 if name == "clip" else 1) for name in parameters["functions"]]
    axes, constants = parameters["out"]["axes"], parameters["constants"]
    back = sorted(range(len(axes)), key=axes.__getitem__)

    def run(*memory, **keywords):
        rest = [view(whole) for view, whole in zip(views, memory)] + constants
        result, rest = rest[0], rest[1:]
        for function, further in steps:
            result, rest = function(result, *rest[:further], **keywords), rest[further:]
        return permute(result, back) if back else result
    return run


def rounded_to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)


def elementwise(parameters, inputs):
    """The output in its order in memory."""
    common = np.result_type(*inputs)
    in_bf16 = all(tensor["type"] == "bf16" for tensor in parameters["operands"])

    def step(name):
        def function(*arguments):
            arguments = [np.asarray(argument).astype(common) for argument in arguments]
            if name not in EXACT:
                arguments = [argument.astype(np.float64) for argument in arguments]
            with np.errstate(invalid="ignore"):  # roots of negative numbers
                result = FUNCTIONS[name](*arguments)
            return rounded_to_bf16(result) if in_bf16 else result
        return function

    return expression(parameters, {name: step(name) for name in FUNCTIONS})(*inputs)


def is_exact(parameters):
    return all(function in EXACT for function in parameters["functions"])


def bytes_of(parameters, sizes):
    def elements(tensor):
        return math.prod(end - begin for begin, end in zip(tensor["begin"], tensor["end"])) if tensor["begin"] else math.prod(
            tensor["shape"])
    return sum(elements(tensor) * sizes[tensor["type"]] for tensor in parameters["operands"] + [parameters["out"]])
