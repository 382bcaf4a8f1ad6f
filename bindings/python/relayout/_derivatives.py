"""The derivatives of the element-wise operations, for relayout.torch.

Each entry gives, from the operands as tensors of the type that is computed in, a factor for each operand: a tensor or
number that the incoming gradient is multiplied by, a bool tensor that lets it through, or None where nothing flows. What an
operation gives at a kink is what torch gives there.
"""
import math

import torch

_ROOT_PI = math.sqrt(math.pi)
_GELU, _CUBE = math.sqrt(2 / math.pi), 0.044715


def _power(a, b):
    base = torch.where(b == 0, 0.0, b * torch.pow(a, b - 1))
    exponent = torch.where((a == 0) & (b >= 0), 0.0, torch.pow(a, b) * torch.log(a))
    return base, exponent


def _silu(a):
    s = torch.sigmoid(a)
    return (s * (1 + a * (1 - s)),)


def _gelu(a):
    return (0.5 * (1 + torch.erf(a / math.sqrt(2))) + a * torch.exp(-0.5 * a * a) / (math.sqrt(2) * _ROOT_PI),)


def _gelu_tanh(a):
    t = torch.tanh(_GELU * (a + _CUBE * a * a * a))
    return (0.5 * (1 + t) + 0.5 * a * (1 - t * t) * _GELU * (1 + 3 * _CUBE * a * a),)


def _of_larger(a, b):
    """maximum: to the larger, to NaN, and half to each of two that are equal."""
    half = torch.where(a == b, 0.5, 1.0)
    return torch.where(a < b, 0.0, half), torch.where(b < a, 0.0, half)


def _of_smaller(a, b):
    return _of_larger(-a, -b)


def _fmax(a, b):
    first = (a >= b) | torch.isnan(b)
    return first, ~first


def _fmin(a, b):
    first = (a <= b) | torch.isnan(b)
    return first, ~first


def _distance(a, b):
    sign = torch.sign(a - b)
    return sign, -sign


def _squared_distance(a, b):
    twice = 2 * (a - b)
    return twice, -twice


def _quotient(a, b):
    return 1 / b, -a / (b * b)


def _hypot(a, b):
    h = torch.hypot(a, b)
    return a / h, b / h


def _angle(a, b):
    square = a * a + b * b
    return b / square, -a / square


def _where(a, b, c):
    chosen = a != 0
    return None, chosen, ~chosen


def _clip(a, low, high):
    inside = (a >= low) & (a <= high)
    return inside, (a < low) & (low < high), (a > high) | (high < low)


# Those that do not depend on the operands, so that no operand needs to be kept.
CONSTANT = {"add": (1, 1), "sub": (1, -1), "neg": (-1,),
            **dict.fromkeys(("sign", "step", "floor", "ceil", "trunc", "round"), (None,)),
            **dict.fromkeys(("div_trunc", "div_floor"), (None, None))}

FACTORS = {
    "mul": lambda a, b: (b, a), "div": _quotient, "truediv": _quotient, "pow": _power,
    "mod": lambda a, b: (1, -torch.floor(a / b)), "fmod": lambda a, b: (1, -torch.trunc(a / b)),
    "maximum": _of_larger, "minimum": _of_smaller, "fmax": _fmax, "fmin": _fmin,
    "prelu": lambda a, b: (torch.where(a > 0, 1.0, b), torch.where(a > 0, 0.0, a)),
    "abs_diff": _distance, "squared_diff": _squared_distance, "hypot": _hypot, "atan2": _angle,
    "copysign": lambda a, b: (torch.sign(a) * torch.copysign(torch.ones_like(a), b), None),
    "where": _where, "clip": _clip, "lerp": lambda a, b, c: (1 - c, c, b - a),
    "abs": lambda a: (torch.sign(a),), "square": lambda a: (2 * a,), "relu": lambda a: (a > 0,),
    "sqrt": lambda a: (0.5 * torch.rsqrt(a),), "rsqrt": lambda a: (-0.5 * torch.rsqrt(a) / a,),
    "reciprocal": lambda a: (-1 / (a * a),),
    "exp": lambda a: (torch.exp(a),), "exp2": lambda a: (math.log(2) * torch.exp2(a),),
    "expm1": lambda a: (torch.exp(a),), "log": lambda a: (1 / a,), "log2": lambda a: (1 / (math.log(2) * a),),
    "log1p": lambda a: (1 / (1 + a),),
    "sin": lambda a: (torch.cos(a),), "cos": lambda a: (-torch.sin(a),),
    "tan": lambda a: (1 + torch.square(torch.tan(a)),), "sinh": lambda a: (torch.cosh(a),),
    "cosh": lambda a: (torch.sinh(a),), "tanh": lambda a: (1 - torch.square(torch.tanh(a)),),
    "asin": lambda a: (torch.rsqrt(1 - a * a),), "acos": lambda a: (-torch.rsqrt(1 - a * a),),
    "atan": lambda a: (1 / (1 + a * a),), "erf": lambda a: (2 / _ROOT_PI * torch.exp(-a * a),),
    "sigmoid": lambda a: (torch.sigmoid(a) * (1 - torch.sigmoid(a)),), "silu": _silu,
    "gelu": _gelu, "gelu_tanh": _gelu_tanh, "softplus": lambda a: (torch.sigmoid(a),),
    "elu": lambda a: (torch.where(a > 0, 1.0, torch.exp(a)),),
    "hardsigmoid": lambda a: (((a > -3) & (a < 3)).to(a.dtype) / 6,),
    "hardswish": lambda a: (torch.where(a <= -3, 0.0, torch.where(a >= 3, 1.0, a / 3 + 0.5)),),
}


def gradients(name, operands, wanted, gradient):
    """Those of one operation by its operands: for each that is wanted one of its shape and type, else None. Operands are
    numbers and tensors; for an operation of CONSTANT a shape and a dtype will do for a tensor. Computed in f32, or in f64
    where anything is f64."""
    dtypes = [gradient.dtype, *(x.dtype for x in operands if hasattr(x, "dtype"))]
    compute = torch.float64 if torch.float64 in dtypes else torch.float32
    gradient = gradient.to(compute)
    if name in CONSTANT:
        factors = CONSTANT[name]
    else:
        factors = FACTORS[name](*(x.to(compute) if isinstance(x, torch.Tensor) else gradient.new_full((), x)
                                  for x in operands))
    return [_flown(gradient, factor, x.shape).to(x.dtype) if wants else None
            for x, factor, wants in zip(operands, factors, wanted)]


def _flown(gradient, factor, shape):
    if factor is None:
        return gradient.new_zeros(shape)
    if isinstance(factor, torch.Tensor):
        gradient = torch.where(factor, gradient, 0.0) if factor.dtype == torch.bool else gradient * factor
    elif factor != 1:
        gradient = gradient * factor
    return gradient if gradient.shape == shape else gradient.sum_to_size(shape)  # of an operand that was broadcast
