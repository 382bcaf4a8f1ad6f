"""How a user of numpy would do a random problem: views by as_strided of one storage each, into an output that is there.

A route takes the storages of the inputs and of the output, as many elements each as random_problems.footprint says.
"""

import numpy as np

from random_problems import SIZES, NoRoute, footprint

TYPES = {"bool": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32,
         "u64": np.uint64, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "b128": np.complex128}
MOVED_AS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}

BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "div_floor": np.floor_divide,
          "mod": np.remainder, "fmod": np.fmod, "pow": np.power, "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax,
          "fmin": np.fmin, "hypot": np.hypot, "atan2": np.arctan2, "copysign": np.copysign, "bit_and": np.bitwise_and,
          "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor, "shift_left": np.left_shift, "shift_right": np.right_shift,
          "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
          "greater_equal": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
          "logical_xor": np.logical_xor}
UNARY = {"neg": np.negative, "abs": np.absolute, "sign": np.sign, "square": np.square, "floor": np.floor, "ceil": np.ceil,
         "trunc": np.trunc, "round": np.rint, "logical_not": np.logical_not, "bit_not": np.invert, "sqrt": np.sqrt,
         "reciprocal": np.reciprocal, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
         "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
         "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "isnan": np.isnan, "isinf": np.isinf,
         "isfinite": np.isfinite, "relu": lambda a, out, casting: np.maximum(a, 0, out=out, casting=casting)}


def type_of(problem, tensor):
    """Problems that only move elements take any type of their size."""
    name = tensor["type"]
    if name not in TYPES and {t["type"] for t in problem["inputs"] + [problem["out"]]} == {name}:
        return MOVED_AS[SIZES[name]]
    if name not in TYPES:
        raise NoRoute("numpy has no " + name)
    return TYPES[name]


def random_array(shape, dtype):
    generator = np.random.default_rng(1)
    if np.dtype(dtype).kind in "fc":  # the numbers that relayout_bench draws: half of them below 1
        unit = generator.random(shape, np.float32)
        return np.where(generator.random(shape, np.float32) < 0.5, 0.125 + 0.875 * unit, 1 + 99 * unit).astype(dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape, np.uint8).astype(np.bool_)
    return generator.integers(0, np.iinfo(dtype).max, shape, dtype)


def call_of(problem):
    """function(out, inputs...) on views. Raises NoRoute."""
    family, function = problem["family"], problem["function"]
    if family in ("permute", "slice", "cast"):
        return lambda out, x: np.copyto(out, x, casting="unsafe")
    if family not in ("binary", "unary"):
        raise NoRoute("numpy has no call for " + family)
    if function == "div" and problem["out"]["type"] in ("f16", "f32", "f64"):
        function = "truediv"
    known = (BINARY if family == "binary" else UNARY).get(function)
    if known is None or any(t["type"] not in TYPES for t in problem["inputs"] + [problem["out"]]):
        raise NoRoute(f"numpy has no single call for {function} of these types")
    return lambda out, *views: known(*views, out=out, casting="unsafe")


def route(problem):
    """(function of the storages, their shapes and types). Raises NoRoute."""
    tensors = problem["inputs"] + [problem["out"]]
    call = call_of(problem)

    def run(*memory):
        views = [np.lib.stride_tricks.as_strided(m[t["offset"]:], t["shape"], [s * m.itemsize for s in t["strides"]])
                 for m, t in zip(memory, tensors)]
        with np.errstate(all="ignore"):
            return call(views[-1], *views[:-1])
    return run, [([footprint(t)], type_of(problem, t)) for t in tensors]
