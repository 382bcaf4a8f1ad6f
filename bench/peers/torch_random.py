"""How a user of PyTorch would do a random problem: views by as_strided of one storage each, into an output that is there.

A route takes the storages of the inputs and of the output, as many elements each as random_problems.footprint says.
"""

import torch
import torch.nn.functional as F

from random_problems import SIZES, NoRoute, footprint

TYPES = {"bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
         "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "b128": torch.complex128}
TYPES.update({name: getattr(torch, full) for name, full in
              {"u16": "uint16", "u32": "uint32", "u64": "uint64", "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}.items()
              if hasattr(torch, full)})
MOVED_AS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
ATEN = torch.ops.aten


def placed(result, out):
    """Of functions without out=: their own memory where that lies as out does, else a copy in out."""
    return result if result.stride() == out.stride() else out.copy_(result)


BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "truediv": torch.div, "mod": torch.remainder,
          "fmod": torch.fmod, "pow": torch.pow, "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax,
          "fmin": torch.fmin, "hypot": torch.hypot, "atan2": torch.atan2, "copysign": torch.copysign,
          "bit_and": torch.bitwise_and, "bit_or": torch.bitwise_or, "bit_xor": torch.bitwise_xor,
          "shift_left": torch.bitwise_left_shift, "shift_right": torch.bitwise_right_shift, "equal": torch.eq,
          "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt, "greater_equal": torch.ge,
          "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
          "div_trunc": lambda a, b, out: torch.div(a, b, rounding_mode="trunc", out=out),
          "div_floor": lambda a, b, out: torch.div(a, b, rounding_mode="floor", out=out),
          "isclose": lambda a, b, out: placed(torch.isclose(a, b), out)}
UNARY = {name: getattr(torch, name) for name in
         ("neg", "abs", "sign", "square", "floor", "ceil", "trunc", "round", "logical_not", "sqrt", "rsqrt", "reciprocal", "exp",
          "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "erf",
          "sigmoid")}
UNARY.update({"bit_not": torch.bitwise_not, "relu": lambda a, out: torch.clamp(a, min=0, out=out),
              "isnan": lambda a, out: placed(torch.isnan(a), out), "isinf": lambda a, out: placed(torch.isinf(a), out),
              "isfinite": lambda a, out: placed(torch.isfinite(a), out), "silu": lambda a, out: ATEN.silu.out(a, out=out),
              "gelu": lambda a, out: ATEN.gelu.out(a, out=out),
              "gelu_tanh": lambda a, out: ATEN.gelu.out(a, approximate="tanh", out=out),
              "softplus": lambda a, out: ATEN.softplus.out(a, out=out), "elu": lambda a, out: ATEN.elu.out(a, out=out),
              "hardswish": lambda a, out: ATEN.hardswish.out(a, out=out),
              "hardsigmoid": lambda a, out: ATEN.hardsigmoid.out(a, out=out)})
UNSIGNED = ("u16", "u32", "u64")  # PyTorch has the types and next to no arithmetic


def type_of(problem, tensor):
    """Problems that only move elements take any type of their size."""
    types = {t["type"] for t in problem["inputs"] + [problem["out"]]}
    moves = problem["family"] in ("permute", "slice", "pad", "img2col") and len(types) == 1
    if moves and tensor["type"] not in ("bool", "f16", "bf16", "f32", "f64"):
        return MOVED_AS[SIZES[tensor["type"]]]
    if tensor["type"] not in TYPES:
        raise NoRoute(f"PyTorch {torch.__version__} has no {tensor['type']}")
    return TYPES[tensor["type"]]


def storages(problem):
    """[(shape, type)] of the memory of the inputs and of the output."""
    return [([footprint(tensor)], type_of(problem, tensor)) for tensor in problem["inputs"] + [problem["out"]]]


def on_views(problem, function):
    """function(out, inputs...) on views of the storages."""
    tensors = problem["inputs"] + [problem["out"]]

    def run(*memory):
        views = [torch.as_strided(m, t["shape"], t["strides"], t["offset"]) for m, t in zip(memory, tensors)]
        return function(views[-1], *views[:-1])
    return run


def pieces(out, x, options):
    """The signal and what stands beside it: one copy each."""
    left, right, length, mode = int(options["left"]), int(options["right"]), x.shape[2], options["mode"]
    out[:, :, left:left + length].copy_(x)
    before, behind = out[:, :, :left], out[:, :, left + length:]
    skip = 0 if mode == "symmetric" else 1
    if mode == "constant":
        sides = None, None
    elif mode == "replicate":
        sides = x[:, :, :1], x[:, :, -1:]
    elif mode == "circular":
        sides = x[:, :, length - left:], x[:, :, :right]
    else:
        sides = x[:, :, skip:skip + left].flip(2), x[:, :, length - skip - right:length - skip].flip(2)
    for side, target in zip(sides, (before, behind)):
        if target.shape[2] and side is None:
            target.zero_()
        elif target.shape[2]:
            target.copy_(side)
    return out


def img2col(out, x, options):
    """Padding in memory of its own, then one copy of the windows, cast on the way."""
    taps, stride, dilation = (int(options[name]) for name in ("taps", "stride", "dilation"))
    left, right = int(options["left"]), int(options["right"])
    if left or right:
        x = pieces(x.new_empty((x.shape[0], x.shape[1], x.shape[2] + left + right)), x, options)
    windows = x.unfold(2, (taps - 1) * dilation + 1, stride)[..., ::dilation]  # batch, channels, positions, taps
    tap_order = options["order"] == "tap"
    windows = windows.permute(0, 2, 3, 1) if tap_order else windows.permute(0, 2, 1, 3)
    batch, positions = windows.shape[:2]
    row, step = out.stride()
    target = torch.as_strided(out, windows.shape, (positions * row, row, windows.shape[3] * step, step), out.storage_offset())
    assert batch * positions == out.shape[0]
    return target.copy_(windows)


def depthwise(out, x, weights, bias, silu):
    taps = weights.shape[1]
    y = F.conv1d(x, weights.to(x.dtype)[:, None], None if bias is None else bias.to(x.dtype), padding=taps - 1,
                 groups=x.shape[1])[:, :, :x.shape[2]]
    return out.copy_(F.silu(y) if silu else y)


def quantized(problem):
    """What the codes stand for, the operation, and codes again: call by call."""
    function, options = problem["function"], problem["options"]
    one = function in ("quantize", "dequantize", "relu", "hardswish")
    operands = 1 if one else 2
    coded = [i for i in range(operands + 1) if f"zero{i}" in options]
    operation = {"quantize": lambda a: a, "dequantize": lambda a: a, "relu": F.relu, "hardswish": F.hardswish, "add": torch.add,
                 "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum}[function]

    def run(out, *views):
        scales = dict(zip(coded, views[operands:])) or {i: int(options[f"scale{i}"]) / 1024 for i in coded}

        def number(i):
            if i not in coded:
                return views[i]
            return torch.sub(views[i], float(options[f"zero{i}"])).mul_(scales[i])
        result = operation(*(number(i) for i in range(operands)))
        if operands not in coded:
            return out.copy_(result)
        low, high = (0, 255) if out.dtype == torch.uint8 else (-128, 127)
        return out.copy_(torch.div(result, scales[operands]).round_().add_(int(options[f"zero{operands}"])).clamp_(low, high))
    return run


def call_of(problem):
    """function(out, inputs...) on views. Raises NoRoute."""
    family, function, options = problem["family"], problem["function"], problem["options"]
    if family in ("permute", "slice", "cast"):
        return lambda out, x: out.copy_(x)
    if family in ("binary", "unary"):
        name = function
        if name == "div":
            name = "truediv" if problem["out"]["type"] in ("f16", "bf16", "f32", "f64") else "div_trunc"
        known = (BINARY if family == "binary" else UNARY).get(name)
        if known is None:
            raise NoRoute(f"PyTorch has no single call for {function}")
        if problem["inputs"][0]["type"] in UNSIGNED:
            raise NoRoute("PyTorch has no arithmetic of " + problem["inputs"][0]["type"])
        return lambda out, *views: known(*views, out=out)
    if family == "depthwise":
        return lambda out, x, weights, bias=None: depthwise(out, x, weights, bias, options["silu"] == "1")
    if family == "img2col":
        return lambda out, x: img2col(out, x, options)
    if family == "pad":
        return lambda out, x: pieces(out, x, options)
    return quantized(problem)


def route(problem):
    """(function of the storages, their shapes and types). Raises NoRoute."""
    return on_views(problem, call_of(problem)), storages(problem)
