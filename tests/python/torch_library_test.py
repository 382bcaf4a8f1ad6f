#!/usr/bin/env python3
"""relayout.torch: operators of torch.library beside torch's own operations, with opcheck, gradcheck, torch.compile and, where
there is a GPU that relayout was built for, CUDA graphs. Needs torch 2.4; with an older one only the refusal is tested. Ends
with 77 where there is no torch."""
import ast
import inspect
import pathlib
import sys
import threading
import unittest

try:
    import torch
    from torch.autograd import forward_ad
except ImportError:
    print("there is no torch")
    sys.exit(77)

import relayout

IS_OLD = not hasattr(torch.library, "register_autograd")
if not IS_OLD:
    import relayout.torch as rt
    ops = torch.ops.relayout

torch.backends.cudnn.allow_tf32 = False  # what is compared with is f32
HAS_GPU = torch.cuda.is_available() and relayout.gpu_count() > 0
DEVICES = ["cpu"] + ["cuda"] * HAS_GPU
WITHOUT_GPU = "torch has no GPU, or relayout was not built for it"
BACKENDS = ["aot_eager", "inductor"]  # the second where it can compile at all
# Operations with a derivative, by what they need: (lowest, highest) operand of f64, away from kinks.
ANY = ("neg abs square relu exp exp2 expm1 sin cos sinh cosh tanh atan erf sigmoid silu gelu gelu_tanh softplus elu "
       "hardsigmoid hardswish sign step floor ceil trunc round").split()
POSITIVE = "sqrt rsqrt reciprocal log log2 log1p tan".split()
UNIT = "asin acos".split()
TWO = ("add sub mul div truediv maximum minimum fmax fmin prelu abs_diff squared_diff hypot atan2 copysign mod fmod div_floor "
       "div_trunc pow").split()


def away_from_kinks(shape, low, high, device, seed=0):
    """Uniform, none near a multiple of a half, in f64."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
    near = (2 * x - (2 * x).round()).abs() < 0.1
    return torch.where(near, x + 0.08, x).to(device)


def leaf(x):
    return x.detach().clone().requires_grad_()


def usable(backend, device):
    """Whether the back end can compile; inductor needs a compiler and the headers of torch and Python."""
    try:
        torch.compile(lambda x: x * 2 + 1, backend=backend)(torch.ones(3, device=device))
    except Exception as error:  # of the many kinds that its tools raise
        print(f"not tested with {backend} on {device}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
        return False
    return True


class OldTorch(unittest.TestCase):
    @unittest.skipUnless(IS_OLD, "this torch is new enough")
    def test_the_version_is_named(self):
        with self.assertRaisesRegex(ImportError, "torch 2.4 or newer"):
            import relayout.torch  # noqa: F401


class Case(unittest.TestCase):
    def setUp(self):
        if IS_OLD:
            self.skipTest(f"torch {torch.__version__} has no torch.library.register_autograd")
        torch.manual_seed(7)
        torch._dynamo.reset()

    def same(self, ours, theirs):
        self.assertEqual((ours.dtype, ours.shape, ours.device), (theirs.dtype, theirs.shape, theirs.device))
        self.assertTrue(torch.equal(ours, theirs), f"{ours}\n{theirs}")

    def close(self, ours, theirs, tolerance=1e-5):
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


class Results(Case):
    def test_movement(self):
        for device in DEVICES:
            x = torch.randn(2, 3, 5, device=device)
            self.same(rt.permute(x, (2, 0, -2)), x.permute(2, 0, 1).contiguous())
            self.same(rt.permute(x, (2, 0, 1), dtype="bf16"), x.permute(2, 0, 1).bfloat16())
            self.same(rt.transpose(x), x.permute(2, 1, 0))
            self.same(rt.matrix_transpose(x), x.mT)
            self.same(rt.copy(x.mT), x.mT)
            self.same(rt.contiguous(x[:, ::2]), x[:, ::2])
            self.same(rt.cast(x * 100, torch.int8, saturate_integers=True), (x * 100).trunc().clamp(-128, 127).to(torch.int8))
            self.same(rt.pad(x, (2, 1)), torch.nn.functional.pad(x, (2, 1)))
            self.same(rt.pad(x, 2, "reflect"), torch.nn.functional.pad(x, (2, 2), "reflect"))

    def test_arithmetic(self):
        for device in DEVICES:
            a, b = torch.randn(4, 6, device=device), torch.randn(6, device=device)
            self.same(rt.add(a, b), a + b)
            self.same(rt.subtract(1, a), 1 - a)
            self.same(rt.mul(a.half(), 0.5), a.half() * 0.5)
            self.same(rt.where(a > 0, a, -1), torch.where(a > 0, a, -1.0))
            self.same(rt.less(a, 0), a < 0)
            self.same(rt.clip(a, -0.5, b), a.clamp(min=-0.5).minimum(b))
            self.same(rt.chain(["add", "relu"], a, b), (a + b).relu())
            self.same(rt.chain(["add", ("divide", 1)], b.square(), 1, a), a / (b.square() + 1))
            self.same(rt.add(a, b, dtype=torch.float16), (a + b).half())
            self.same(rt.logical_not(a > 0), ~(a > 0))
            self.same(rt.bitwise_and(torch.arange(6, device=device), 3), torch.arange(6, device=device) & 3)

    def test_convolutions(self):
        for device in DEVICES:
            x, weights, bias = (torch.randn(shape, device=device) for shape in ((2, 3, 20), (3, 4), (3,)))
            expected = torch.nn.functional.conv1d(x, weights[:, None], bias, padding=3, groups=3)[..., :20]
            out, state = rt.depthwise_conv1d(x, weights, bias, return_final_state=True)
            self.close(out, expected)
            self.same(state, x[..., -3:])
            last = x.mT.contiguous().mT
            self.assertEqual(rt.depthwise_conv1d(last, weights, bias).stride(), last.stride())
            self.close(rt.depthwise_conv1d(last, weights, bias, activation="silu"), torch.nn.functional.silu(expected))
            for groups in (1, 2):
                signal, full = torch.randn(2, 8, 30, device=device), torch.randn(6, 8 // groups, 3, device=device)
                signal, full, shift = signal.bfloat16(), full.bfloat16(), torch.randn(6, device=device).bfloat16()
                ours = rt.conv1d(signal, full, shift, stride=2, dilation=3, groups=groups, pad_width=(6, 1))
                theirs = torch.nn.functional.conv1d(torch.nn.functional.pad(signal.float(), (6, 1)), full.float(), shift.float(),
                                                    stride=2, dilation=3, groups=groups)
                self.close(ours.float(), theirs.mT, 2e-2)

    def test_states(self):
        for device in DEVICES:
            x, weights, state = (torch.randn(shape, device=device) for shape in ((2, 3, 5), (3, 4), (2, 3, 3)))
            whole = rt.depthwise_conv1d(x, weights, initial_state=state)
            out, moved = rt.depthwise_update_functional(state, x, weights)
            self.same(out, whole)
            self.same(moved, x[..., -3:])
            self.same(rt.depthwise_update(state, x, weights), whole)
            self.same(state, moved)
            starts = torch.tensor([0, 2, 5], device=device)
            out = rt.depthwise_varlen(x[0], starts, weights, states=state)
            self.same(out[:, 2:5], rt.depthwise_conv1d(x[:1, :, 2:], weights)[0])
            self.same(state[1], x[0, :, 2:])
            self.same(rt.depthwise_varlen_states(x[0], starts, 2), torch.stack([x[0, :, :2], x[0, :, 3:]]))
            self.assertEqual(rt.depthwise_conv1d(x.mT.contiguous().mT, weights, return_final_state=True)[1].stride(), (9, 1, 3))

    def test_codes(self):
        for device in DEVICES:
            x, scale = torch.randn(3, 4, device=device), torch.rand(3, 1, device=device) + 0.1
            codes = rt.quantize(x, scale, 3)
            self.assertEqual(codes.dtype, torch.int8)
            self.same(codes, torch.quantize_per_channel(x.cpu(), scale.flatten().cpu(), torch.full((3,), 3), 0, torch.qint8)
                      .int_repr().to(device))
            self.close(rt.dequantize(codes, scale, 3), (codes.float() - 3) * scale)
            self.assertEqual(rt.quantize(x, 0.5, 128, dtype="u8").dtype, torch.uint8)


class Gradients(Case):
    """torch's gradcheck compares with differences of our own results."""

    def test_of_one_operand(self):
        for device in DEVICES:
            for names, low, high in ((ANY, -4, 4), (POSITIVE, 0.1, 1.4), (UNIT, -0.9, 0.8)):
                x = away_from_kinks((3, 7), low, high, device).requires_grad_()
                for name in names:
                    with self.subTest(name, device=device):
                        self.assertTrue(torch.autograd.gradcheck(getattr(rt, name), (x,)))

    def test_of_two_operands(self):
        for device in DEVICES:
            a = away_from_kinks((3, 4), 0.6, 3, device, 1).requires_grad_()
            b = away_from_kinks((4,), 0.6, 3, device, 2).requires_grad_()
            for name in TWO:
                with self.subTest(name, device=device):
                    function = getattr(rt, name)
                    self.assertTrue(torch.autograd.gradcheck(function, (a, b)))
                    self.assertTrue(torch.autograd.gradcheck(lambda x: function(x, 1.3), (a,)))
                    self.assertTrue(torch.autograd.gradcheck(lambda x: function(1.3, x), (b,)))

    def test_of_three_operands(self):
        for device in DEVICES:
            a, b, c = (away_from_kinks((3, 4), -2, 2, device, seed).requires_grad_() for seed in range(3))
            self.assertTrue(torch.autograd.gradcheck(lambda x, y: rt.where(a.detach() > 0, x, y), (b, c[0].detach())))
            self.assertTrue(torch.autograd.gradcheck(rt.where, (a.detach() > 0, b, c)))
            self.assertTrue(torch.autograd.gradcheck(rt.clip, (a, b, c)))
            self.assertTrue(torch.autograd.gradcheck(lambda x: rt.clip(x, -1, 1), (a,)))
            self.assertTrue(torch.autograd.gradcheck(rt.lerp, (a, b, c)))

    def test_of_chains(self):
        a, b, c = (away_from_kinks((3, 4), 0.6, 3, "cpu", seed).requires_grad_() for seed in range(3))
        self.assertTrue(torch.autograd.gradcheck(lambda *x: rt.chain(["mul", "tanh", "add", ("div", 1)], *x[:3], x[0]), (a, b, c)))
        self.assertTrue(torch.autograd.gradcheck(lambda *x: rt.chain(["less", "where"], *x, 0.5), (a, b, c)))
        self.assertTrue(torch.autograd.gradcheck(lambda x: rt.chain(["add", "sub"], x, 1, x), (a,)))

    def test_all_that_could_have_one(self):
        x = [torch.rand(3, dtype=torch.float64).add(0.1).requires_grad_() for _ in range(3)]
        for name, count in relayout._core.operations():
            if name.startswith(("bit_", "shift_")):
                continue
            with self.subTest(name):
                result = getattr(rt, name)(*x[:count])
                self.assertEqual(result.requires_grad, result.dtype.is_floating_point)
                if result.requires_grad:
                    result.sum().backward()

    def test_second_ones(self):
        a, b = (away_from_kinks((2, 3), 0.6, 2, "cpu", seed).requires_grad_() for seed in range(2))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x, y: rt.mul(rt.permute(x, (1, 0)), rt.exp(rt.permute(y, (1, 0)))), (a, b)))

    def test_of_movement_and_signals(self):
        for device in DEVICES:
            x = torch.randn(2, 4, 9, dtype=torch.float64, device=device, requires_grad=True)
            check = torch.autograd.gradcheck
            self.assertTrue(check(lambda x: rt.permute(x, (1, -1, 0)), (x,)))
            self.assertTrue(check(rt.matrix_transpose, (x,)))
            self.assertTrue(check(lambda x: rt.copy(x.mT), (x,)))
            self.assertTrue(check(lambda x: rt.pad(x, (3, -2), constant_values=5), (x,)))
            for groups in (1, 2):
                for order in ("tap_outer", "channel_outer"):
                    self.assertTrue(check(lambda x: rt.img2col(x, 3, stride=2, dilation=2, groups=groups, order=order,
                                                               pad_width=(2, 1)), (x,)))
            self.assertTrue(check(lambda x: rt.rearrange_weights(x), (x,)))
            self.assertTrue(check(lambda x: rt.rearrange_weights(x, order="channel_outer"), (x,)))

    def test_of_casts(self):
        x = torch.randn(3, 4, requires_grad=True)
        y = rt.cast(x, "bf16")
        y.backward(torch.full_like(y, 1 / 3))
        self.same(x.grad, torch.full((3, 4), 1 / 3).bfloat16().float())
        half, full = torch.randn(4).half().requires_grad_(), torch.randn(3, 4, requires_grad=True)
        rt.mul(half, full).sum().backward()
        self.same(half.grad, full.detach().sum(0).half())
        self.same(full.grad, half.detach().float().expand(3, 4))

    def test_of_a_gemm_and_a_convolution(self):
        for device in DEVICES:
            for groups in (1, 2):
                x, weights, bias = (torch.randn(shape, device=device).bfloat16() for shape in
                                    ((2, 8, 30), (6, 8 // groups, 3), (6,)))
                ours, theirs = [leaf(t) for t in (x, weights, bias)], [leaf(t.float()) for t in (x, weights, bias)]
                y = rt.conv1d(*ours, stride=2, groups=groups, pad_width=(2, 0))
                z = torch.nn.functional.conv1d(torch.nn.functional.pad(theirs[0], (2, 0)), *theirs[1:], stride=2,
                                               groups=groups).mT
                g = torch.randn(y.shape, device=device).bfloat16()
                y.backward(g)
                z.backward(g.float())
                for a, b in zip(ours, theirs):
                    torch.testing.assert_close(a.grad.float(), b.grad, rtol=2e-2, atol=5e-2)

    def test_of_a_depthwise_convolution(self):
        for device in DEVICES:
            for dtype, tolerance in ((torch.float32, 1e-4), (torch.bfloat16, 4e-2)):
                for silu in (False, True):
                    given = [torch.randn(shape, device=device) for shape in ((2, 3, 12), (3, 4), (3,), (2, 3, 3))]
                    given[0], given[3] = given[0].mT.contiguous().mT.to(dtype), given[3].to(dtype)
                    ours, theirs = [leaf(t) for t in given], [leaf(t.float()) for t in given]
                    out, state = rt.depthwise_conv1d(*ours[:3], activation="silu" if silu else None, initial_state=ours[3],
                                                     return_final_state=True)
                    padded = torch.cat([theirs[3], theirs[0]], dim=2)
                    sums = torch.nn.functional.conv1d(padded, theirs[1][:, None], theirs[2], groups=3)
                    expected = torch.nn.functional.silu(sums) if silu else sums
                    g, h = torch.randn_like(expected).to(dtype), torch.randn_like(padded[..., -3:]).to(dtype)
                    torch.autograd.backward([out, state], [g, h])
                    torch.autograd.backward([expected, padded[..., -3:]], [g.float(), h.float()])
                    torch.testing.assert_close(out.float(), expected, rtol=tolerance, atol=tolerance)
                    for a, b in zip(ours, theirs):
                        self.assertEqual(a.grad.dtype, a.dtype)
                        torch.testing.assert_close(a.grad.float(), b.grad, rtol=tolerance, atol=tolerance)


class Refusals(Case):
    def test_what_has_no_derivative(self):
        x, weights = torch.randn(1, 2, 8, requires_grad=True), torch.randn(2, 3)
        state = torch.zeros(1, 2, 2)
        for name, call in {
                "pad of mode 'reflect'": lambda: rt.pad(x, 1, "reflect"),
                "img2col of mode 'circular'": lambda: rt.img2col(x, 2, pad_width=1, mode="wrap"),
                "quantize": lambda: rt.quantize(x, 0.5), "dequantize": lambda: rt.dequantize(
                    torch.ones(2, dtype=torch.int8), torch.ones(2, requires_grad=True)),
                "depthwise_update_functional": lambda: rt.depthwise_update_functional(state, x, weights)}.items():
            with self.subTest(name), self.assertRaisesRegex(relayout.Error, f"{name} has no derivative"):
                call()
            with torch.no_grad():
                call()
        with self.assertRaisesRegex(relayout.Error, "requires a gradient"):
            rt.depthwise_update(state, x, weights)
        with self.assertRaisesRegex(relayout.Error, "requires a gradient"):
            rt.depthwise_varlen(x[0], torch.tensor([0, 8]), weights)
        with self.assertRaisesRegex(Exception, "depthwise_update has no derivative"):
            torch.compile(rt.depthwise_update, backend="aot_eager", fullgraph=True)(state, x, weights)
        with torch.no_grad():
            rt.depthwise_update(state, x, weights)

    def test_no_forward_mode(self):
        x, weights, state = torch.ones(1, 2, 5), torch.ones(2, 3), torch.zeros(1, 2, 2)
        with forward_ad.dual_level():
            rt.add(x, 1)
            dual = forward_ad.make_dual(x, torch.ones_like(x))
            for call in (lambda: rt.add(dual, 1), lambda: rt.chain(["add", "relu"], x, dual), lambda: rt.pad(dual, 1),
                         lambda: rt.depthwise_conv1d(dual, weights), lambda: rt.depthwise_update(state, dual, weights),
                         lambda: rt.quantize(dual, 0.5), lambda: ops.copy(dual, None)):
                with self.assertRaisesRegex(relayout.Error, "no forward-mode derivatives"):
                    call()
        torch.func.jvp(lambda x: x + rt.mul(weights, 2).sum(), (x,), (x,))
        for function in (lambda x: rt.mul(x, x), lambda x: rt.depthwise_conv1d(weights[None], weights, initial_state=x)):
            with self.assertRaisesRegex(relayout.Error, "no forward-mode derivatives"):
                torch.func.jvp(function, (state,), (state,))
        self.assertTrue(torch.equal(state, torch.zeros(1, 2, 2)))

    def test_sentences(self):
        x = torch.ones(2, 3)
        for words, call in {"operand 1 is of": lambda: rt.add(x, "2"), "must be a tensor": lambda: rt.add(1, 2),
                            "no operation 'plus'": lambda: rt.chain(["plus"], x, x), "3 axes|axes": lambda: rt.pad(x, 1),
                            "permutation": lambda: rt.permute(x, (0, 0)), "\\[2, 3\\] and \\[4\\]": lambda: rt.add(x, torch.ones(4)),
                            "no type in common": lambda: rt.add(x.half(), x.bfloat16())}.items():
            with self.subTest(words), self.assertRaisesRegex((relayout.Error, TypeError), words):
                call()
        with self.assertRaisesRegex(Exception, "no type in common"):
            torch.compile(rt.add, backend="aot_eager", fullgraph=True)(x.half(), x.bfloat16())


class OpCheck(Case):
    """What torch asks of an operator: its schema, its fake kernel, its derivative, and that it can be traced."""

    def calls(self, device):
        def f32(*shape):
            return torch.randn(shape, device=device, requires_grad=True)

        x, weights = f32(2, 4, 9), f32(4, 3)
        plain, fixed = x.detach(), weights.detach()
        half, other = plain[0].bfloat16(), torch.randn(5, 9, device=device).bfloat16()
        i32 = torch.arange(2, device=device, dtype=torch.int32)
        last = plain.mT.contiguous().mT
        yield lambda: rt.permute(x, (2, 0, -2))
        yield lambda: rt.permute(x, (2, 0, 1), dtype="f16")
        yield lambda: rt.copy(x.mT)
        yield lambda: rt.contiguous(x[:0])
        yield lambda: rt.cast(x, torch.bfloat16)
        yield lambda: rt.cast(plain, "i8", cast_rounding="nearest_even", saturate_integers=True)
        yield lambda: rt.pad(x, (2, 1))
        yield lambda: rt.pad(plain, (-1, 3), "edge")
        yield lambda: rt.img2col(x, 3)
        yield lambda: rt.img2col(x, 3, stride=2, dilation=2, groups=2, order="channel_outer", pad_width=(2, 1))
        yield lambda: rt.rearrange_weights(f32(4, 2, 3))
        yield lambda: rt.gemm(half.requires_grad_(), other.requires_grad_())
        yield lambda: rt.gemm(half.detach(), other.detach(), fixed[0, 0].expand(5), dtype="f32")
        yield lambda: rt.quantize(plain, 0.5)
        yield lambda: rt.quantize(plain, plain[:1, :1, :1].abs() + 1, i32[0].to(torch.int8))
        yield lambda: rt.dequantize(i32.to(torch.int8), 0.5)
        yield lambda: rt.add(x, x[:1].detach())
        yield lambda: rt.mul(x, f32(9))
        yield lambda: rt.chain(["mul", "relu"], 2, x)
        yield lambda: rt.less(x, 0.5)
        yield lambda: rt.where(plain > 0, x, 0.0, dtype=torch.float16)
        yield lambda: rt.sub(True, i32)
        yield lambda: rt.depthwise_conv1d(x, weights)
        yield lambda: rt.depthwise_conv1d(last.requires_grad_(), weights, f32(4), activation="silu", initial_state=f32(2, 4, 2),
                                          return_final_state=True)
        yield lambda: rt.depthwise_conv1d(x, weights, sequence_ids=torch.zeros(2, 9, dtype=torch.int32, device=device))
        yield lambda: ops.depthwise_conv1d_backward(plain, plain, fixed, None, "silu", None, None, None, [True, False, False])
        yield lambda: rt.depthwise_update(torch.zeros(2, 4, 2, device=device), plain, fixed)
        yield lambda: rt.depthwise_update(torch.zeros(5, 4, 2, device=device), plain, fixed, activation="silu", state_indices=i32)
        yield lambda: rt.depthwise_update_functional(torch.zeros(2, 4, 2, device=device), plain, fixed)
        yield lambda: rt.depthwise_varlen(plain[0], 9 * i32, fixed)
        yield lambda: rt.depthwise_varlen(plain[0], 9 * i32, fixed, activation="silu", states=torch.zeros(1, 4, 2, device=device))
        yield lambda: rt.depthwise_varlen_states(plain[0], 9 * i32, 3)
        state, out = torch.zeros(2, 4, 2, device=device), torch.empty_like(last)
        yield lambda: ops.causal_conv1d_fwd(last, fixed, None, None, state, out, None, True)
        yield lambda: ops.causal_conv1d_fwd(last, fixed, fixed[:, 0], None, None, out, state, False)
        yield lambda: ops.causal_conv1d_bwd(plain, fixed, None, last, None, None, None, out, None, None, None, True)
        yield lambda: ops.causal_conv1d_bwd(plain, fixed, fixed[:, 0], last, None, state, state, out, torch.zeros_like(fixed),
                                            torch.zeros(4, device=device), torch.zeros_like(state), False)
        yield lambda: ops.causal_conv1d_update(last, state, fixed, None, out, True, None, i32)

    def test_every_operator(self):
        seen = set()
        for device in DEVICES:
            for call in self.calls(device):
                with Recorder() as recorder:
                    call()
                (operator, arguments), = recorder.calls
                with self.subTest(str(operator), device=device, arguments=[getattr(x, "shape", x) for x in arguments]):
                    torch.library.opcheck(operator, arguments)
                seen.add(operator.name().split("::")[1])
        self.assertEqual(seen, {name.split("::")[1] for name in torch._C._dispatch_get_all_op_names()
                                if name.startswith("relayout::")})


class Recorder(torch.overrides.TorchFunctionMode):
    """Keeps the calls of relayout's operators."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_function__(self, function, types, arguments=(), words=None):
        if getattr(function, "__module__", "").endswith("ops.relayout") or "relayout" in str(function):
            self.calls.append((getattr(function, "default", function), arguments))
        return function(*arguments, **(words or {}))


def block(x, weights, bias, scale):
    """A little of everything, as in the short convolution of a Mamba block."""
    y = rt.depthwise_conv1d(rt.permute(x, (0, 2, 1)), weights, bias, activation="silu")
    y = rt.chain(["mul", "add", "tanh"], y, scale, 1.5)
    return rt.permute(rt.where(rt.greater(y, 0), y, rt.mul(y, 0.25)), (0, 2, 1), dtype=torch.float16)


class Compile(Case):
    @classmethod
    def setUpClass(cls):
        cls.places = [] if IS_OLD else [(device, backend) for device in DEVICES for backend in BACKENDS
                                        if usable(backend, device)]

    def arguments(self, device, length=10):
        return [torch.randn(shape, device=device, requires_grad=True) for shape in ((2, length, 4), (4, 3), (4,), (4, 1))]

    def test_forward_and_backward(self):
        for device, backend in self.places:
            with self.subTest(device=device, backend=backend):
                torch._dynamo.reset()
                ours = self.arguments(device)
                theirs = [leaf(x) for x in ours]
                out = torch.compile(block, backend=backend, fullgraph=True)(*ours)
                expected = block(*theirs)
                torch.testing.assert_close(out, expected)
                out.sum().backward()
                expected.sum().backward()
                for a, b in zip(ours, theirs):
                    torch.testing.assert_close(a.grad, b.grad)

    def test_shapes_that_change(self):
        compiled = torch.compile(block, backend="aot_eager", fullgraph=True, dynamic=True)
        for length in (10, 17, 33):
            given = self.arguments("cpu", length)
            torch.testing.assert_close(compiled(*given), block(*given))

        def signals(x, factor):
            return rt.img2col(rt.pad(rt.mul(x, factor), (x.shape[2], 1)), 3, stride=2, pad_width=(2, 0))

        compiled = torch.compile(signals, backend="aot_eager", fullgraph=True, dynamic=True)
        for length, factor in ((10, 2.0), (17, 3.0), (21, 0.5)):
            x = torch.randn(2, 3, length, requires_grad=True)
            out, expected = compiled(x, factor), signals(leaf(x), factor)
            torch.testing.assert_close(out, expected)
            self.assertIsNotNone(torch.autograd.grad(out.sum(), x)[0])

    def test_states_that_are_written(self):
        def steps(state, x, weights):
            first = rt.depthwise_update(state, x, weights, activation="silu")
            return first + rt.depthwise_update(state, 2 * x, weights)

        for device, backend in self.places:
            torch._dynamo.reset()
            x, weights = torch.randn(2, 3, 1, device=device), torch.randn(3, 4, device=device)
            ours, theirs = torch.zeros(2, 3, 3, device=device), torch.zeros(2, 3, 3, device=device)
            compiled = torch.compile(steps, backend=backend, fullgraph=True)
            for _ in range(3):
                torch.testing.assert_close(compiled(ours, x, weights), steps(theirs, x, weights))
                self.same(ours, theirs)

    def test_convolution(self):
        x, weights = torch.randn(2, 4, 20).bfloat16(), torch.randn(6, 4, 3).bfloat16().requires_grad_()
        compiled = torch.compile(lambda x, w: rt.conv1d(x, w, stride=2, pad_width=(2, 0)), backend="aot_eager", fullgraph=True)
        self.same(compiled(x, weights), rt.conv1d(x, weights, stride=2, pad_width=(2, 0)))


class Threads(Case):
    def test_gradients_in_threads(self):
        failures = []

        def work(number):
            try:
                for _ in range(20):
                    x = torch.full((100, 100), float(number), requires_grad=True)
                    rt.mul(rt.permute(x, (1, 0)), x).sum().backward()
                    self.same(x.grad, torch.full((100, 100), 2.0 * number))
            except BaseException as error:  # the main thread tells of it
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


@unittest.skipUnless(HAS_GPU, WITHOUT_GPU)
class Gpu(Case):
    def work(self, x, weights, bias):
        y = rt.depthwise_conv1d(rt.permute(x, (0, 2, 1)), weights, bias, activation="silu")
        columns = rt.img2col(y, 4, pad_width=(3, 0), dtype=torch.bfloat16)
        return rt.chain(["mul", "add"], rt.gemm(columns, columns[:64].contiguous(), dtype=torch.float32), 0.5, 1)

    def given(self):
        return [torch.randn(shape, device="cuda") for shape in ((2, 300, 32), (32, 4), (32,))]

    def test_a_cuda_graph(self):
        static, stream = self.given(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.work(*static)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            out = self.work(*static)
        relayout.cache_clear()  # what was captured does not need the plans
        for _ in range(3):
            fresh = self.given()
            for a, b in zip(static, fresh):
                a.copy_(b)
            graph.replay()
            self.same(out, self.work(*fresh))

    def test_a_cuda_graph_of_a_training_step(self):
        static, stream = [leaf(x) for x in self.given()], torch.cuda.Stream()

        def step():
            for x in static:
                x.grad = None
            rt.mul(rt.depthwise_conv1d(rt.permute(static[0], (0, 2, 1)), *static[1:], activation="silu"), 2).sum().backward()

        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        for x in static:
            x.grad = None
        with torch.cuda.graph(graph, stream=stream):
            step()
        captured = [x.grad for x in static]
        with torch.no_grad():
            for a, b in zip(static, self.given()):
                a.copy_(b)
        graph.replay()
        replayed = [x.clone() for x in captured]
        step()
        for a, x in zip(replayed, static):
            self.same(a, x.grad)

    def test_compiled_with_cuda_graphs(self):
        compiled = torch.compile(self.work, mode="reduce-overhead", fullgraph=True)
        for _ in range(4):
            given = self.given()
            torch.compiler.cudagraph_mark_step_begin()
            torch.testing.assert_close(compiled(*given).clone(), self.work(*given), rtol=1e-3, atol=1e-3)

    def test_the_current_stream(self):
        x = torch.randn(4096, 4096, device="cuda")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            y = x * 2  # late
            z = rt.permute(y, (1, 0))
        stream.synchronize()
        self.same(z, (x * 2).t().contiguous())

    @unittest.skipIf(torch.cuda.device_count() < 2, "one GPU only")
    def test_another_gpu(self):
        x = torch.randn(3, 4, device="cuda:1", requires_grad=True)
        y = rt.mul(rt.permute(x, (1, 0)), 2)
        self.assertEqual((y.device, torch.cuda.current_device()), (x.device, 0))
        y.sum().backward()
        self.same(x.grad, torch.full_like(x, 2))

    def test_mixed_devices_are_refused(self):
        with self.assertRaises(relayout.Error):
            rt.add(torch.ones(3, device="cuda"), torch.ones(3))


class Words(Case):
    def test_every_name_has_words_and_a_stub(self):
        stub = pathlib.Path(rt.__file__).with_suffix(".pyi")
        known = set()
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                known.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                known.add(node.target.id)
        self.assertEqual(known, set(rt.__all__))
        for name in rt.__all__:
            self.assertTrue(inspect.getdoc(getattr(rt, name)))


if __name__ == "__main__":
    unittest.main()
