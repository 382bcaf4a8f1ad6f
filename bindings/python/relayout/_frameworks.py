"""What the extension asks of the frameworks whose tensors it is given. No framework is imported before one of its tensors
was seen."""
import numbers
import sys

from . import _core

# relayout's types: the name in frameworks, and the bytes of an element.
_TYPES = {"bool": ("bool", 1), "u8": ("uint8", 1), "u16": ("uint16", 2), "u32": ("uint32", 4), "u64": ("uint64", 8),
          "i8": ("int8", 1), "i16": ("int16", 2), "i32": ("int32", 4), "i64": ("int64", 8), "f16": ("float16", 2),
          "bf16": ("bfloat16", 2), "f32": ("float32", 4), "f64": ("float64", 8), "tf32": ("tf32", 4),
          "e4m3fn": ("float8_e4m3fn", 1), "e5m2": ("float8_e5m2", 1), "c64": ("complex64", 8), "c128": ("complex128", 16)}
# Types that numpy lacks, and what a View of them is made of.
_UNSIGNED = {"bf16": "u16", "tf32": "u32", "e4m3fn": "u8", "e5m2": "u8"}
_CUDA, _ROCM = 2, 10


class View:
    """The memory of a tensor, read as elements of another type of the same size: `View(array, "bf16")` of a numpy array
    of uint16. For element types that a framework lacks. Where an input is a View, so is a new output."""

    __slots__ = ("array", "dtype")

    def __init__(self, array, dtype):
        self.array = array
        self.dtype = dtype_name(dtype)
        if self.dtype is None:
            raise TypeError("a View needs the type that its elements are read as")
        size = _TYPES[self.dtype][1]
        given = array.element_size() if _is_torch(array) else getattr(array, "itemsize", None)
        if given is None:
            raise TypeError(f"a View is of a tensor, and {type(array).__name__} is none whose elements have a known size")
        if size != given:
            raise TypeError(f"elements of {given} bytes cannot be read as {self.dtype}, which has {size}")

    def __repr__(self):
        return f"View({self.array!r}, {self.dtype!r})"


def dtype_name(dtype):
    """relayout's name of a type: of a name, a type of numpy or torch, or a scalar's class of numpy."""
    if dtype is None:
        return None
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
    name = name.rpartition(".")[2]
    if name == "bool_":
        return "bool"
    for ours, (theirs, _) in _TYPES.items():
        if name in (ours, theirs):
            return ours
    raise TypeError(f"relayout has no element type {name!r}")


def _root(x):
    return type(x).__module__.partition(".")[0]


def _is_torch(x):
    return "torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)


def describe(x):
    """(address, shape, strides or None, unit of the strides in bytes, type, device type, device, whether read-only)"""
    interface = x.__cuda_array_interface__
    address, read_only = interface["data"]
    kind = interface["typestr"]
    names = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    if kind[1] not in names or kind[0] == ">":
        raise TypeError(f"__cuda_array_interface__ gives the type {kind!r}, which relayout does not have")
    name = "bool" if kind[1] == "b" else f"{names[kind[1]]}{8 * int(kind[2:])}"
    device = getattr(getattr(x, "device", None), "id", 0)
    gpu = _ROCM if "hip" in _core.built_with.split(",") else _CUDA
    return address, interface["shape"], interface.get("strides"), 1, name, gpu, device, read_only


def torch_strided():
    return sys.modules["torch"].strided


def torch_device(x):
    """(DLPack's device type, number) of a tensor that is not on the CPU."""
    if x.device.type != "cuda":
        raise TypeError(f"the tensor lies on {x.device}, and relayout takes cpu and cuda")
    return _ROCM if sys.modules["torch"].version.hip else _CUDA, x.device.index


def current_stream(x):
    """The handle of the stream that the tensor's framework works on now; 0 is the default stream."""
    if isinstance(x, View):
        return current_stream(x.array)
    if _is_torch(x):
        return sys.modules["torch"].cuda.current_stream(x.device).cuda_stream
    if _root(x) == "cupy":
        with x.device:  # each device has a current stream of its own
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def grad_enabled(_):
    return sys.modules["torch"].is_grad_enabled()


def is_number(x):
    numpy = sys.modules.get("numpy")
    return isinstance(x, numbers.Number) or (numpy is not None and isinstance(x, numpy.generic))


def as_number(x, name):
    """x, a number of Python or a scalar of numpy, as a number of Python."""
    number = x.item() if is_number(x) and hasattr(x, "item") else x
    if not isinstance(number, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(x).__name__}")
    return number


def is_numpy(kind):
    masked = sys.modules.get("numpy.ma")
    if masked is not None and issubclass(kind, masked.MaskedArray):
        raise TypeError("relayout has no masks: pass the array's filled(), or its data")
    return "numpy" in sys.modules and kind is sys.modules["numpy"].ndarray


def version_counter(kind):
    """torch's function that tells autograd of tensors that were written to, given as a tuple: with it a derivative that
    needs what they held before is an error. None for other types than torch's, and where torch has no such function."""
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor) or not hasattr(torch.autograd.graph, "increment_version"):
        return None
    try:
        torch.autograd.graph.increment_version(())
    except (RuntimeError, TypeError):  # a torch whose function takes one tensor, which is none of inference mode
        one = torch.autograd.graph.increment_version
        return lambda tensors: [one(tensor) for tensor in tensors if not tensor.is_inference()]
    return torch._C._increment_version  # what the function calls in the end, at a third of its time


def numpy_type(name):
    import numpy
    try:
        return numpy.dtype(_TYPES[name][0])
    except TypeError:
        try:
            import ml_dtypes
            return numpy.dtype(getattr(ml_dtypes, _TYPES[name][0]))
        except (ImportError, AttributeError):
            raise TypeError(f"numpy has no element type {name}: install ml_dtypes, or give out=, which may be a "
                            "relayout.View") from None


def numpy_function(name):
    return getattr(sys.modules["numpy"], name)


def empty(x, shape, name):
    """A new tensor of x's kind, on its device."""
    if isinstance(x, View):
        plain = _UNSIGNED.get(name, name)
        made = empty(x.array, shape, plain)
        return made if plain == name else View(made, name)
    root = _root(x)
    if root == "numpy":
        return numpy_function("empty")(shape, numpy_type(name))
    if _is_torch(x):
        torch = sys.modules["torch"]
        dtype = getattr(torch, _TYPES[name][0], None)
        if dtype is None:
            raise TypeError(f"this torch has no element type {name}: give out=, which may be a relayout.View")
        return torch.empty(shape, dtype=dtype, device=x.device)
    if root == "cupy":
        cupy = sys.modules["cupy"]
        with x.device:
            return cupy.empty(shape, dtype=_TYPES[name][0])
    raise TypeError(f"relayout cannot make a tensor of the kind {type(x).__module__}.{type(x).__qualname__}: give out=")
