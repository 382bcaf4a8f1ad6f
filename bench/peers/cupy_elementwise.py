"""How a user of CuPy would do the suites `elementwise` and `quantized`: its functions one after another, or fused."""

import math

import cupy
from cupyx.scipy.special import erf

import formulas
from elementwise_formulas import expression, view_of

FUNCTIONS = {"add": cupy.add, "sub": cupy.subtract, "mul": cupy.multiply, "maximum": cupy.maximum, "greater": cupy.greater,
             "less": cupy.less, "logical_and": cupy.logical_and, "pow": cupy.power, "clip": cupy.clip, "sqrt": cupy.sqrt,
             "exp": cupy.exp, "tanh": cupy.tanh}
INTO_OUT = {**FUNCTIONS, "relu": lambda x, out: cupy.maximum(x, 0, out=out)}


def gelu(x):
    """Computes in float32: CuPy computes erf of float16 in float64."""
    wide = x.astype(cupy.float32)
    return (wide * 0.5 * (1 + erf(wide * math.sqrt(0.5)))).astype(x.dtype)


# Operations that are written as formulas are only worth timing when they are fused.
TO_FUSE = {**FUNCTIONS, "relu": lambda x: cupy.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + cupy.exp(-x)),
           "silu": lambda x: x / (1 + cupy.exp(-x)), "gelu": gelu}


def map(function):
    return "fuse", cupy.fuse(kernel_name="fused")(function)


def elementwise_routes(parameters, out_type):
    names, shape = parameters["functions"], parameters["out"]["shape"]
    found = []
    if all(name in INTO_OUT for name in names):
        run = expression(parameters, INTO_OUT, cupy.transpose)
        out_view = view_of(parameters["out"], cupy.transpose)
        found.append(("out=", lambda *memory: run(*memory, out=out_view(cupy.empty(shape, out_type)))))
    if len(names) > 1 or not found:
        found.append(map(expression(parameters, TO_FUSE, cupy.transpose)))
    return found


def quantized_routes(parameters, _):
    return [map(lambda *inputs: formulas.quantized(parameters, inputs, cupy))]
