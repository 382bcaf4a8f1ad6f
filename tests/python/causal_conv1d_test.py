#!/usr/bin/env python3
"""causal_conv1d's interface on the CPU, beside torch's own operations and its gradients, and the package of that name. Ends
with 77 where there is no torch."""
import contextlib
import io
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    from torch.autograd import forward_ad
except ImportError:
    sys.exit(77)

import relayout
from relayout import causal_conv1d, compat

TOLERANCES = {torch.float32: (1e-5, 1e-5), torch.float16: (3e-3, 5e-3), torch.bfloat16: (1e-2, 5e-2)}


def signal(batch, dim, seqlen, dtype, channels_last):
    """A slice of a larger tensor."""
    if channels_last:
        return torch.randn(batch, seqlen, dim + 9, dtype=torch.float32).to(dtype)[..., 3:3 + dim].transpose(1, 2)
    return torch.randn(batch, dim + 9, seqlen, dtype=torch.float32).to(dtype)[:, 3:3 + dim]


def leaf(tensor):
    return tensor.detach().clone().requires_grad_()


class CausalConv1d(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def close(self, ours, theirs, dtype, what):
        rtol, atol = TOLERANCES[dtype]
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape), what)
        self.assertTrue(torch.allclose(ours.float(), theirs.float(), rtol=rtol, atol=atol), what)

    def test_outputs_states_and_gradients(self):
        cases = itertools.product(TOLERANCES, (False, True), (1, 2, 4, 5), (1, 3, 40), (False, True), (None, "silu"))
        for dtype, channels_last, width, seqlen, whole, activation in cases:
            with self.subTest(dtype=dtype, channels_last=channels_last, width=width, seqlen=seqlen, whole=whole):
                x = signal(2, 13, seqlen, dtype, channels_last).requires_grad_()
                weight, bias = torch.randn(13, width, requires_grad=True), torch.randn(13, requires_grad=True)
                states = torch.randn(2, width - 1, 13).to(dtype).transpose(1, 2).requires_grad_() if whole else None
                ours = [x, weight, bias] + ([states] if whole else [])
                # In f32: torch's processor has no sums of f16.
                theirs = [leaf(tensor.float()) for tensor in ours]
                out = causal_conv1d.causal_conv1d_fn(x, weight, bias, initial_states=states, return_final_states=whole,
                                                     activation=activation)
                expected = causal_conv1d.causal_conv1d_ref(*theirs[:3], initial_states=theirs[3] if whole else None,
                                                           return_final_states=whole, activation=activation)
                if whole:
                    (out, final), (expected, expected_final) = out, expected
                    self.assertTrue(torch.equal(final.float(), expected_final), "final states")
                self.close(out, expected.to(dtype), dtype, "output")
                self.assertEqual(out.stride(), torch.empty_like(x).stride())
                g = torch.randn(out.shape).to(dtype)
                loss, expected_loss = (out.float() * g.float()).sum(), (expected * g.float()).sum()
                if whole:
                    loss, expected_loss = loss + final.float().sigmoid().sum(), expected_loss + expected_final.sigmoid().sum()
                loss.backward()
                expected_loss.backward()
                for name, a, b in zip(("dx", "dweight", "dbias", "dstates"), ours, theirs):
                    self.close(a.grad, b.grad.to(a.dtype), dtype, name)

    def test_weights_of_any_type(self):
        x = signal(2, 8, 30, torch.float16, True).requires_grad_()
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            weight = torch.randn(8, 4).to(dtype).requires_grad_()
            out = causal_conv1d.causal_conv1d_fn(x, weight, activation="swish")
            expected = causal_conv1d.causal_conv1d_ref(x.float(), weight.float(), activation="silu")
            self.close(out, expected.half(), torch.float16, str(dtype))
            out.sum().backward()
            self.assertEqual(weight.grad.dtype, dtype)

    def test_only_the_gradients_that_are_wanted(self):
        x, weight = torch.randn(1, 4, 9), torch.randn(4, 3, requires_grad=True)
        causal_conv1d.causal_conv1d_fn(x, weight, torch.randn(4)).sum().backward()
        self.assertIsNone(x.grad)
        self.assertIsNotNone(weight.grad)
        with torch.no_grad():
            self.assertFalse(causal_conv1d.causal_conv1d_fn(x, weight).requires_grad)

    def test_sequences_of_a_row(self):
        lengths = [5, 1, 9, 3]
        total, padding = sum(lengths), 4
        ids = torch.cat([torch.full((n,), i) for i, n in enumerate(lengths)] + [torch.full((padding,), -1)]).int()[None]
        for width, activation in itertools.product((2, 4), (None, "silu")):
            x, weight = signal(1, 7, total + padding, torch.float32, True), torch.randn(7, width, requires_grad=True)
            x, x_ref, weight_ref = x.requires_grad_(), leaf(x), leaf(weight)
            out = causal_conv1d.causal_conv1d_fn(x, weight, seq_idx=ids, activation=activation)
            parts = x_ref[..., :total].split(lengths, dim=2)
            expected = torch.cat([causal_conv1d.causal_conv1d_ref(part, weight_ref, activation=activation)
                                  for part in parts], dim=2)
            self.close(out[..., :total], expected, torch.float32, "output")
            self.assertTrue(torch.equal(out[..., total:], torch.zeros(1, 7, padding)))
            out.sum().backward()
            expected.sum().backward()
            self.close(x.grad, x_ref.grad, torch.float32, "dx")
            self.close(weight.grad, weight_ref.grad, torch.float32, "dweight")
            causal_conv1d.causal_conv1d_fn(x, weight, seq_idx=ids.long())  # other integers are cast

    def test_states_into_a_tensor(self):
        x, weight = torch.randn(2, 5, 8), torch.randn(5, 4)
        states = torch.zeros(2, 5, 3)
        _, final = causal_conv1d.causal_conv1d_fn(x, weight, return_final_states=True, final_states_out=states)
        self.assertEqual(final.data_ptr(), states.data_ptr())
        self.assertTrue(torch.equal(states, x[..., -3:]))

    def test_states_into_a_view_while_training(self):
        x, weight = torch.randn(2, 5, 8, requires_grad=True), torch.randn(5, 4, requires_grad=True)
        before = torch.randn(2, 5, 3, requires_grad=True)
        cache = torch.zeros(4, 5, 3)
        out, final = causal_conv1d.causal_conv1d_fn(x, weight, initial_states=before, return_final_states=True,
                                                    final_states_out=cache[1:3])
        self.assertEqual(final.data_ptr(), cache[1].data_ptr())
        self.assertTrue(torch.equal(cache[1:3], x[..., -3:]))
        (out.sum() + 3 * final.sum()).backward()
        others = [leaf(tensor) for tensor in (x, weight, before)]
        out, final = causal_conv1d.causal_conv1d_ref(*others[:2], initial_states=others[2], return_final_states=True)
        (out.sum() + 3 * final.sum()).backward()
        for name, ours, theirs in zip(("dx", "dweight", "dstates"), (x, weight, before), others):
            self.close(ours.grad, theirs.grad, torch.float32, name)
        with self.assertRaises(relayout.Error):
            causal_conv1d.causal_conv1d_fn(x, weight, return_final_states=True, final_states_out=cache)

    def test_a_buffer_of_states_stays_out_of_the_graph(self):
        weight, states = torch.randn(5, 4, requires_grad=True), torch.zeros(2, 5, 3)
        for _ in range(3):
            out, final = causal_conv1d.causal_conv1d_fn(torch.randn(2, 5, 8), weight, return_final_states=True,
                                                        final_states_out=states)
            (out.sum() + final.sum()).backward()
            self.assertFalse(states.requires_grad)

    def test_derivatives_that_are_not_there(self):
        x, weight = torch.randn(1, 4, 9, requires_grad=True), torch.randn(4, 3, requires_grad=True)
        out = causal_conv1d.causal_conv1d_fn(x, weight)
        dx, = torch.autograd.grad(out.square().sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            dx.sum().backward()
        x, weight, out, state = x.detach(), weight.detach(), torch.empty(1, 4, 9), torch.zeros(1, 4, 2)
        with forward_ad.dual_level():
            causal_conv1d.forward_into(x, weight, None, None, None, out, None, False)
            dual = forward_ad.make_dual(x, torch.ones_like(x))
            for call in (lambda: causal_conv1d.causal_conv1d_update(dual[..., 0], state, weight),
                         lambda: causal_conv1d.causal_conv1d_varlen_states(dual[0].t(), torch.tensor([0, 9]), 2),
                         lambda: causal_conv1d.forward_into(dual, weight, None, None, None, out, None, False),
                         lambda: causal_conv1d.backward_into(x, weight, None, dual, None, None, None, out, None, None, None,
                                                             False)):
                with self.assertRaisesRegex(relayout.Error, "no forward-mode derivatives"):
                    call()
            with self.assertRaises(NotImplementedError):  # torch's own words
                causal_conv1d.causal_conv1d_fn(dual, weight)
        self.assertTrue(torch.equal(state, torch.zeros(1, 4, 2)))

    def test_updates(self):
        cases = itertools.product(TOLERANCES, (2, 4), (1, 3), (0, 6), (False, True), (False, True))
        for dtype, width, seqlen, spare, ring, gathered in cases:
            with self.subTest(dtype=dtype, width=width, seqlen=seqlen, spare=spare, ring=ring, gathered=gathered):
                batch, dim, rows = 6, 10, 20
                state_len = width - 1 + spare
                x = signal(batch, dim, seqlen, dtype, True)
                table = torch.randn(rows, state_len, dim).to(dtype).transpose(1, 2)
                indices = torch.randperm(rows)[:batch].int() if gathered else None
                state = table if gathered else table[:batch].clone()
                before = state.clone()
                weight, bias = torch.randn(dim, width, requires_grad=True), torch.randn(dim)
                lengths = torch.randint(0, 1000, (batch,)).int() if ring else None
                expected_state = (before[indices.long()] if gathered else before.clone()).float()
                expected = causal_conv1d.causal_conv1d_update_ref(x.float(), expected_state, weight, bias, "silu", lengths)
                out = causal_conv1d.causal_conv1d_update(x, state, weight, bias, "silu", lengths, indices)
                self.close(out, expected.detach().to(dtype), dtype, "output")
                now = state[indices.long()] if gathered else state
                self.assertTrue(torch.equal(now, expected_state.to(dtype)))
                if gathered:
                    others = [row for row in range(rows) if row not in indices.tolist()]
                    self.assertTrue(torch.equal(state[others], before[others]))

    def test_updates_of_padding_and_of_single_samples(self):
        state, weight = torch.randn(3, 5, 4), torch.randn(5, 3)
        before, x = state.clone(), torch.randn(4, 5)
        out = causal_conv1d.causal_conv1d_update(x, state, weight, conv_state_indices=torch.tensor([2, -1, 0, -1]))
        self.assertEqual(out.shape, (4, 5))
        self.assertTrue(torch.equal(out[[1, 3]], torch.zeros(2, 5)))
        self.assertTrue(torch.equal(state[1], before[1]))
        rows = before[[2, 0]]
        expected = causal_conv1d.causal_conv1d_update_ref(x[[0, 2]], rows, weight)
        self.close(out[[0, 2]], expected, torch.float32, "output")
        self.assertTrue(torch.equal(state[[2, 0]], rows))

    def test_states_of_sequences(self):
        lengths = torch.tensor([0, 3, 20, 1, 7])
        ends = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        for dtype in TOLERANCES:
            x = torch.randn(int(ends[-1]), 6).to(dtype)
            ours = causal_conv1d.causal_conv1d_varlen_states(x, ends, 5)
            self.assertTrue(torch.equal(ours, causal_conv1d.causal_conv1d_varlen_states_ref(x, ends, 5)))

    def test_errors(self):
        x, weight, ids = torch.randn(1, 4, 9), torch.randn(4, 3), torch.zeros(1, 9, dtype=torch.int32)
        with self.assertRaisesRegex(NotImplementedError, "relu"):
            causal_conv1d.causal_conv1d_fn(x, weight, activation="relu")
        with self.assertRaises(AssertionError):
            causal_conv1d.causal_conv1d_fn(x, weight, seq_idx=ids, return_final_states=True)
        for wrong in (torch.randn(5, 3), torch.randn(4, 3, dtype=torch.float64)):
            with self.assertRaises(Exception):
                causal_conv1d.causal_conv1d_fn(x, wrong)
        state = torch.zeros(1, 4, 1)
        with self.assertRaises(Exception):
            causal_conv1d.causal_conv1d_update(x, state, weight)
        self.assertTrue(torch.equal(state, torch.zeros(1, 4, 1)))


USER = """
import importlib.metadata
import torch
from causal_conv1d import causal_conv1d_fn, causal_conv1d_update, __version__
from causal_conv1d.causal_conv1d_interface import causal_conv1d_ref, causal_conv1d_update_ref
from causal_conv1d.causal_conv1d_varlen import causal_conv1d_varlen_states
from causal_conv1d.cpp_functions import (causal_conv1d_bwd_function, causal_conv1d_fwd_function,
                                         causal_conv1d_update_function)
import causal_conv1d_cuda
assert __version__ == importlib.metadata.version("causal-conv1d") == "1.6.1"
# "relayout" would be somebody else's: the wheels have other names.
assert not importlib.metadata.requires("causal-conv1d")
x, weight, bias = torch.randn(2, 4, 9), torch.randn(4, 3), torch.randn(4)
expected = causal_conv1d_ref(x, weight, bias, activation="silu")
out = torch.empty_like(x)
causal_conv1d_cuda.causal_conv1d_fwd(x, weight, bias, None, None, out, None, True)
for ours in (causal_conv1d_fn(x, weight, bias, activation="silu"), out,
             causal_conv1d_fwd_function(x, weight, bias, None, None, None, True)):
    assert torch.allclose(ours, expected, atol=1e-5), ours - expected
dx, dweight, dbias, _ = causal_conv1d_bwd_function(x, weight, bias, torch.ones_like(x), None, None, None, None, False, True)
leaves = [tensor.clone().requires_grad_() for tensor in (x, weight, bias)]
causal_conv1d_ref(*leaves, activation="silu").sum().backward()
for ours, theirs in zip((dx, dweight, dbias), leaves):
    assert torch.allclose(ours, theirs.grad, atol=1e-4), ours - theirs.grad
state, same = torch.zeros(2, 4, 2), torch.zeros(2, 4, 2)
assert torch.equal(causal_conv1d_update_function(x[..., :1], state, weight, None, False, None, None).squeeze(-1),
                   causal_conv1d_update(x[..., 0], same, weight))
assert torch.equal(state, same)
print("done")
"""


class Package(unittest.TestCase):
    def test_is_written_used_and_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "relayout.compat", "causal_conv1d", "--target", folder]
            for _ in range(2):
                self.assertIn("1.6.1", subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
            run = subprocess.run([sys.executable, "-c", USER], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                                 text=True)
            self.assertEqual((run.stdout, run.returncode), ("done\n", 0), run.stderr)
            subprocess.run([*command, "--uninstall"], check=True, capture_output=True)
            left = [str(file) for file in pathlib.Path(folder).rglob("*") if "__pycache__" not in str(file)]
            self.assertEqual(left, [])

    def test_another_one_is_left_alone(self):
        for name in ("causal_conv1d/__init__.py", "causal_conv1d-1.5.0.dist-info/METADATA", "causal_conv1d_cuda.so"):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, name)
                file.parent.mkdir(exist_ok=True)
                file.write_text("theirs")
                for options in ([], ["--uninstall"]):
                    with contextlib.redirect_stderr(io.StringIO()) as said:
                        self.assertEqual(compat.main(["causal_conv1d", "--target", folder, *options]), 1)
                    self.assertIn("uninstall causal-conv1d first", said.getvalue())
                self.assertEqual(file.read_text(), "theirs")
                self.assertEqual([path for path in pathlib.Path(folder).rglob("*") if path.is_file()], [file])


if __name__ == "__main__":
    unittest.main()
