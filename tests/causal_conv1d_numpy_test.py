"""Real .npy files through the example causal_conv1d, against numpy's own A, Bt and Y.

Run as: python3 causal_conv1d_numpy_test.py PATH_TO_EXAMPLE DEVICE [unittest arguments]

A and Bt must be equal bit for bit, and Y must pass the three gates of a correctly rounded GEMM.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

EXAMPLE = None
DEVICE = None
MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "symmetric": "symmetric",
         "circular": "wrap"}


def round_to_bf16(x):
    """float64 or float32 -> the nearest bf16 (ties to even) as float32, by bit arithmetic and one rounding."""
    if x.dtype == np.float64:
        # Round to odd in float32 first: the second rounding then sees everything that the double had.
        with np.errstate(over="ignore"):
            f = x.astype(np.float32)
        back = f.astype(np.float64)
        bits = f.view(np.uint32).copy()
        bits[np.abs(back) > np.abs(x)] -= 1
        bits[(back != x) & ~np.isnan(x)] |= 1
    else:
        bits = x.astype(np.float32).view(np.uint32)
    nan = np.isnan(bits.view(np.float32))
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    rounded[nan] = 0x7FC00000
    return rounded.view(np.float32)


def rounded(x, dtype):
    """x rounded once to the GEMM's type, as the array that the example writes: f2 for f16, f4 for bf16."""
    if dtype == "bf16":
        return round_to_bf16(np.ascontiguousarray(x))
    with np.errstate(over="ignore"):
        return x.astype(np.float16)


def padded(x, left, right, mode, value):
    """[batch, ci, hi] padded along the last axis; negative pads cut samples off afterwards."""
    wide = [(0, 0), (0, 0), (max(left, 0), max(right, 0))]
    arguments = {"constant_values": value} if mode == "constant" else {}
    result = np.pad(x, wide, mode=MODES[mode], **arguments)
    return result[:, :, max(-left, 0):result.shape[2] - max(-right, 0)]


def causal_pads(hi, hk, stride, dilation, causal):
    span = (hk - 1) * dilation + 1
    if causal == "sample":
        return span - 1, 0
    left = span - stride
    return left, (-(-hi // stride) - 1) * stride + span - hi - left


def operands(x, w, case):
    """A [groups, batch*ho, K] and Bt [co, K] as written by the example (without the group axis for one group)."""
    batch, ci, _ = x.shape
    hk, groups, stride, dilation = w.shape[2], case["groups"], case["stride"], case["dilation"]
    xs = rounded(x, case["dtype"])
    value = rounded(np.array([case["value"]]), case["dtype"])[0]
    xs = padded(xs, case["left"], case["right"], case["mode"], value)
    span = (hk - 1) * dilation + 1
    ho = (xs.shape[2] - span) // stride + 1
    at = np.arange(ho)[:, None] * stride + np.arange(hk)[None, :] * dilation
    windows = xs[:, :, at].reshape(batch, groups, ci // groups, ho, hk)
    order = (1, 0, 3, 4, 2) if case["order"] == "tap" else (1, 0, 3, 2, 4)
    a = windows.transpose(order).reshape(groups, batch * ho, hk * ci // groups)
    ws = rounded(w, case["dtype"])
    bt = (ws.transpose(0, 2, 1) if case["order"] == "tap" else ws).reshape(w.shape[0], hk * ci // groups)
    return np.ascontiguousarray(a), np.ascontiguousarray(bt), ho


def exact_gemm(a, bt, bias):
    """r, S and Q of every output [batch*ho, co] in float64."""
    groups, n = a.shape[0], bt.shape[0] // a.shape[0]
    a64 = a.astype(np.float64)
    b64 = bt.astype(np.float64).reshape(groups, n, a.shape[2]).transpose(0, 2, 1)
    join = lambda y: np.concatenate(list(y), axis=1)
    r, s, q = join(a64 @ b64), join(np.abs(a64) @ np.abs(b64)), join(a64 ** 2 @ b64 ** 2)
    return (r + bias.astype(np.float32).astype(np.float64) if bias is not None else r), s, q


def bits(x):
    return x.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize])


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_example(self, *arguments):
        command = [EXAMPLE, "--device", DEVICE, "--repeat", "1", *[str(a) for a in arguments]]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def save(self, name, array, version=None):
        with open(self.path(name), "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        return self.path(name)

    def assert_same_bits(self, got, expected):
        self.assertEqual(got.shape, expected.shape)
        wrong = (bits(np.ascontiguousarray(got)) != bits(expected)) & ~(np.isnan(got) & np.isnan(expected))
        self.assertEqual(int(wrong.sum()), 0, f"{wrong.sum()} of {wrong.size} elements differ")

    def assert_gemm(self, y, a, bt, bias, dtype, statistics):
        with np.errstate(invalid="ignore"):
            r, s, q = exact_gemm(a, bt, bias)
        known = np.isfinite(r)
        self.assertTrue(np.array_equal(np.isnan(y), np.isnan(r)))
        self.assertTrue(np.array_equal(y[np.isinf(r)].astype(np.float64), r[np.isinf(r)]))
        y64, r, s, q, k = y.astype(np.float64)[known], r[known], s[known], q[known], a.shape[2]
        bound = np.abs(r) * (2.0 ** -11 if dtype == "f16" else 2.0 ** -8) + 2.0 ** -25
        bound += k * 2.0 ** -26 * s + 2.0 ** -21 * np.sqrt(k * q) + 2.0 ** -24 * np.abs(r)
        nearest = rounded(r, dtype).astype(np.float64)
        finite = np.isfinite(nearest) & np.isfinite(y64)
        self.assertTrue(np.array_equal(y64[~finite], nearest[~finite]))
        error = np.abs(y64 - r)[finite]
        self.assertTrue(bool(np.all(error <= bound[finite])), f"worst {np.max(error / bound[finite], initial=0)}")
        if statistics and y64.size:
            rms = np.sqrt(np.mean(error ** 2) / np.mean(r[finite] ** 2))
            self.assertLessEqual(rms, 2.8e-4 if dtype == "f16" else 2.3e-3)
            self.assertGreaterEqual(np.mean(y64 == nearest), 0.85)


class ConvTest(Base):
    DEFAULTS = {"batch": 2, "ci": 6, "hi": 37, "co": 8, "hk": 4, "stride": 1, "dilation": 1, "groups": 1,
                "left": None, "right": None, "causal": None, "mode": "constant", "value": 0.0,
                "policy": "strict", "dtype": "f16", "order": "tap", "layout": "ncl", "bias": True,
                "x_type": "<f4", "w_type": "<f4", "fortran": False, "version": None, "squeeze": False}

    def check(self, x=None, w=None, statistics=True, **changes):
        case = {**self.DEFAULTS, **changes}
        with self.subTest(**changes):
            self.check_case(case, x, w, statistics)

    def check_case(self, case, x, w, statistics):
        rng = np.random.default_rng(7)
        k = case["ci"] // case["groups"] * case["hk"]
        if x is None:
            x = rng.standard_normal((case["batch"], case["ci"], case["hi"]))
        if w is None:
            w = rng.standard_normal((case["co"], case["ci"] // case["groups"], case["hk"])) / np.sqrt(max(k, 1))
        x, w = x.astype(case["x_type"]), w.astype(case["w_type"])
        bias = rng.standard_normal(case["co"]).astype("<f4") if case["bias"] else None

        stored = x.transpose(0, 2, 1) if case["layout"] == "nlc" else x
        stored = stored[0] if case["squeeze"] else stored
        stored = np.asfortranarray(stored) if case["fortran"] else np.ascontiguousarray(stored)
        arguments = ["--input", self.save("x.npy", stored, case["version"]),
                     "--weight", self.save("w.npy", np.asfortranarray(w) if case["fortran"] else w, case["version"]),
                     "--output", self.path("y.npy"), "--dump-a", self.path("a.npy"),
                     "--dump-b", self.path("bt.npy"), "--json", self.path("r.json")]
        if bias is not None:
            arguments += ["--bias", self.save("b.npy", bias)]
        for name in ("stride", "dilation", "groups", "dtype", "order", "layout"):
            arguments += ["--" + name, case[name]]
        arguments += ["--pad-mode", case["mode"], "--pad-value", case["value"], "--pad-policy", case["policy"]]
        if case["left"] is None and case["right"] is None:
            if case["causal"]:
                arguments += ["--causal", case["causal"]]
            case["left"], case["right"] = causal_pads(x.shape[2], w.shape[2], case["stride"], case["dilation"],
                                                      case["causal"] or "sample")
        else:
            case["left"], case["right"] = case["left"] or 0, case["right"] or 0
            arguments += ["--pad-left", case["left"], "--pad-right", case["right"]]

        done = self.run_example(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assert_results(case, x, w, bias, statistics)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertTrue(report["ok"] and report["verified"])
        self.assertEqual([p["path"] for p in report["paths"]], ["host", "device", "device-staged", "overlap", "strided-gemm"])

    def assert_results(self, case, x, w, bias, statistics):
        a, bt, ho = operands(x, w, case)
        stored_type = np.dtype("<f2" if case["dtype"] == "f16" else "<f4")
        got_a, got_bt, got_y = (np.load(self.path(name)) for name in ("a.npy", "bt.npy", "y.npy"))
        self.assertEqual({got_a.dtype, got_bt.dtype, got_y.dtype}, {stored_type})
        self.assert_same_bits(got_a, a if case["groups"] > 1 else a[0])
        self.assert_same_bits(got_bt, bt)
        self.assertEqual(got_y.shape, (x.shape[0], ho, w.shape[0]))
        self.assert_gemm(got_y.reshape(x.shape[0] * ho, w.shape[0]), a, bt, bias, case["dtype"], statistics)

    def test_both_types_with_and_without_bias(self):
        for dtype in ("f16", "bf16"):
            for bias in (True, False):
                self.check(dtype=dtype, bias=bias)

    def test_every_pad_mode(self):
        for mode in MODES:
            for dtype in ("f16", "bf16"):
                self.check(mode=mode, value=0.3, dtype=dtype, left=5, right=2)
            self.check(mode=mode)

    def test_strict_pads_up_to_their_limit(self):
        self.check(mode="reflect", left=12, right=12, hi=13)
        self.check(mode="circular", left=13, right=13, hi=13)
        self.check(mode="replicate", left=40, right=30, hi=3)
        self.check(mode="symmetric", left=40, right=30, hi=3)
        self.check(mode="constant", left=40, right=30, hi=3, value=-1.5)

    def test_extended_pads_as_numpy(self):
        for mode in ("reflect", "symmetric", "circular"):
            self.check(mode=mode, left=23, right=40, hi=5, policy="extended")

    def test_strides_and_dilations(self):
        self.check(hk=1, dilation=2 ** 63 - 1)
        for stride, dilation in ((2, 1), (3, 1), (1, 3), (4, 2), (5, 7)):
            self.check(stride=stride, dilation=dilation)
            self.check(stride=stride, dilation=dilation, order="channel", dtype="bf16", hi=64)

    def test_groups_in_both_orders(self):
        for groups in (2, 3, 6):
            for order in ("tap", "channel"):
                self.check(groups=groups, order=order, co=12)

    def test_causal_frame(self):
        for hi in (36, 37, 38):
            self.check(causal="frame", stride=3, hi=hi)

    def test_negative_pads(self):
        self.check(left=-3, right=-5)
        self.check(left=4, right=-6, mode="replicate")
        self.check(left=-2, right=3, mode="reflect")

    def test_layouts_orders_types_and_versions_of_files(self):
        for layout in ("ncl", "nlc"):
            for fortran in (False, True):
                for x_type in ("<f2", "<f4", "<f8"):
                    self.check(layout=layout, fortran=fortran, x_type=x_type, w_type="<f8")
        for version in ((1, 0), (2, 0), (3, 0)):
            self.check(version=version, w_type="<f2")
        self.check(batch=1, squeeze=True)
        self.check(batch=1, squeeze=True, layout="nlc", fortran=True)

    def test_sizes_around_the_tiles(self):
        for ci, hi, hk in ((1, 1, 1), (1, 300, 3), (33, 65, 2), (64, 31, 5), (65, 33, 4)):
            self.check(ci=ci, hi=hi, hk=hk, statistics=hi * hk > 100)
        self.check(hk=9, hi=4)  # a window longer than the signal

    def test_no_elements(self):
        self.check(batch=0)
        self.check(co=0, bias=False)
        self.check(ci=0, statistics=False)
        self.check(hi=0, left=4, right=3, statistics=False)

    def test_every_rounding(self):
        # Every value of the type, the midpoint above it, and the doubles next to that midpoint.
        for dtype in ("f16", "bf16"):
            patterns = np.arange(65536, dtype=np.uint32)
            values = patterns.astype(np.uint16).view(np.float16) if dtype == "f16" \
                else (patterns << 16).view(np.float32)
            with np.errstate(invalid="ignore"):
                values = values.astype(np.float64)
            values = np.sort(values[np.isfinite(values)])
            middle = (values[:-1] + values[1:]) / 2
            overflow = np.array([values[-1] + (values[-1] - values[-2]) / 2])
            middle = np.concatenate([middle, overflow, -overflow])
            x = np.concatenate([values, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
            # As 64 channels, since the emulated GEMM takes as long for one channel as for a whole tile of them.
            x = np.resize(x, (1, 64, -(-x.size // 64)))
            self.check(x=x, w=np.full((1, 64, 1), 0.0), batch=1, ci=64, hk=1, co=1, dtype=dtype, bias=False,
                       x_type="<f8", statistics=False)

    def test_nan_infinity_and_overflow_stay_where_they_are(self):
        x = np.random.default_rng(3).standard_normal((2, 6, 37))
        x[0, 2, 9], x[1, 0, 0], x[1, 3, 20], x[0, 5, 30] = np.nan, np.inf, 65520.0, -0.0
        self.check(x=x, statistics=False)
        self.check(x=x, dtype="bf16", statistics=False)
        self.check(x=np.zeros((2, 6, 37)), bias=False, statistics=False)
        self.check(x=np.ones((2, 6, 37)), bias=False, statistics=False)


class DepthwiseTest(Base):
    """--depthwise against numpy's grouped convolution of as many groups as channels."""

    def check(self, batch=2, ci=6, hi=37, hk=4, layout="ncl", dtype="f16", bias=True, x_type="<f4", statistics=True,
              options=()):
        rng = np.random.default_rng(11)
        x = rng.standard_normal((batch, ci, hi)).astype(x_type)
        w = (rng.standard_normal((ci, hk)) / np.sqrt(hk)).astype("<f4")
        b = rng.standard_normal(ci).astype("<f4") if bias else None
        stored = np.ascontiguousarray(x.transpose(0, 2, 1) if layout == "nlc" else x)
        arguments = ["--depthwise", "--input", self.save("x.npy", stored), "--weight", self.save("w.npy", w), "--dtype",
                     dtype, "--layout", layout, "--output", self.path("y.npy"), "--json", self.path("r.json"), *options]
        if bias:
            arguments += ["--bias", self.save("b.npy", b)]
        with self.subTest(arguments=arguments):
            done = self.run_example(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            case = {"groups": ci, "stride": 1, "dilation": 1, "left": hk - 1, "right": 0, "mode": "constant",
                    "value": 0.0, "order": "tap", "dtype": dtype}
            a, bt, _ = operands(x, w[:, None, :], case)
            y = np.load(self.path("y.npy"))
            self.assertEqual(y.shape, stored.shape)
            y = y if layout == "nlc" else y.transpose(0, 2, 1)
            self.assert_gemm(np.ascontiguousarray(y).reshape(batch * hi, ci), a, bt, b, dtype, statistics)
            with open(self.path("r.json"), encoding="utf-8") as file:
                report = json.load(file)
            self.assertTrue(report["ok"] and report["verified"] and report["options"]["depthwise"])
            self.assertEqual([path["path"] for path in report["paths"]], ["depthwise"])
            verification = report["paths"][0]["verification"]
            self.assertEqual((verification["weight_errors"], verification["weight_total"]), (0, ci * hk))
            return done.stdout, report

    def test_layouts_types_and_bias(self):
        for layout in ("ncl", "nlc"):
            for dtype in ("f16", "bf16"):
                for bias in (True, False):
                    self.check(layout=layout, dtype=dtype, bias=bias)
            for x_type in ("<f2", "<f8"):
                self.check(layout=layout, x_type=x_type)

    def test_taps_and_sizes(self):
        for hk in (1, 2, 3, 8, 31):
            for layout in ("ncl", "nlc"):
                self.check(hk=hk, layout=layout)
        self.check(hk=9, hi=4, statistics=False)  # more taps than samples
        self.check(batch=1, ci=1, hi=1, hk=2, statistics=False)
        self.check(batch=3, ci=64, hi=256)

    def test_options_that_say_what_it_does_anyway(self):
        self.check(options=["--causal", "frame", "--stride", 1, "--pageable-input"])
        self.check(options=["--pad-left", 3, "--pad-mode", "constant", "--pad-value", 0])

    def test_graph_and_report(self):
        out, report = self.check(options=["--graph"])
        self.assertIn("hi 37, hk 4, depthwise, pad constant 0 left 3 right 0, f16, input ncl", out)
        self.assertIn("y [2, 6, 37], medians of 1 runs", out)
        self.assertIn("depthwise, taps 4 valid, path depthwise: worst", out)
        self.assertIn("prepared, in a graph", out)
        self.assertGreater(report["paths"][0]["seconds_prepared_in_graph"], 0)
        self.assertEqual([stage["stage"] for stage in report["paths"][0]["stages"]],
                         ["copy f32 input", "cast", "copy weights", "cast weights", "copy bias", "depthwise conv1d"])

    def test_generated_data_do_not_depend_on_the_layout(self):
        y = []
        for layout in ("ncl", "nlc"):
            done = self.run_example("--depthwise", "--ci", 8, "--hi", 50, "--layout", layout, "--output",
                                    self.path("y.npy"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            y.append(np.load(self.path("y.npy")))
        self.assert_same_bits(y[0], np.ascontiguousarray(y[1].transpose(0, 2, 1)))


class RefusalTest(Base):
    """Bad arguments and files: exit code 2, one line on stderr, nothing on stdout, no file left behind."""

    def refuse(self, *arguments, says=""):
        before = sorted(os.listdir(self.folder.name))
        outputs = ["--output", self.path("y.npy"), "--json", self.path("r.json")]
        if "--depthwise" not in arguments:
            outputs += ["--dump-a", self.path("a.npy")]
        done = self.run_example(*arguments, *outputs)
        with self.subTest(arguments=arguments):
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Acausal_conv1d: [^\n]+\.\n\Z")
            self.assertIn(says, done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def store(self, name, content):
        path = self.path(name)
        if isinstance(content, bytes):
            with open(path, "wb") as file:
                file.write(content)
        else:
            np.save(path, content)
        return path

    def test_arguments(self):
        self.refuse("--nonsense", says="--nonsense")
        self.refuse("--ci", says="--ci")
        # Errors of the library come with the options that describe the problem.
        self.refuse("--groups", "3", says="--ci 64")
        self.refuse("--hi", "5", "--hk", "9", "--pad-left", "0", says="--hi 5, --hk 9")
        self.refuse("--hk", 2, "--dilation", 2 ** 58, "--pad-left", 2 ** 58, says="--dilation 288230376151711744")
        self.refuse("--hi", 3, "--pad-left", 0, "--pad-mode", "reflect-zero-extended", says="--pad-mode reflect-zero-extended")
        self.refuse("--ci", "many", says="many")
        self.refuse("--hi", -1, says="-1")
        self.refuse("--hi", 10 ** 30)
        self.refuse("--hk", 0)
        self.refuse("--stride", 0)
        self.refuse("--seed", -1)
        self.refuse("--dtype", "f32", says="f16 | bf16")
        self.refuse("--pad-mode", "zero", says="replicate")
        self.refuse("--groups", 5, says="5 groups")
        self.refuse("--causal", "frame", "--pad-left", 1, says="--causal")
        self.refuse("--causal", "frame", "--stride", 5)
        self.refuse("--hi", 2, "--pad-left", 0)
        self.refuse("--pad-mode", "reflect", "--hi", 3, says="too large")
        self.refuse("--pad-mode", "circular", "--hi", 2, says="too large")
        self.refuse("--pad-mode", "replicate", "--hi", 0)
        self.refuse("--hi", 2 ** 62)
        self.refuse("--hi", 10 ** 12, says="memory")
        self.refuse("--dilation", 2 ** 63 - 1)
        self.refuse("--pad-left", 2 ** 63 - 1)
        self.refuse("--dump-b", self.path("y.npy"), says="same file")
        self.refuse("--path", "strided-gemm", says="no A")
        self.refuse("--dump-b", self.path("no/such/folder/b.npy"), says="folder")

    def test_depthwise_arguments(self):
        for options in (["--co", 64], ["--groups", 64], ["--order", "tap"], ["--path", "device"], ["--buffers", 2],
                        ["--host-work", "none"], ["--chunk-bytes", 0], ["--dump-a", self.path("a.npy")],
                        ["--dump-b", self.path("b.npy")]):
            self.refuse("--depthwise", *options, says=f"{options[0]} is of the convolution as a GEMM")
        self.refuse("--depthwise", "--stride", 2, says="stride 1 and dilation 1, not 2 and 1")
        self.refuse("--depthwise", "--dilation", 3, says="not 1 and 3")
        self.refuse("--depthwise", "--pad-left", 2, says="3 zeros before the signal")
        self.refuse("--depthwise", "--pad-left", 3, "--pad-right", 1, says="not 3 and 1")
        self.refuse("--depthwise", "--pad-mode", "replicate", says="replicate")
        self.refuse("--depthwise", "--pad-value", 1, says="--depthwise is causal")
        w = self.store("w.npy", np.zeros((8, 1, 3), "<f4"))
        self.refuse("--depthwise", "--weight", w, says="[ci, hk] is needed")
        w = self.store("w2.npy", np.zeros((8, 3), "<f4"))
        self.refuse("--depthwise", "--weight", w, "--ci", 9, says="--ci says 9")
        self.refuse("--depthwise", "--weight", w, "--bias", self.store("b.npy", np.zeros(7, "<f4")), says="w2.npy says 8")

    def test_files(self):
        good = np.zeros((1, 4, 16), "<f4")
        x = self.store("x.npy", good)
        with open(x, "rb") as file:
            whole = file.read()
        self.refuse("--input", self.path("missing.npy"), says="no such file")
        self.refuse("--input", self.folder.name)
        self.refuse("--input", self.store("empty.npy", b""))
        self.refuse("--input", self.store("text.npy", b"not an array at all"))
        for length in (5, 9, 40, 127, 128, len(whole) - 1):
            self.refuse("--input", self.store("short.npy", whole[:length]))
        self.refuse("--input", self.store("long.npy", whole + b"x"))
        self.refuse("--input", self.store("big.npy", good.astype(">f4")), says="big endian")
        self.refuse("--input", self.store("int.npy", good.astype("<i4")), says="<i4")
        self.refuse("--input", self.store("rank.npy", np.zeros(4, "<f4")), says="axes")
        self.refuse("--input", self.store("rank4.npy", np.zeros((1, 1, 4, 16), "<f4")), says="axes")
        for shape in ("(-1, 4, 16)", "(1, 4, 99)", "(4294967296, 4294967296, 1)", "(99999999999999999999, 1, 1)"):
            header = whole[:128].replace(b"(1, 4, 16)", shape.encode()).rstrip().ljust(127) + b"\n"
            self.refuse("--input", self.store("shape.npy", header + whole[128:]), says="shape")

    def test_sizes_that_contradict(self):
        x = self.store("x.npy", np.zeros((1, 4, 16), "<f4"))
        w = self.store("w.npy", np.zeros((8, 4, 3), "<f4"))
        self.refuse("--input", x, "--ci", 5, says="--ci says 5")
        self.refuse("--input", x, "--hi", 5, says="--hi says 5")
        self.refuse("--input", x, "--batch", 2, says="--batch says 2")
        self.refuse("--weight", w, "--co", 9, says="--co says 9")
        self.refuse("--weight", w, "--hk", 4, says="--hk says 4")
        self.refuse("--input", x, "--weight", w, "--groups", 2, says="x.npy says 4")
        self.refuse("--input", x, "--weight", self.store("w5.npy", np.zeros((8, 5, 3), "<f4")), says="x.npy says 4")
        self.refuse("--weight", w, "--bias", self.store("b.npy", np.zeros(7, "<f4")), says="w.npy says 8")
        self.refuse("--bias", self.store("b2.npy", np.zeros((1, 8), "<f4")), says="axes")
        self.refuse("--weight", self.store("w2.npy", np.zeros((8, 4), "<f4")), says="axes")
        self.refuse("--weight", self.store("w0.npy", np.zeros((8, 4, 0), "<f4")))


class ReportTest(Base):
    def test_default_run_prints_the_table_and_the_checks(self):
        # Emulated devices are slow: a shorter signal, the same matrices otherwise.
        hi = 128 if DEVICE == "emulated" else 2048
        done = self.run_example("--hi", hi)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for path in ("host", "device", "device-staged", "overlap"):
            self.assertIn(f"input operand, path {path}: errors 0/{hi * 256}; weights: errors 0/16384", done.stdout)
            self.assertRegex(done.stdout, rf"GEMM m {hi} n 64 k 256 lda 256 ldb 256 ldc 64 valid, path {path}:")
        self.assertIn("Fastest end to end", done.stdout)
        self.assertIn("Fastest to A for data already on the device", done.stdout)
        self.assertIn(f"checked rows {hi} of {hi}", done.stdout)

    def test_explain_tells_the_kernels(self):
        native = DEVICE == "cpu"
        for options, heading, kernel in (
                (["--path", "device"], "path device:\nimg2col: f32[1, 64, 64]", "Kernel window_vector: "),
                (["--path", "strided-gemm"], "path strided-gemm:\n", "Kernel window_vector: "),
                (["--depthwise"], "path depthwise:\ndepthwise_conv1d: f16[1, 64, 64]", "Kernel depthwise_time: ")):
            with self.subTest(options):
                done = self.run_example("--hi", 64, "--explain", *options)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(heading, done.stdout)
                self.assertIn("Kernel native: " if native else kernel, done.stdout)
                self.assertEqual("gemm: f16" in done.stdout, "--depthwise" not in options)
        self.assertNotIn("Kernel ", self.run_example("--hi", 64, "--path", "device").stdout)

    def test_path_strided_gemm(self):
        y = {}
        for path in ("device", "strided-gemm"):
            for order in ("tap", "channel"):
                done = self.run_example("--path", path, "--graph", "--hi", 100, "--batch", 2, "--ci", 16, "--stride", 3,
                                        "--dilation", 2, "--groups", 2, "--order", order, "--output", self.path("y.npy"),
                                        "--json", self.path("r.json"))
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertIn("prepared, in a graph: input kernel + GEMM", done.stdout)
                self.assertIn("All checks passed.", done.stdout)
                with open(self.path("r.json"), encoding="utf-8") as file:
                    result = json.load(file)["paths"][0]
                self.assertGreater(result["seconds_prepared_in_graph"], 0)
                self.assertEqual(result["verification"]["weight_total"], 64 * 8 * 4)
                self.assertEqual(result["verification"]["input_total"], 0 if path == "strided-gemm" else 2 * 34 * 4 * 16)
                y[path, order] = np.load(self.path("y.npy")).astype(np.float64)
        self.assertIn("path strided-gemm: none, so only y is checked; weights: errors 0/2048", done.stdout)
        self.assertRegex(done.stdout, r"GEMM m 68 n 32 k 32 lda of views ldb 32 ldc 64 groups 2 valid, path strided-gemm:")
        for values in y.values():
            np.testing.assert_allclose(values, y["device", "tap"], rtol=2e-3, atol=2e-3)

    def test_one_path_without_verification(self):
        done = self.run_example("--path", "device", "--no-verify", "--hi", 64, "--ci", 4)
        self.assertEqual(done.returncode, 0)
        self.assertIn("Not verified.", done.stdout)
        self.assertNotIn("errors", done.stdout)

    def test_overlap_options_and_the_automatic_choice(self):
        for options in (["--path", "overlap", "--host-work", "none", "--chunk-bytes", 999, "--pad-mode", "reflect"],
                        ["--path", "overlap", "--host-work", "cast-transpose", "--pageable-input", "--buffers", 2],
                        ["--path", "auto"]):
            done = self.run_example(*options, "--hi", 64, "--ci", 4, "--json", self.path("r.json"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.path("r.json"), encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(len(report["paths"]), 1)
            if "auto" in options:
                self.assertIn(f"Chosen: {report['choice']}.", done.stdout)
                self.assertIn("GB/s", report["choice"])
            else:
                self.assertIsNone(report["choice"])
                self.assertGreater(report["paths"][0]["overlap_share"], 0)
                self.assertEqual(report["paths"][0]["alone"][-1]["stage"], "alone: the copies")

    def test_operands_do_not_depend_on_path_or_layout(self):
        dumps = []
        for path in ("host", "device", "device-staged", "overlap"):
            for layout in ("ncl", "nlc"):
                a, bt = self.path(f"a-{path}-{layout}.npy"), self.path(f"bt-{path}-{layout}.npy")
                done = self.run_example("--path", path, "--layout", layout, "--ci", 8, "--hi", 50, "--seed", 5,
                                        "--dump-a", a, "--dump-b", bt)
                self.assertEqual(done.returncode, 0, done.stderr)
                dumps.append((np.load(a), np.load(bt)))
        for a, bt in dumps[1:]:
            self.assertTrue(np.array_equal(bits(dumps[0][0]), bits(a)))
            self.assertTrue(np.array_equal(bits(dumps[0][1]), bits(bt)))
        self.assertGreater(len(np.unique(dumps[0][0])), 300)

    def test_help(self):
        done = self.run_example("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--batch", "--pad-policy", "--dump-b", "--json", "--no-verify", "--graph", "--explain", "--depthwise"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    EXAMPLE, DEVICE = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
