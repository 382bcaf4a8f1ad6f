from typing import Any, Literal, Protocol, Sequence, Union

from jax import Array
from jax.typing import ArrayLike

_DType = Any  # a type of jax, or a name such as "f16"
_Layout = Sequence[int] | None
_Pads = Union[int, tuple[int, int]]
_PadMode = Literal["constant", "replicate", "edge", "reflect", "symmetric", "circular", "wrap", "reflect_zero_extended"]
_Policy = Literal["strict", "extended"]
_Order = Literal["tap_outer", "channel_outer"]
_Activation = Literal["none", "silu"] | None

def permute(x: ArrayLike, axes: Sequence[int], *, dtype: _DType = ..., layout: _Layout = ...) -> Array: ...
def transpose(x: ArrayLike, axes: Sequence[int] | None = ..., *, dtype: _DType = ..., layout: _Layout = ...) -> Array: ...
def matrix_transpose(x: ArrayLike, *, dtype: _DType = ..., layout: _Layout = ...) -> Array: ...
def cast(x: ArrayLike, dtype: _DType, *, cast_rounding: str | None = ..., saturate_fp8: bool | None = ...,
         saturate_integers: bool | None = ...) -> Array: ...
def pad(x: ArrayLike, pad_width: _Pads, mode: _PadMode = ..., *, constant_values: float = ..., policy: _Policy = ...,
        dtype: _DType = ...) -> Array: ...
def img2col(x: ArrayLike, taps: int, *, stride: int = ..., dilation: int = ..., groups: int = ..., order: _Order = ...,
            pad_width: _Pads = ..., mode: _PadMode = ..., constant_values: float = ..., policy: _Policy = ...,
            dtype: _DType = ...) -> Array: ...
def depthwise_conv1d(x: ArrayLike, weights: ArrayLike, bias: ArrayLike | None = ..., *, activation: _Activation = ...,
                     initial_state: ArrayLike | None = ..., sequence_ids: ArrayLike | None = ...,
                     return_final_state: bool = ..., layout: _Layout = ...) -> Any: ...  # an Array, or two
def chain(steps: Sequence[str | tuple[str, int]], *operands: ArrayLike, dtype: _DType = ...) -> Array: ...

# The element-wise operations, and numpy's names for them.
class _One(Protocol):
    def __call__(self, a: ArrayLike, /, *, dtype: _DType = ...) -> Array: ...

class _Two(Protocol):
    def __call__(self, a: ArrayLike, b: ArrayLike, /, *, dtype: _DType = ...) -> Array: ...

class _Three(Protocol):
    def __call__(self, a: ArrayLike, b: ArrayLike, c: ArrayLike, /, *, dtype: _DType = ...) -> Array: ...

neg: _One
abs: _One
sign: _One
relu: _One
square: _One
step: _One
floor: _One
ceil: _One
trunc: _One
round: _One
bit_not: _One
logical_not: _One
isnan: _One
isinf: _One
isfinite: _One
sqrt: _One
rsqrt: _One
reciprocal: _One
exp: _One
exp2: _One
expm1: _One
log: _One
log2: _One
log1p: _One
sin: _One
cos: _One
tan: _One
sinh: _One
cosh: _One
tanh: _One
asin: _One
acos: _One
atan: _One
erf: _One
sigmoid: _One
silu: _One
gelu: _One
gelu_tanh: _One
softplus: _One
elu: _One
hardswish: _One
hardsigmoid: _One
negative: _One
absolute: _One
bitwise_not: _One
invert: _One
rint: _One
arcsin: _One
arccos: _One
arctan: _One
add: _Two
sub: _Two
mul: _Two
div: _Two
truediv: _Two
div_trunc: _Two
div_floor: _Two
mod: _Two
fmod: _Two
pow: _Two
maximum: _Two
minimum: _Two
fmax: _Two
fmin: _Two
prelu: _Two
abs_diff: _Two
squared_diff: _Two
hypot: _Two
atan2: _Two
copysign: _Two
bit_and: _Two
bit_or: _Two
bit_xor: _Two
shift_left: _Two
shift_right: _Two
equal: _Two
not_equal: _Two
less: _Two
less_equal: _Two
greater: _Two
greater_equal: _Two
isclose: _Two
logical_and: _Two
logical_or: _Two
logical_xor: _Two
subtract: _Two
multiply: _Two
divide: _Two
true_divide: _Two
floor_divide: _Two
remainder: _Two
power: _Two
bitwise_and: _Two
bitwise_or: _Two
bitwise_xor: _Two
left_shift: _Two
right_shift: _Two
arctan2: _Two
leaky_relu: _Two
where: _Three
clip: _Three
lerp: _Three
