#!/usr/bin/env python3
"""The package beside numpy: the same bits for every operation that IEEE defines, every element type, every kind of view."""
import itertools
import unittest

import numpy as np

import relayout

FLOATS = (np.float16, np.float32, np.float64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
NUMBERS = FLOATS + SIGNED + UNSIGNED
MOVED = NUMBERS + (np.bool_, np.complex64, np.complex128)
OF_RELAYOUT = {"bf16": np.uint16, "tf32": np.uint32, "e4m3fn": np.uint8, "e5m2": np.uint8}

# The operations whose results numpy rounds as IEEE says, by numpy's name. Integers stay in their type in both.
ANY_NUMBER = ("add", "subtract", "multiply", "maximum", "minimum", "negative", "absolute", "square", "sign", "fmax", "fmin")
FLOATING = ("divide", "sqrt", "floor", "ceil", "trunc", "rint", "copysign", "isnan", "isinf", "isfinite", "reciprocal")
INTEGRAL = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert")
RELATIONAL = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGICAL = ("logical_and", "logical_or", "logical_xor", "logical_not")


def numbers(dtype, shape, seed=0):
    """All bits of an integer type; of a floating one ordinary numbers, zeros, infinities and NaN."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if np.issubdtype(dtype, np.floating):
        made = (random.standard_normal(count) * 100).astype(dtype)
        made[::7] = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)[np.arange(len(made[::7])) % 5]
    elif np.issubdtype(dtype, np.complexfloating):
        made = (random.standard_normal(count) + 1j * random.standard_normal(count)).astype(dtype)
    elif dtype == np.bool_:
        made = random.integers(0, 2, count).astype(bool)
    else:
        limits = np.iinfo(dtype)
        made = random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    return made.reshape(shape)


def views(array):
    """The array [.., ..] as it is, backwards, with gaps, and with its axes exchanged."""
    wide = np.empty(tuple(2 * n for n in array.shape), array.dtype)
    wide[::2, ::2] = array
    return {"whole": array, "gaps": wide[::2, ::2], "backwards": np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
            "exchanged": np.ascontiguousarray(array.T).T}


class Numpy(unittest.TestCase):
    def same(self, ours, theirs):
        self.assertIsInstance(ours, np.ndarray)
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}.get(ours.dtype.itemsize)
        if np.issubdtype(ours.dtype, np.floating):  # NaNs have any sign and payload
            self.assertTrue(np.array_equal(np.isnan(ours), np.isnan(theirs)))
            ours, theirs = np.nan_to_num(ours, nan=0), np.nan_to_num(theirs, nan=0)
        if unsigned is not None:
            ours, theirs = np.ascontiguousarray(ours).view(unsigned), np.ascontiguousarray(theirs).view(unsigned)
        np.testing.assert_array_equal(ours, theirs)

    def check(self, name, *operands):
        with self.subTest(operation=name, type=str(operands[0].dtype)), np.errstate(all="ignore"):
            self.same(getattr(relayout, name)(*operands), getattr(np, name)(*operands))

    def test_operations_have_numpys_bits(self):
        count = 0
        groups = ((ANY_NUMBER, NUMBERS), (FLOATING, FLOATS), (INTEGRAL, SIGNED + UNSIGNED), (RELATIONAL, NUMBERS),
                  (LOGICAL, NUMBERS))
        for names, types in groups:
            for name, dtype in itertools.product(names, types):
                if name == "sign" and dtype in FLOATS:
                    continue  # of a NaN numpy gives a NaN with a warning in some versions, and 0 in others
                operands = [numbers(dtype, (5, 13), seed) for seed in range(getattr(np, name).nin)]
                self.check(name, *operands)
                count += 1
        self.assertGreater(count, 200)

    def test_functions_are_close_to_numpys(self):
        x = np.linspace(-0.9, 0.9, 77, dtype=np.float32)
        for name in ("exp", "exp2", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan"):
            with self.subTest(name):
                np.testing.assert_allclose(getattr(relayout, name)(x), getattr(np, name)(x.astype(np.float64)), rtol=5e-6,
                                           atol=1e-7)

    def test_broadcasting_and_constants(self):
        a, row, column = numbers(np.int32, (4, 6)), numbers(np.int32, (6,)), numbers(np.int32, (4, 1))
        self.same(relayout.add(a, row), a + row)
        self.same(relayout.maximum(row, column), np.maximum(row, column))
        self.same(relayout.where(a > 0, row, column), np.where(a > 0, row, column))
        self.same(relayout.clip(a, -5, 1000), np.clip(a, -5, 1000))
        self.same(relayout.add(a, 7), a + np.int32(7))
        self.same(relayout.subtract(7, a), np.int32(7) - a)
        f = numbers(np.float32, (4, 6))
        with np.errstate(all="ignore"):
            self.same(relayout.multiply(f, 0.1), f * np.float32(0.1))
        big = np.array([1, 2], np.uint64)
        self.same(relayout.add(big, 2**64 - 3), big + np.uint64(2**64 - 3))
        self.same(relayout.logical_and(a, True), np.logical_and(a, True))

    def test_scalars(self):
        """Several of one size: numpy makes an array of each when it is asked for its memory, and gives that memory back."""
        self.assertEqual(relayout.add(np.float32(2), np.float32(3)), 5)
        a = np.arange(-3, 4, dtype=np.float32)
        self.same(relayout.clip(a, np.float32(-1), np.float32(2)), np.clip(a, np.float32(-1), np.float32(2)))
        self.same(relayout.where(a > 0, np.float32(1), np.float32(0)), np.where(a > 0, np.float32(1), np.float32(0)))
        self.same(relayout.less(np.arange(4, dtype=np.float32), np.float32(2)), np.arange(4) < 2)
        plan = relayout.plan_add(a, np.float32(2))
        others = [np.float32(i) for i in range(99)]
        self.same(plan.run(), a + np.float32(2))
        self.same(relayout.quantize(a, np.float32(0.5), np.int32(1)), relayout.quantize(a, 0.5, 1))
        self.same(relayout.fill(np.zeros(2, np.int16), np.int64(-7)), np.int16([-7, -7]))
        self.same(relayout.add(np.float16([1]), np.float64(2)), np.float64([3]))  # a float of Python as well, but of a type
        self.assertEqual(relayout.absolute(np.float64(-1)), 1)
        one = np.float32(1)
        with self.assertRaises(relayout.Error):
            relayout.add(np.ones((), np.float32), 1, out=one)
        self.assertEqual(one, 1)
        self.assertEqual(len(others), 99)

    def test_every_kind_of_view(self):
        a = numbers(np.int32, (6, 8))
        for (name_in, x), (name_out, out) in itertools.product(views(a).items(), views(np.zeros_like(a)).items()):
            with self.subTest(x=name_in, out=name_out):
                self.assertIs(relayout.add(x, x, out=out), out)
                np.testing.assert_array_equal(out, a + a)
                self.assertIs(relayout.copy(x, out=out), out)
                np.testing.assert_array_equal(out, a)
        repeated = np.broadcast_to(a[:, :1], (6, 8))
        np.testing.assert_array_equal(relayout.copy(repeated), repeated)
        field = np.zeros(5, dtype=[("a", np.int32), ("b", np.int32)])  # strides of 8 bytes
        field["b"] = range(5)
        np.testing.assert_array_equal(relayout.copy(field["b"]), field["b"])
        np.testing.assert_array_equal(relayout.permute(a[:0], (1, 0)), a[:0].T)
        np.testing.assert_array_equal(relayout.copy(np.array(3.5)), np.array(3.5))

    def test_every_type_is_moved(self):
        for dtype in MOVED:
            with self.subTest(str(dtype)):
                a = numbers(dtype, (2, 3, 4))
                self.same(relayout.permute(a, (2, 0, 1)), np.ascontiguousarray(a.transpose(2, 0, 1)))
                self.same(relayout.transpose(a), np.ascontiguousarray(a.T))
                self.same(relayout.permute(a, (-1, 0, -2)), np.ascontiguousarray(a.transpose(-1, 0, -2)))
                self.same(relayout.matrix_transpose(a), np.ascontiguousarray(np.swapaxes(a, -1, -2)))
                self.same(relayout.contiguous(a[:, ::-1]), np.ascontiguousarray(a[:, ::-1]))
        for name, unsigned in OF_RELAYOUT.items():
            with self.subTest(name):
                a = numbers(unsigned, (3, 5))
                moved = relayout.permute(relayout.View(a, name), (1, 0))
                self.assertEqual(moved.dtype, name)
                np.testing.assert_array_equal(moved.array, a.T)

    def test_casts(self):
        for source, target in itertools.product(NUMBERS, NUMBERS):
            a = np.arange(0, 100, dtype=source).reshape(4, 25)
            with self.subTest(source=str(source), target=str(target)):
                self.same(relayout.cast(a, target), a.astype(target))
        a = np.array([1.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8, -2.5, 448.0, 1e9], np.float32)
        bf16 = relayout.cast(a, out=relayout.View(np.zeros(6, np.uint16), "bf16"))
        np.testing.assert_array_equal(bf16.array, [0x3F80, 0x3F80, 0x3F82, 0xC020, 0x43E0, 0x4E6E])
        e4m3fn = relayout.cast(a, out=relayout.View(np.zeros(6, np.uint8), "e4m3fn"))
        np.testing.assert_array_equal(e4m3fn.array, [0x38, 0x38, 0x38, 0xC2, 0x7E, 0x7E])
        e5m2 = relayout.cast(a, out=relayout.View(np.zeros(6, np.uint8), "e5m2"), saturate_fp8=False)
        np.testing.assert_array_equal(e5m2.array, [0x3C, 0x3C, 0x3C, 0xC1, 0x5F, 0x7C])
        np.testing.assert_array_equal(relayout.cast(bf16, "f32"), [1, 1, 1 + 2**-6, -2.5, 448, 998244352])
        self.same(relayout.cast(np.array([300.0, -1.5]), "u8"), np.array([255, 0], np.uint8))
        self.same(relayout.cast(np.array([1.5, 2.5], np.float32), "i32", cast_rounding="up"), np.array([2, 3], np.int32))
        self.same(relayout.add(np.array([1, 2]), 1, dtype=np.float16), np.array([2, 3], np.float16))
        out = np.ones(2, np.float32)
        relayout.copy(np.array([1, 2], np.float32), out=out, alpha=10, beta=0.5)
        np.testing.assert_array_equal(out, [10.5, 20.5])

    def test_chain(self):
        x, std = np.float32([[1, -2, 3]]), np.float32([[0.5], [2]])
        self.same(relayout.chain(["add", "relu"], x, 0.5), np.maximum(x + np.float32(0.5), 0))
        self.same(relayout.chain(["add", ("divide", 1)], std, 0.5, x), x / (std + np.float32(0.5)))
        self.same(relayout.chain(["greater", "where"], x, 0, x, -1), np.where(x > 0, x, np.float32(-1)))

    def test_windows(self):
        x = numbers(np.float32, (2, 3, 10))
        for ours, theirs in (("constant", "constant"), ("edge", "edge"), ("reflect", "reflect"), ("symmetric", "symmetric"),
                             ("wrap", "wrap")):
            with self.subTest(ours):
                self.same(relayout.pad(x, (3, 2), ours), np.pad(x, ((0, 0), (0, 0), (3, 2)), theirs))
        self.same(relayout.pad(x, 1, constant_values=5), np.pad(x, ((0, 0), (0, 0), (1, 1)), constant_values=5))
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (2, 0))), 3, axis=2)  # b c t k
        self.same(relayout.img2col(x, 3, pad_width=(2, 0)),
                  np.ascontiguousarray(windows.transpose(0, 2, 3, 1)).reshape(20, 9))
        self.same(relayout.img2col(x, 3, pad_width=(2, 0), order="channel_outer", dtype="f16"),
                  np.ascontiguousarray(windows.transpose(0, 2, 1, 3)).reshape(20, 9).astype(np.float16))
        self.assertEqual(relayout.img2col(x, 3, groups=3, stride=2, dilation=2).shape, (3, 2 * 3, 3))
        weights = numbers(np.float32, (4, 3, 2))
        self.same(relayout.rearrange_weights(weights), np.ascontiguousarray(weights.transpose(0, 2, 1)).reshape(4, 6))

    def test_convolutions(self):
        random = np.random.default_rng(1)
        x = random.integers(-4, 4, (2, 3, 9)).astype(np.float32)
        weights, bias = random.integers(-4, 4, (3, 4)).astype(np.float32), np.float32([1, 2, 3])
        padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
        expected = sum(weights[None, :, k, None] * padded[:, :, k:k + 9] for k in range(4)) + bias[None, :, None]
        self.same(relayout.depthwise_conv1d(x, weights, bias), expected)
        final = np.zeros((2, 3, 3), np.float32)
        first = relayout.depthwise_conv1d(x[:, :, :5], weights, bias, final_state=final)
        np.testing.assert_array_equal(final, x[:, :, 2:5])
        rest = [relayout.depthwise_update(final, x[:, :, t:t + 1], weights, bias) for t in range(5, 9)]
        self.same(np.concatenate([first, *rest], axis=2), expected)
        np.testing.assert_array_equal(final, x[:, :, 6:])
        silu = relayout.depthwise_conv1d(x, weights, activation="silu")
        plain = relayout.depthwise_conv1d(x, weights).astype(np.float64)
        np.testing.assert_allclose(silu, plain / (1 + np.exp(-plain)), rtol=1e-5, atol=1e-6)
        ids = np.zeros((2, 9), np.int32)
        ids[:, 4:] = 1
        apart = relayout.depthwise_conv1d(x, weights, sequence_ids=ids)
        self.same(apart[:, :, 4:], relayout.depthwise_conv1d(x[:, :, 4:], weights))
        a, b = random.integers(-4, 4, (5, 7)).astype(np.float16), random.integers(-4, 4, (6, 7)).astype(np.float16)
        self.same(relayout.gemm(a, b, np.arange(6, dtype=np.float32), dtype="f32"),
                  a.astype(np.float32) @ b.T.astype(np.float32) + np.arange(6, dtype=np.float32))
        full = random.integers(-2, 3, (4, 3, 4)).astype(np.float16)
        half = x.astype(np.float16)
        y = sum(np.einsum("bct,oc->bto", padded[:, :, k:k + 9], full[:, :, k].astype(np.float32)) for k in range(4))
        for route in ("operand", "strided_gemm", "direct"):
            with self.subTest(route):
                self.same(relayout.conv1d(half, full, pad_width=(3, 0), route=route), y.astype(np.float16))

    def test_sequences(self):
        random = np.random.default_rng(5)
        x = random.integers(-5, 6, (3, 14)).astype(np.float32)
        weights = random.integers(-5, 6, (3, 4)).astype(np.float32)
        starts, rows = np.int32([0, 5, 5, 7, 14]), np.int32([4, 1, -1, 0])
        table = random.integers(-5, 6, (5, 3, 3)).astype(np.float32)
        before, states = table.copy(), table.copy()
        flags = np.array([True, True, True, False])
        out = relayout.depthwise_varlen(x, starts, weights, states=states, state_indices=rows, has_initial_state=flags)
        first = relayout.depthwise_conv1d(x[None, :, :5], weights, initial_state=table[4:5])[0]
        last = relayout.depthwise_conv1d(x[None, :, 7:], weights)[0]
        self.same(out, np.concatenate([first, np.zeros((3, 2), np.float32), last], axis=1))
        table[4], table[0] = x[:, 2:5], x[:, 11:]
        np.testing.assert_array_equal(states, table)
        np.testing.assert_array_equal(relayout.depthwise_varlen_states(x, starts, 3)[2],
                                      np.concatenate([np.zeros((3, 1), np.float32), x[:, 5:7]], axis=1))
        # One token for each sequence: in place, and again with the plan that was kept.
        for wanted in (np.int32([0, 4]), np.int32([4, 0])):
            token = random.integers(-5, 6, (2, 3, 1)).astype(np.float32)
            expected = [relayout.depthwise_update(table[row:row + 1], token[i:i + 1], weights) for i, row in enumerate(wanted)]
            apart = relayout.depthwise_update(states.copy(), token, weights, state_indices=wanted)
            kept = relayout.depthwise_update(states, token, weights, state_indices=wanted, out=token)
            self.assertIs(kept, token)
            self.same(token, np.concatenate(expected))
            self.same(apart, token)
            np.testing.assert_array_equal(states, table)
        np.testing.assert_array_equal(states[1:4], before[1:4])
        left = relayout.depthwise_update(states, token, weights, state_indices=np.int32([3, 7]), null_index=3,
                                         null_output="untouched", out=token.copy())
        self.same(left, token)
        # Three columns as a ring, and the same as a row.
        ring, row, places = before[:2].copy(), before[:2].copy(), np.int32([0, 3])
        for _ in range(5):
            token = random.integers(-5, 6, (2, 3, 1)).astype(np.float32)
            self.same(relayout.depthwise_update(ring, token, weights, cache_seqlens=places),
                      relayout.depthwise_update(row, token, weights))
            places += 1
        # Three drafts, of which two are accepted; then three more behind those.
        state, tokens = np.zeros((1, 3, 5), np.float32), random.integers(-5, 6, (1, 3, 5)).astype(np.float32)
        whole = relayout.depthwise_conv1d(tokens, weights)
        one, two = np.int32([1]), np.int32([2])
        self.same(relayout.depthwise_update(state, tokens[:, :, :3], weights, num_accepted_tokens=one), whole[:, :, :3])
        self.same(relayout.depthwise_update(state, tokens[:, :, 2:], weights, num_accepted_tokens=two), whole[:, :, 2:])
        lengths = np.int32([0, 3])
        self.same(relayout.depthwise_update(np.zeros((1, 3, 3), np.float32), tokens[0], weights, query_start_loc=lengths,
                                            out=np.zeros((3, 5), np.float32))[:, :3], whole[0, :, :3])

    def test_gradients_of_convolutions(self):
        random = np.random.default_rng(2)

        def draw(*shape):
            return random.integers(-4, 4, shape).astype(np.float32)

        x, weights, bias, d_out, initial, d_final = draw(2, 3, 9), draw(3, 4), draw(3), draw(2, 3, 9), draw(2, 3, 3), draw(2, 3, 3)
        d_weights, d_bias, d_initial = np.zeros((3, 4), np.float32), np.zeros(3, np.float16), np.zeros((2, 3, 3), np.float32)
        samples = np.concatenate([initial, x], axis=2)
        windows = np.lib.stride_tricks.sliding_window_view(samples, 4, axis=2)  # b c t k

        def expected(g):
            d_samples = np.zeros(samples.shape, g.dtype)
            for k in range(4):
                d_samples[:, :, k:k + 9] += weights[None, :, k, None] * g
            d_samples[:, :, 9:] += d_final
            return d_samples[:, :, 3:], np.einsum("bct,bctk->ck", g, windows), g.sum((0, 2)), d_samples[:, :, :3]

        tensors = {"initial_state": initial, "d_final_state": d_final, "d_weights": d_weights, "d_bias": d_bias,
                   "d_initial_state": d_initial}
        ours = relayout.depthwise_conv1d_backward(x, weights, d_out, bias, **tensors)
        for mine, theirs in zip((ours, d_weights, d_bias, d_initial), expected(d_out)):
            np.testing.assert_array_equal(mine, theirs)
        sums = np.einsum("ck,bctk->bct", weights, windows).astype(np.float64) + bias[None, :, None]
        sigmoid = 1 / (1 + np.exp(-sums))
        ours = relayout.depthwise_conv1d_backward(x, weights, d_out, bias, activation="silu", **tensors)
        for mine, theirs in zip((ours, d_weights, d_bias, d_initial),
                                expected(d_out * sigmoid * (1 + sums * (1 - sigmoid)))):
            np.testing.assert_allclose(mine, theirs, rtol=2e-3 if mine is d_bias else 1e-5, atol=1e-4)

        count = relayout.depthwise_conv1d_backward_workspace_bytes(x, weights, d_out, d_weights=d_weights)
        self.assertGreater(count, 0)
        self.assertEqual(relayout.depthwise_conv1d_backward_workspace_bytes(x, weights, d_out), 0)
        workspace = np.empty(count, np.uint8)
        plan = relayout.plan_depthwise_conv1d_backward(x, weights, d_out, d_weights=d_weights, workspace=workspace)
        plain = plan.run()
        self.same(plan.run(x, 2 * d_out, workspace), 2 * plain)
        with self.assertRaisesRegex(relayout.Error, "workspace"):
            relayout.depthwise_conv1d_backward(x, weights, d_out, d_weights=d_weights, workspace=workspace[1:])
        ids = np.zeros((2, 9), np.int32)
        ids[:, 4:] = 1
        apart = relayout.depthwise_conv1d_backward(x, weights, d_out, sequence_ids=ids)
        self.same(apart[:, :, :4], relayout.depthwise_conv1d_backward(x[:, :, :4], weights, d_out[:, :, :4]))
        with self.assertRaisesRegex(TypeError, "'d_x'"):
            relayout.depthwise_conv1d_backward_workspace_bytes(x, weights, d_out, d_x=x)

    def test_codes(self):
        x = np.float32([[-1, 0, 0.5, 100], [1, 2, 3, 4]])
        codes = relayout.quantize(x, 0.5, 1)
        self.same(codes, np.int8([[-1, 1, 2, 127], [3, 5, 7, 9]]))
        self.same(relayout.dequantize(codes, 0.5, 1), np.float32([[-1, 0, 0.5, 63], [1, 2, 3, 4]]))
        scales, zeros = np.float32([[0.5], [0.25]]), np.int8([[1], [-3]])
        by_row = relayout.quantize(x, scales, zeros)
        self.same(relayout.dequantize(by_row, scales, zeros)[1], x[1])
        self.same(relayout.add(relayout.Quantized(codes, 0.5, 1), 1.0), relayout.dequantize(codes, 0.5, 1) + np.float32(1))
        out = relayout.Quantized(np.zeros((2, 4), np.int8), 0.5, 1)
        relayout.relu(x, out=out)
        self.same(out.codes, np.int8([[1, 1, 2, 127], [3, 5, 7, 9]]))
        plain = np.zeros((2, 4), np.float32)
        relayout.quantized("mul", relayout.Quantized(codes, 0.5, 1), 2, out=plain)
        self.same(plain, 2 * relayout.dequantize(codes, 0.5, 1))

    def test_codes_are_made_for_each_run(self):
        x = np.float32([1, -2, 3])
        plan = relayout.plan_quantize(x, 0.5)
        first, second = plan.run(x), plan.run(-x)
        self.same(first, np.int8([2, -4, 6]))
        self.same(second, np.int8([-2, 4, -6]))
        self.assertEqual(relayout.quantize(x, 0.5, 9, dtype=np.uint8).dtype, np.uint8)
        with self.assertRaisesRegex(relayout.Error, "dtype is u8"):
            relayout.quantize(x, 0.5, dtype="u8", out=np.zeros(3, np.int8))

    def test_arguments_that_are_refused(self):
        x, signal = np.float32([1, 2, 3]), np.zeros((1, 1, 3), np.int64)
        for sentence, call in (("no option 'alpha'", lambda: relayout.add(x, x, alpha=2)),
                               ("no option 'rounding'", lambda: relayout.cast(x, "i8", rounding="down")),
                               ("no option 'axes'", lambda: relayout.copy(x, axes=(0,))),
                               ("no option 'alpha'", lambda: relayout.fill(np.zeros(2), 1, alpha=3)),
                               ("there is no option 'other'", lambda: relayout.add(x, x, other=1)),
                               ("out must be given", lambda: relayout.copy(x, beta=1)),
                               ("out must be given", lambda: relayout.plan_copy(x, beta=1)),
                               ("pad_width must be", lambda: relayout.pad(signal, (1, 2, 3))),
                               ("a step is a name", lambda: relayout.chain([("add",)], x, x)),
                               ("value must be a number", lambda: relayout.fill(np.zeros(2), 1j)),
                               ("value must be a number", lambda: relayout.fill(np.zeros(2), np.array(1))),
                               ("", lambda: relayout.quantize([1], 1)),
                               ("", lambda: relayout.conv1d(signal, None, dtype="f16")),
                               ("a View", lambda: relayout.View(5, "f32")),
                               ("a View", lambda: relayout.View(x, None))):
            with self.subTest(sentence), self.assertRaisesRegex(TypeError, sentence):
                call()
        for sentence, call in (("no operand has the number", lambda: relayout.chain(["add", ("divide", 2**32 + 1)], x, 1.0, x)),
                               ("whole number", lambda: relayout.dequantize(np.int8([1]), 0.5, 0.7)),
                               ("whole number", lambda: relayout.dequantize(np.int8([1]), 0.5, 1e20)),
                               ("no f64 is", lambda: relayout.pad(signal, 1, constant_values=2**53 + 1)),
                               ("no f64 is", lambda: relayout.pad(signal, 1, constant_values=np.uint64(2**64 - 1)))):
            with self.subTest(sentence), self.assertRaisesRegex(relayout.Error, sentence):
                call()
        self.same(relayout.pad(signal, (1, 0), constant_values=2**53)[0, 0, :1], np.int64([2**53]))

    def test_fill(self):
        out = np.zeros((2, 3), np.int8)
        self.assertIs(relayout.fill(out[:, ::2], -7).base, out)
        np.testing.assert_array_equal(out, [[-7, 0, -7]] * 2)
        np.testing.assert_array_equal(relayout.fill(np.zeros(2, np.float16), 0.1), np.float16([0.1, 0.1]))


if __name__ == "__main__":
    unittest.main()
