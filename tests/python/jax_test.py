#!/usr/bin/env python3
"""relayout.jax beside JAX's own operations: results, under jit too, layouts, derivatives, and errors, on every device of JAX
that relayout was built for. Ends with 77 where there is no JAX, or where relayout was built without its headers."""
import ast
import inspect
import pathlib
import sys
import threading
import unittest

try:
    import jax
except ImportError:
    print("there is no JAX")
    sys.exit(77)

jax.config.update("jax_default_matmul_precision", "highest")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import relayout  # noqa: E402

try:
    import relayout.jax as rj
except ImportError as error:
    print(error)
    sys.exit(77)

DEVICES = [jax.devices("cpu")[0]] + [device for device in jax.devices() if device.platform != "cpu"
                                     and relayout.gpu_count() > 0][:1]


def draw(*shape, seed=0, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32).astype(dtype)


class Case(unittest.TestCase):
    def same(self, ours, theirs):
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        self.assertTrue(np.array_equal(np.asarray(ours, np.float64), np.asarray(theirs, np.float64)), f"{ours}\n{theirs}")

    def close(self, ours, theirs, tolerance=1e-5):
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        np.testing.assert_allclose(np.asarray(ours, np.float64), np.asarray(theirs, np.float64), rtol=tolerance, atol=tolerance)

    def everywhere(self):
        """With and without jit, on every device: (device, wrapper)."""
        for device in DEVICES:
            for wrapper in (lambda f: f, jax.jit):
                with jax.default_device(device):
                    yield wrapper


def depthwise(x, weights, bias=None, activation=None, initial_state=None, sequence_ids=None):
    """By JAX's own operations, in f32."""
    batch, channels, length = x.shape
    taps = weights.shape[1]
    state = jnp.zeros((batch, channels, taps - 1)) if initial_state is None else initial_state
    padded = jnp.concatenate([state.astype(jnp.float32), x.astype(jnp.float32)], axis=2)
    ids = None if sequence_ids is None else jnp.pad(sequence_ids, ((0, 0), (taps - 1, 0)), constant_values=-2)
    y = 0.0 if bias is None else bias.astype(jnp.float32)[:, None]
    for k in range(taps):
        part = padded[:, :, k:k + length]
        if ids is not None:
            part = jnp.where((ids[:, k:k + length] == sequence_ids)[:, None], part, 0)
        y = y + weights.astype(jnp.float32)[:, k, None] * part
    y = jnp.broadcast_to(y, x.shape)
    return jax.nn.silu(y) if activation else y


class Results(Case):
    def test_movement(self):
        for run in self.everywhere():
            x = draw(2, 3, 5)
            self.same(run(lambda x: rj.permute(x, (2, 0, -2)))(x), x.transpose(2, 0, 1))
            self.same(run(lambda x: rj.permute(x, (2, 0, 1), dtype="bf16"))(x), x.transpose(2, 0, 1).astype(jnp.bfloat16))
            self.same(run(rj.transpose)(x), x.T)
            self.same(run(rj.matrix_transpose)(x), x.mT)
            self.same(run(lambda x: rj.cast(x, jnp.float16))(x), x.astype(jnp.float16))
            self.same(run(lambda x: rj.cast(100 * x, "i8", saturate_integers=True))(x),
                      jnp.clip(jnp.trunc(100 * x), -128, 127).astype(jnp.int8))
            self.same(run(lambda x: rj.pad(x, (2, 1), constant_values=0.5))(x),
                      jnp.pad(x, ((0, 0), (0, 0), (2, 1)), constant_values=0.5))
            self.same(run(lambda x: rj.pad(x, 2, "reflect"))(x), jnp.pad(x, ((0, 0), (0, 0), (2, 2)), "reflect"))
            for kind in (jnp.int32, jnp.bool_, jnp.complex64, jnp.uint8, jnp.float8_e4m3fn):
                typed = x.astype(kind)
                moved = run(lambda x: rj.permute(x, (1, 2, 0)))(typed)
                self.assertEqual(moved.dtype, typed.dtype)
                self.assertEqual(np.asarray(moved).tobytes(), np.asarray(typed).transpose(1, 2, 0).tobytes())

    def test_windows(self):
        for run in self.everywhere():
            x = draw(2, 4, 9)
            for groups in (1, 2):
                for order in ("tap_outer", "channel_outer"):
                    ours = run(lambda x: rj.img2col(x, 3, stride=2, dilation=2, groups=groups, order=order, pad_width=(2, 1)))(x)
                    self.same(ours, jnp.asarray(relayout.img2col(np.asarray(x), 3, stride=2, dilation=2, groups=groups,
                                                                 order=order, pad_width=(2, 1))))

    def test_arithmetic(self):
        for run in self.everywhere():
            a, b = draw(4, 6), draw(6, seed=1)
            self.same(run(rj.add)(a, b), a + b)
            self.same(run(lambda a: rj.subtract(1, a))(a), 1 - a)
            self.same(run(lambda a: rj.where(rj.greater(a, 0), a, -1))(a), jnp.where(a > 0, a, -1.0))
            self.same(run(lambda a, b: rj.clip(a, -0.5, b))(a, b), jnp.minimum(jnp.maximum(a, -0.5), b))
            self.same(run(lambda a, b: rj.chain(["add", "relu"], a, b))(a, b), jax.nn.relu(a + b))
            # numpy's quotient: XLA's own is not always the nearest number on a GPU.
            self.same(run(lambda a, b: rj.chain(["mul", "add", ("divide", 1)], b, b, 1, a))(a, b),
                      np.asarray(a) / (np.square(np.asarray(b)) + np.float32(1)))
            self.same(run(lambda a, b: rj.add(a, b, dtype=jnp.float16))(a, b), (a + b).astype(jnp.float16))
            self.same(run(lambda a: rj.logical_not(a > 0))(a), ~(a > 0))
            self.same(run(lambda a: rj.bitwise_and(a, 3))(jnp.arange(6)), jnp.arange(6) & 3)
            self.close(run(lambda a: rj.tanh(a))(a), jnp.tanh(a))

    def test_constants_of_64_bits(self):
        jax.config.update("jax_enable_x64", True)
        self.addCleanup(jax.config.update, "jax_enable_x64", False)
        for run in self.everywhere():
            words = jnp.arange(6, dtype=jnp.uint64)
            self.same(run(lambda a: rj.bitwise_xor(a, 0x9E3779B97F4A7C15))(words), words ^ jnp.uint64(0x9E3779B97F4A7C15))

    def test_depthwise(self):
        for run in self.everywhere():
            for dtype, tolerance in ((jnp.float32, 1e-5), (jnp.bfloat16, 2e-2)):
                x, weights, bias, state = draw(2, 6, 11, dtype=dtype), draw(6, 4), draw(6), draw(2, 6, 3, dtype=dtype)
                for activation in (None, "silu"):
                    ours = run(lambda *t: rj.depthwise_conv1d(*t, activation=activation))(x, weights, bias)
                    self.close(ours, depthwise(x, weights, bias, activation).astype(dtype), tolerance)
                out, last = run(lambda *t: rj.depthwise_conv1d(t[0], t[1], initial_state=t[2], return_final_state=True))(
                    x, weights, state)
                self.close(out, depthwise(x, weights, initial_state=state).astype(dtype), tolerance)
                self.same(last, x[..., -3:])
                ids = jnp.asarray([[0] * 4 + [1] * 7, [3] * 11])
                ours = run(lambda *t: rj.depthwise_conv1d(t[0], t[1], sequence_ids=t[2]))(x, weights, ids)
                self.close(ours, depthwise(x, weights, sequence_ids=ids).astype(dtype), tolerance)
                half = run(lambda *t: rj.depthwise_conv1d(*t))(x, weights.astype(jnp.float16))
                self.close(half, depthwise(x, weights.astype(jnp.float16)).astype(dtype), tolerance)

    def test_empty_and_repeated(self):
        for run in self.everywhere():
            self.assertEqual(run(lambda x: rj.permute(x, (1, 0)))(draw(0, 3)).shape, (3, 0))
            call = run(lambda x: rj.add(rj.transpose(x), 1))
            for seed in range(5):
                self.same(call(draw(33, 65, seed=seed)), draw(33, 65, seed=seed).T + 1)


class Layouts(Case):
    def test_any_layout_gives_the_same(self):
        for device in DEVICES:
            with jax.default_device(device):
                x = draw(2, 3, 5)
                for layout in ((0, 1, 2), (2, 0, 1), (-2, -1, 0)):
                    self.same(jax.jit(lambda x: rj.permute(x, (1, 2, 0), layout=layout))(x), x.transpose(1, 2, 0))

    def test_swapped_axes_are_handed_over_as_they_lie(self):
        """x is [batch, length, channels]; the call takes it as [batch, channels, length] of that layout."""
        for device in DEVICES:
            with jax.default_device(device):
                x, weights = draw(2, 31, 8), draw(8, 4)

                def block(x, weights):
                    y = rj.depthwise_conv1d(jnp.swapaxes(x, 1, 2), weights, activation="silu", layout=(0, 2, 1))
                    return jnp.swapaxes(y, 1, 2)

                self.close(jax.jit(block)(x, weights), depthwise(x.mT, weights, activation="silu").mT)
                program = jax.jit(block).lower(x, weights).compile().as_text()
                self.assertRegex(program, r"operand_layout_constraints=\{f32\[2,8,31\]\{1,2,0\}")

    def test_refusals(self):
        for layout in ((0, 1), (0, 1, 1), (0, 1, 3)):
            with self.assertRaisesRegex(relayout.Error, "layout"):
                rj.permute(draw(2, 3, 4), (0, 1, 2), layout=layout)


class Gradients(Case):
    def compare(self, run, ours, theirs, arguments, tolerance=1e-4):
        """Those of a weighted sum by all arguments."""
        def loss(function):
            def value(arguments):
                result = function(*arguments)
                parts = result if isinstance(result, tuple) else (result,)
                return sum((part.astype(jnp.float32) * (1 + jnp.arange(part.size).reshape(part.shape) % 7)).sum() for part in parts)
            return value

        got, expected = run(jax.grad(loss(ours)))(arguments), jax.grad(loss(theirs))(arguments)
        for a, b, x in zip(got, expected, arguments):
            self.close(a, b, tolerance)
            self.assertEqual(a.dtype, x.dtype)

    def test_of_movement(self):
        for run in self.everywhere():
            x = draw(2, 4, 9)
            self.compare(run, lambda x: rj.permute(x, (1, 2, 0)), lambda x: x.transpose(1, 2, 0), (x,))
            self.compare(run, lambda x: rj.permute(x, (1, 2, 0), layout=(0, 2, 1)), lambda x: x.transpose(1, 2, 0), (x,))
            self.compare(run, lambda x: rj.pad(x, (3, -2), constant_values=5), lambda x: jnp.pad(x, ((0, 0), (0, 0), (3, 0)))[..., :-2],
                         (x,))
            self.compare(run, lambda x: rj.cast(x, "f16"), lambda x: x.astype(jnp.float16), (x,))
            for groups in (1, 2):
                self.compare(run, lambda x: rj.img2col(x, 3, stride=2, dilation=2, groups=groups, pad_width=(2, 1)),
                             lambda x: rj._reference.windows(x, 3, 2, 2, groups, 0, 2, 1), (x,))

    def test_of_arithmetic(self):
        for run in self.everywhere():
            a, b = jnp.abs(draw(3, 4)) + 0.6, jnp.abs(draw(4, seed=1)) + 0.7
            for name in ("add sub mul div pow maximum minimum hypot atan2 squared_diff mod prelu").split():
                with self.subTest(name):
                    self.compare(run, getattr(rj, name), rj._reference.FUNCTIONS[name], (a, b))
            for name in "exp log tanh sigmoid silu gelu gelu_tanh softplus sqrt rsqrt erf sin reciprocal relu".split():
                with self.subTest(name):
                    self.compare(run, getattr(rj, name), rj._reference.FUNCTIONS[name], (a,))
            self.compare(run, lambda a, b: rj.chain(["mul", "tanh", ("div", 1)], a, b, 2.0), lambda a, b: 2.0 / jnp.tanh(a * b), (a, b))
            self.compare(run, lambda a, b: rj.chain(["less", "where"], a, b, a, 0.5), lambda a, b: jnp.where(a < b, a, 0.5), (a, b))

    def test_of_half_types_and_integers(self):
        for run in self.everywhere():
            half, whole = draw(4, dtype=jnp.bfloat16), jnp.arange(12).reshape(3, 4)
            gradient = run(jax.grad(lambda x: rj.mul(x, rj.cast(whole, "bf16")).astype(jnp.float32).sum()))(half)
            self.same(gradient, whole.sum(0).astype(jnp.bfloat16))

    def test_of_a_depthwise_convolution(self):
        for run in self.everywhere():
            for dtype, tolerance in ((jnp.float32, 2e-4), (jnp.bfloat16, 6e-2)):
                x, weights, bias, state = draw(2, 6, 11, dtype=dtype), draw(6, 4), draw(6), draw(2, 6, 3, dtype=dtype)
                for activation in (None, "silu"):
                    self.compare(run, lambda *t: rj.depthwise_conv1d(*t, activation=activation),
                                 lambda *t: depthwise(*t, activation).astype(dtype), (x, weights, bias), tolerance)
                self.compare(run, lambda x, w, s: rj.depthwise_conv1d(x, w, initial_state=s, return_final_state=True),
                             lambda x, w, s: (depthwise(x, w, initial_state=s).astype(dtype), x[..., -3:]), (x, weights, state),
                             tolerance)
                self.compare(run, lambda x, w: rj.depthwise_conv1d(x, w, activation="silu", layout=(0, 2, 1)),
                             lambda x, w: depthwise(x, w, activation="silu").astype(dtype), (x, weights), tolerance)
                ids = jnp.asarray([[0] * 4 + [1] * 7, [3] * 11])
                for taps in (4, 6):
                    self.compare(run, lambda x, w: rj.depthwise_conv1d(x, w, sequence_ids=ids),
                                 lambda x, w: depthwise(x, w, sequence_ids=ids).astype(dtype), (x, draw(6, taps)), tolerance)

    def test_refusals(self):
        x = draw(1, 2, 8)
        with self.assertRaisesRegex(relayout.Error, "no derivative"):
            jax.grad(lambda x: rj.pad(x, 1, "reflect").sum())(x)


class Rest(Case):
    def test_sentences(self):
        x = draw(2, 3)
        for words, call in {"3": lambda: rj.pad(x, 1), "permutation": lambda: rj.permute(x, (0, 0)),
                            "no operation 'plus'": lambda: rj.chain(["plus"], x, x), "must be an array": lambda: rj.add(1, 2),
                            "no type in common": lambda: rj.add(x.astype(jnp.float16), x.astype(jnp.bfloat16)),
                            "64 bits": lambda: rj.add(x, 2**70, dtype=jnp.float32),
                            "mode is 'mirror'": lambda: rj.pad(draw(1, 2, 3), 1, "mirror")}.items():
            with self.subTest(words), self.assertRaisesRegex(relayout.Error, words):
                call()
        with self.assertRaisesRegex(Exception, "pad"):  # the library's, by XLA
            jax.block_until_ready(rj.pad(draw(1, 2, 3), 3, "reflect"))

    def test_every_name_has_words_and_a_stub(self):
        known = set()
        for node in ast.parse(pathlib.Path(rj.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                known.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                known.add(node.target.id)
        self.assertEqual(sorted(known), sorted(rj.__all__))
        for name in rj.__all__:
            self.assertTrue(inspect.getdoc(getattr(rj, name)), name)

    def test_vmap(self):
        x = draw(3, 2, 4, 5)
        self.same(jax.vmap(lambda x: rj.permute(x, (2, 0, 1)))(x), x.transpose(0, 3, 1, 2))

    def test_threads(self):
        failures = []

        def work(number):
            try:
                for _ in range(20):
                    x = draw(40, 50, seed=number)
                    self.same(rj.add(rj.transpose(x), number), x.T + number)
            except BaseException as error:  # the main thread tells of it
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
