"""How relayout.jax calls XLA: the handlers, the text that they read, and the frame of a derivative."""
import ctypes
import functools
import pathlib

import jax
import jax.dtypes as dtypes
import jax.ffi as ffi
import jax.numpy as jnp

import relayout
from relayout import Error, _core, _frameworks

_TARGET = "relayout"


def _register():
    file = pathlib.Path(_core.__file__).with_name("_jax_handlers.so")
    if not file.exists():
        raise ImportError("relayout was built without the handlers for jax: build it where python3 has jax, with "
                          "--no-build-isolation, or with -DRELAYOUT_JAX_INCLUDE=FOLDER of jax.ffi.include_dir()")
    library = ctypes.CDLL(str(file))
    platforms = {"cpu": "relayout_jax_cpu"}
    for backend, platform in (("cuda", "CUDA"), ("hip", "ROCM")):
        if backend in relayout.built_with():
            platforms[platform] = "relayout_jax_gpu"
    for platform, symbol in platforms.items():
        ffi.register_ffi_target(_TARGET, ffi.pycapsule(getattr(library, symbol)), platform=platform)


_register()


def dtype_of(dtype):
    """jax's type of a name or a type."""
    name = _frameworks._TYPES[_frameworks.dtype_name(dtype)][0]
    return jnp.dtype(getattr(jnp, "bool_" if name == "bool" else name))


def name_of(x):
    return _frameworks.dtype_name(x.dtype)


def choice(value, choices, what):
    if value not in choices:
        raise Error(f"{what} is {value!r}, and must be one of {', '.join(choices)}")
    return choices.index(value)


def text(operation, **options):
    """What the handler reads; options that are None are left out."""
    words = [operation]
    for name, value in options.items():
        if value is None:
            continue
        values = value if isinstance(value, (tuple, list)) else (value,)
        words.append(f"{name}=" + ",".join(float(v).hex() if isinstance(v, float) else str(int(v)) if isinstance(v, bool)
                                           else str(v) for v in values))
    return " ".join(words)


def call(text, operands, results, layouts=None):
    """The results, which are (shape, dtype). layouts: of the operands, then of the results; None is C order."""
    if all(0 in shape for shape, _ in results):
        return [jnp.zeros(shape, dtype) for shape, dtype in results]
    options = {}
    if layouts is not None and any(layout is not None for layout in layouts):
        ranks = [x.ndim for x in operands] + [len(shape) for shape, _ in results]
        whole = [tuple(range(rank)) if layout is None else layout for rank, layout in zip(ranks, layouts)]
        text += "".join(f" layout{i}=" + ",".join(map(str, layout)) for i, layout in enumerate(layouts) if layout is not None)
        options = {"input_layouts": whole[:len(operands)], "output_layouts": whole[len(operands):]}
    shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
    made = ffi.ffi_call(_TARGET, shapes, vmap_method="sequential", **options)
    return list(made(*operands, call=text))


def checked_layout(layout, x):
    """Counted from the first axis; None for C order."""
    if layout is None:
        return None
    counted = tuple(axis % x.ndim if -x.ndim <= axis < x.ndim else axis for axis in layout)
    if sorted(counted) != list(range(x.ndim)):
        raise Error(f"layout is {tuple(layout)}, no permutation of the {x.ndim} axes of x")
    return None if counted == tuple(range(x.ndim)) else counted


def check_rank(x, rank, what):
    if x.ndim != rank:
        raise Error(f"{what} has {x.ndim} axes, and must have {rank}", "rank")


def differentiable(backward):
    """A function of (arrays, static arguments) with a derivative by the floating arrays: backward(static, arrays, gradient)
    gives one for each array, None for none."""
    def run_backward(static, arrays, gradient):
        if getattr(gradient, "dtype", None) == dtypes.float0:  # of integers nothing flows
            return ((None,) * len(arrays),)
        parts = backward(static, arrays, gradient)
        return (tuple(part if x is not None and jnp.issubdtype(x.dtype, jnp.inexact) else None
                      for x, part in zip(arrays, parts)),)

    def decorate(function):
        @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
        @functools.wraps(function)
        def run(arrays, static):
            return function(arrays, static)

        run.defvjp(lambda arrays, static: (function(arrays, static), arrays), run_backward)
        return run
    return decorate
