from typing import Any, Literal, Protocol, Sequence, Union

from torch import Tensor

_DType = Any  # a type of torch, or a name such as "f16"
_Operand = Union[Tensor, bool, int, float]
_Pads = Union[int, tuple[int, int]]
_PadMode = Literal["constant", "replicate", "edge", "reflect", "symmetric", "circular", "wrap", "reflect_zero_extended"]
_Policy = Literal["strict", "extended"]
_Order = Literal["tap_outer", "channel_outer"]
_Activation = Literal["none", "silu"] | None

def permute(x: Tensor, axes: Sequence[int], *, dtype: _DType = ...) -> Tensor: ...
def transpose(x: Tensor, axes: Sequence[int] | None = ..., *, dtype: _DType = ...) -> Tensor: ...
def matrix_transpose(x: Tensor, *, dtype: _DType = ...) -> Tensor: ...
def copy(x: Tensor, *, dtype: _DType = ...) -> Tensor: ...
def contiguous(x: Tensor) -> Tensor: ...
def cast(x: Tensor, dtype: _DType, *, cast_rounding: str | None = ..., saturate_fp8: bool | None = ...,
         saturate_integers: bool | None = ...) -> Tensor: ...
def pad(x: Tensor, pad_width: _Pads, mode: _PadMode = ..., *, constant_values: float = ..., policy: _Policy = ...,
        dtype: _DType = ...) -> Tensor: ...
def img2col(x: Tensor, taps: int, *, stride: int = ..., dilation: int = ..., groups: int = ..., order: _Order = ...,
            pad_width: _Pads = ..., mode: _PadMode = ..., constant_values: float = ..., policy: _Policy = ...,
            dtype: _DType = ...) -> Tensor: ...
def rearrange_weights(weights: Tensor, *, order: _Order = ..., dtype: _DType = ...) -> Tensor: ...
def gemm(a: Tensor, bt: Tensor, bias: Tensor | None = ..., *, dtype: _DType = ...) -> Tensor: ...
def conv1d(x: Tensor, weights: Tensor, bias: Tensor | None = ..., *, stride: int = ..., dilation: int = ...,
           groups: int = ..., pad_width: _Pads = ..., dtype: _DType = ...) -> Tensor: ...
def depthwise_conv1d(x: Tensor, weights: Tensor, bias: Tensor | None = ..., *, activation: _Activation = ...,
                     initial_state: Tensor | None = ..., sequence_ids: Tensor | None = ...,
                     return_final_state: bool = ...) -> Any: ...  # a Tensor, or two
def depthwise_update(state: Tensor, x: Tensor, weights: Tensor, bias: Tensor | None = ..., *, activation: _Activation = ...,
                     state_indices: Tensor | None = ..., null_index: int = ..., cache_seqlens: Tensor | None = ...,
                     num_accepted_tokens: Tensor | None = ..., query_start_loc: Tensor | None = ...) -> Tensor: ...
def depthwise_update_functional(state: Tensor, x: Tensor, weights: Tensor, bias: Tensor | None = ..., *,
                                activation: _Activation = ..., state_indices: Tensor | None = ..., null_index: int = ...,
                                cache_seqlens: Tensor | None = ..., num_accepted_tokens: Tensor | None = ...,
                                query_start_loc: Tensor | None = ...) -> tuple[Tensor, Tensor]: ...
def depthwise_varlen(x: Tensor, query_start_loc: Tensor, weights: Tensor, bias: Tensor | None = ..., *,
                     activation: _Activation = ..., states: Tensor | None = ..., state_indices: Tensor | None = ...,
                     has_initial_state: Tensor | None = ..., null_index: int = ...) -> Tensor: ...
def depthwise_varlen_states(x: Tensor, query_start_loc: Tensor, state_length: int) -> Tensor: ...
def quantize(x: Tensor, scale: Tensor | float, zero: Tensor | int = ..., *, dtype: _DType = ...) -> Tensor: ...
def dequantize(codes: Tensor, scale: Tensor | float, zero: Tensor | int = ...) -> Tensor: ...
def chain(steps: Sequence[str | tuple[str, int]], *operands: _Operand, dtype: _DType = ...) -> Tensor: ...

# The element-wise operations, and numpy's names for them.
class _One(Protocol):
    def __call__(self, a: _Operand, /, *, dtype: _DType = ...) -> Tensor: ...

class _Two(Protocol):
    def __call__(self, a: _Operand, b: _Operand, /, *, dtype: _DType = ...) -> Tensor: ...

class _Three(Protocol):
    def __call__(self, a: _Operand, b: _Operand, c: _Operand, /, *, dtype: _DType = ...) -> Tensor: ...

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
