"""How a user of PyTorch would do the suites `elementwise` and `quantized`: call after call, or compiled into one kernel.

Operands that are transposed, permuted or sliced are views of what lies in memory, in compiled code too.
"""

import torch
import torch.nn.functional as F

from elementwise_formulas import expression, view_of

FUNCTIONS = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "truediv": torch.div, "maximum": torch.maximum,
             "greater": torch.gt, "less": torch.lt, "logical_and": torch.logical_and, "pow": torch.pow, "clip": torch.clamp,
             "sqrt": torch.sqrt, "exp": torch.exp, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu,
             "gelu": F.gelu, "silu": F.silu}
# gelu and silu have no out=, they return memory of their own.
INTO_OUT = {**FUNCTIONS, "relu": lambda a, out: torch.clamp(a, min=0, out=out), "gelu": lambda a, out: F.gelu(a),
            "silu": lambda a, out: F.silu(a)}


def compiled(function):
    """[a route], or none before PyTorch 2.1."""
    if not hasattr(torch, "compiler"):
        return []
    # PyTorch keeps what it compiled by the function's code, which all cases share: without the reset it would see a case as
    # another call of the last one, and after some of them compile no more.
    torch.compiler.reset()
    return [("torch.compile", torch.compile(function, fullgraph=True, dynamic=False))]


def elementwise_routes(parameters, out_type):
    into_out, plain = (expression(parameters, functions, torch.permute) for functions in (INTO_OUT, FUNCTIONS))
    shape, out_view = parameters["out"]["shape"], view_of(parameters["out"], torch.permute)

    def one_after_another(*memory):
        """The first call writes the output, those that follow change it in place."""
        out = torch.empty(shape, dtype=out_type, device=memory[0].device)
        return into_out(*memory, out=out_view(out))

    def at_once(*memory):
        return plain(*memory).contiguous()

    return [("out=", one_after_another)] + compiled(at_once)


def quantized_routes(parameters, _):
    """Dequantises, operates and quantises. A NaN, from 0 / 0, becomes the zero point."""
    function, zeros, numbers = FUNCTIONS[parameters["function"]], parameters["zeros"], parameters["scales"]
    divides = parameters["function"] == "truediv"

    def result_in_place(a, b, scales):
        a, b = (torch.sub(codes, float(zeros[i])).mul_(scales[i]) for i, codes in enumerate((a, b)))
        return function(a, b, out=a)

    def in_place(a, b, *scales):
        scales = scales or numbers
        units = result_in_place(a, b, scales).div_(scales[2]).round_()
        if divides:
            units.nan_to_num_(nan=0.0)
        return units.add_(zeros[2]).clamp_(-128, 127).to(torch.int8)

    def by_quantize(a, b):
        return torch.quantize_per_tensor(result_in_place(a, b, numbers), numbers[2], zeros[2], torch.qint8).int_repr()

    def formula(a, b, *scales):
        scales = scales or numbers
        units = torch.round(function((a.float() - zeros[0]) * scales[0], (b.float() - zeros[1]) * scales[1]) / scales[2])
        if divides:
            units = torch.nan_to_num(units, nan=0.0)
        return torch.clamp(units + zeros[2], -128, 127).to(torch.int8)

    found = [("in place", in_place)]
    if not parameters["channels"] and not divides:  # it takes one scale, and does not define infinity
        found.append(("quantize_per_tensor", by_quantize))
    return found + compiled(formula)
