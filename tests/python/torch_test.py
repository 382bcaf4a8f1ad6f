#!/usr/bin/env python3
"""The package with torch on the CPU: torch in, torch out. Ends with 77 where there is no torch."""
import sys
import unittest

import numpy as np

try:
    import torch
except ImportError:
    sys.exit(77)

import relayout

TYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
         torch.float32, torch.float64, torch.complex64, torch.complex128]


class Torch(unittest.TestCase):
    def same(self, ours, theirs):
        self.assertIsInstance(ours, torch.Tensor)
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        self.assertTrue(torch.equal(ours, theirs))

    def test_every_type_is_moved(self):
        for dtype in TYPES:
            with self.subTest(str(dtype)):
                x = (torch.arange(24).reshape(2, 3, 4) % 7).to(dtype)
                self.same(relayout.permute(x, (2, 0, 1)), x.permute(2, 0, 1).contiguous())
                self.same(relayout.contiguous(x[:, 1:, ::2]), x[:, 1:, ::2].contiguous())
                self.same(relayout.copy(x[:1].expand(2, 3, 4)), x[:1].expand(2, 3, 4).contiguous())

    def test_arithmetic(self):
        a, b = torch.randn(5, 7), torch.randn(7)
        self.same(relayout.add(a, b), a + b)
        self.same(relayout.multiply(a, 0.5), a * 0.5)
        self.same(relayout.greater(a, b), a > b)
        self.same(relayout.where(a > 0, a, b), torch.where(a > 0, a, b))
        self.same(relayout.cast(a, torch.bfloat16), a.bfloat16())
        self.same(relayout.cast(a, "f16"), a.half())
        half = a.bfloat16()
        self.same(relayout.add(half, half), half + half)
        self.same(relayout.relu(half), torch.relu(half))
        out = torch.zeros(7, 5)
        self.assertIs(relayout.transpose(a, out=out), out)
        self.same(out, a.t().contiguous())
        self.same(relayout.add(a, np.ones(7, np.float32)), a + 1)  # beside numpy: the kind of the first
        self.assertIsInstance(relayout.add(np.ones((5, 7), np.float32), a), np.ndarray)
        self.same(relayout.plan_add(a, b).run(), a + b)

    def test_convolution(self):
        x, weights = torch.randn(2, 3, 20), torch.randn(3, 4)
        ours = relayout.depthwise_conv1d(x, weights, activation="silu")
        theirs = torch.nn.functional.silu(torch.nn.functional.conv1d(x, weights[:, None], padding=3, groups=3)[..., :20])
        self.assertTrue(torch.allclose(ours, theirs, rtol=1e-5, atol=1e-5))
        last = x.transpose(1, 2).contiguous().transpose(1, 2)  # channels last
        self.assertTrue(torch.equal(relayout.depthwise_conv1d(last, weights, activation="silu"), ours))

    def test_gradients_of_a_convolution(self):
        for dtype in (torch.float32, torch.bfloat16):
            x, weights, bias, d_out = (torch.randn(shape).to(dtype).float() for shape in ((2, 3, 20), (3, 4), (3,), (2, 3, 20)))
            for tensor in (x, weights, bias):
                tensor.requires_grad_(True)
            sums = torch.nn.functional.conv1d(x, weights[:, None], bias, padding=3, groups=3)[..., :20]
            torch.nn.functional.silu(sums).backward(d_out)
            d_weights, d_bias = torch.zeros(3, 4), torch.zeros(3)
            with torch.no_grad():
                d_x = relayout.depthwise_conv1d_backward(x.to(dtype), weights.to(dtype), d_out.to(dtype), bias.to(dtype),
                                                         activation="silu", d_weights=d_weights, d_bias=d_bias)
            self.assertEqual(d_x.dtype, dtype)
            tolerance = {"rtol": 1e-5, "atol": 1e-4}
            self.assertTrue(torch.allclose(d_x.float(), x.grad, **(tolerance if dtype == torch.float32 else
                                                                   {"rtol": 2 ** -8, "atol": 1e-3})))
            self.assertTrue(torch.allclose(d_weights, weights.grad, **tolerance))
            self.assertTrue(torch.allclose(d_bias, bias.grad, **tolerance))

    def test_plans_hold_their_memory(self):
        """Large tensors, whose memory goes back to the system at once."""
        count = 1 << 22
        for change in (lambda x: setattr(x, "data", torch.zeros(1)), lambda x: x.set_(torch.zeros(1))):
            a, b, out = torch.ones(count), torch.full((count,), 2.0), torch.zeros(count)
            plan, written = relayout.plan_add(a, b, out=out), out.detach()
            for tensor in (a, b, out):
                change(tensor)
            plan.run()
            self.assertTrue(bool((written == 3).all()))
            group, all_of = relayout.Group.emulated(1), relayout.Distribution.replicated((count,), 1)
            x, out = torch.ones(count), torch.zeros(count)
            plan, written = relayout.plan_redistribute(group, x, all_of, all_of, out=out), out.detach()
            change(x)
            change(out)
            plan.run()
            self.assertTrue(bool((written == 1).all()))

    @unittest.skipUnless(hasattr(torch.autograd.graph, "increment_version"), "this torch cannot be told")
    def test_autograd_is_told_what_was_written(self):
        x, ones = torch.ones(3, requires_grad=True), torch.ones(3)
        signal, weights, state = torch.ones(1, 2, 5), torch.ones(2, 3), torch.zeros(1, 2, 2)
        codes, plan_out, view = torch.zeros(3, dtype=torch.int8), torch.ones(3), torch.ones(3)
        plan = relayout.plan_add(ones, ones, out=plan_out)
        other = relayout.plan_add(ones, ones, out=torch.ones(3))
        group, all_of = relayout.Group.emulated(1), relayout.Distribution.replicated((3,), 1)
        moved = torch.ones(3)
        for written, call in ((ones, lambda: relayout.add(ones, 1, out=ones)),
                              (plan_out, plan.run),
                              (plan_out, lambda: plan.run(ones, ones)),
                              (ones, lambda: other.run(ones, ones, out=ones)),
                              (codes, lambda: relayout.quantize(torch.ones(3), 0.5, out=codes)),
                              (view, lambda: relayout.fill(relayout.View(view, "i32"), 3)),
                              (moved, lambda: relayout.redistribute(group, ones, all_of, all_of, out=moved)),
                              (state, lambda: relayout.depthwise_conv1d(signal, weights, final_state=state)),
                              (state, lambda: relayout.depthwise_update(state, signal[..., :1].clone(), weights))):
            versions = [(tensor, tensor._version) for tensor in (ones, plan_out, codes, view, moved, state)]
            call()
            for tensor, version in versions:
                self.assertEqual(tensor._version > version, tensor is written)
        with torch.inference_mode():  # where nothing is counted
            relayout.add(torch.ones(3), 1, out=torch.ones(3))
        y = (x * ones).sum()
        with torch.no_grad():
            relayout.add(ones, 1, out=ones)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    def test_what_is_refused(self):
        x = torch.ones(3, requires_grad=True)
        with self.assertRaisesRegex(relayout.Error, "operand 0 requires a gradient"):
            relayout.add(x, 1)
        with torch.no_grad():
            self.same(relayout.add(x, 1), torch.full((3,), 2.0))
        self.same(relayout.add(x.detach(), 1), torch.full((3,), 2.0))
        with self.assertRaisesRegex(TypeError, "strided"):
            relayout.copy(torch.eye(3).to_sparse())
        with self.assertRaisesRegex(TypeError, "conjugated"):
            relayout.copy(torch.ones(3, dtype=torch.complex64).conj())
        with self.assertRaisesRegex(TypeError, "meta"):
            relayout.copy(torch.ones(3, device="meta"))
        with self.assertRaisesRegex(relayout.Error, "output_overlap|address"):
            relayout.add(torch.ones(3), 1, out=torch.ones(1).expand(3))


if __name__ == "__main__":
    unittest.main()
