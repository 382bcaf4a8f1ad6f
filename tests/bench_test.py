"""relayout_bench on the CPU with tiny sizes: what it writes must be complete and fit together, and what it times must be
right.

Run as: python3 bench_test.py PATH_TO_RELAYOUT_BENCH FOLDER_OF_THE_PEERS [unittest arguments]
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = None
PEERS = None
BYTES = {"bool": 1, "u8": 1, "i8": 1, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "f64": 8}


def run(*arguments):
    return subprocess.run([BENCH, "--device", "cpu", "--smoke", *arguments], capture_output=True, text=True)


def expected_bytes(parameters):
    """Every input element once, every output element once."""
    if parameters["operation"] == "quantized":  # the first operand and the output; the second; three tensors of scales
        channels = parameters["channels"]
        return 2 * math.prod(parameters["image"]) + math.prod(parameters["second"]) + (
            3 * BYTES["f32"] * math.prod(channels) if channels else 0)
    if parameters["operation"] == "elementwise":
        return elementwise_formulas.bytes_of(parameters, BYTES)
    into, out = BYTES[parameters["in_type"]], BYTES[parameters["out_type"]]
    elements = math.prod(parameters["shape"])
    operation = parameters["operation"]
    if operation in ("copy", "cast", "permute"):
        return elements * (into + out * (2 if parameters.get("beta", 0) != 0 else 1))
    batch, channels, length = parameters["shape"]
    if operation == "depthwise":
        return elements * (into + out) + channels * (parameters["taps"] + parameters["bias"]) * into
    if operation == "depthwise_update":
        values = channels * (parameters["taps"] + parameters["bias"] + 2 * batch * parameters["samples"])
        return 2 * elements * into + values * into
    length += parameters["pad"]["left"] + parameters["pad"]["right"]
    if operation == "pad":
        return elements * into + batch * channels * length * out
    taps = parameters["taps"]
    rows = batch * ((length - (taps - 1) * parameters["dilation"] - 1) // parameters["stride"] + 1)
    if operation == "img2col":
        return elements * into + rows * taps * channels * out
    return elements * into + parameters["out_channels"] * (taps * channels + rows) * out


class BenchTest(unittest.TestCase):
    whole = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def result(self, *arguments):
        path = os.path.join(self.folder, "result.json")
        done = run("--json", path, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file), done.stdout

    @property
    def all_rows(self):
        """Every suite, run once for all tests."""
        if BenchTest.whole is None:
            BenchTest.whole = self.result("--benchmark_repetitions=3")
        return BenchTest.whole

    def test_rows_are_consistent(self):
        document, table = self.all_rows
        rows = document["rows"]
        suites = {"copy", "cast", "conv1d", "depthwise", "elementwise", "overlap", "permute", "quantized", "native"}
        self.assertEqual({row["suite"] for row in rows}, suites)
        self.assertEqual(len({row["name"] for row in rows}), len(rows))
        for row in rows:
            with self.subTest(row["name"]):
                self.assertEqual(row["bytes"], expected_bytes(row["parameters"]))
                self.assertEqual(row["repetitions"], 3)
                self.assertFalse(row["in_graph"])
                self.assertGreater(row["fastest_seconds"], 0)
                self.assertLessEqual(row["fastest_seconds"], row["seconds"])
                self.assertLessEqual(row["seconds"], row["slowest_seconds"])
                parts = row["suite"] == "overlap"
                reference = "slowest_part" if parts else "best_copy"
                share = row["share_of_slowest_part" if parts else "share_of_copy"]
                seconds = row["part_seconds" if parts else "copy_seconds"]
                beside = (max if parts else min)(seconds.values())
                self.assertEqual(seconds[row[reference]], beside)
                self.assertAlmostEqual(share, beside / row["seconds"], places=9)
                self.assertAlmostEqual(row["gigabytes_per_second"], row["bytes"] * 1e-9 / row["seconds"], places=6)
                self.assertAlmostEqual(share, row["gigabytes_per_second"] / row[reference + "_gigabytes_per_second"],
                                       places=9)
                self.assertEqual("share_of_triad" in row, not parts)
                if not parts:
                    self.assertAlmostEqual(row["share_of_triad"], row["triad_seconds"] / row["seconds"], places=9)
                self.assertEqual(sum(line.startswith(row["name"] + " ") for line in table.splitlines()), 1)

    def test_the_machine_is_named(self):
        document, _ = self.all_rows
        self.assertEqual(document["device"]["kind"], "cpu")
        for key in ("compiler", "commit", "date", "gemm_library"):
            self.assertTrue(document[key], key)
        self.assertTrue(document["device"]["name"])
        self.assertGreaterEqual(document["host_threads"], 1)

    def test_default_is_at_least_ten_repetitions(self):
        document, _ = self.result("--filter", "copy/stream")
        for row in document["rows"]:
            self.assertGreaterEqual(row["repetitions"], 10)

    def test_suite_and_filter_choose(self):
        document, _ = self.result("--suite", "copy,cast", "--filter", "transposed", "--benchmark_repetitions=1")
        self.assertTrue(document["rows"])
        for row in document["rows"]:
            self.assertEqual(row["suite"], "cast")
            self.assertIn("transposed", row["name"])

    def test_a_table_of_permutations_is_added(self):
        table = os.path.join(self.folder, "mine.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("name,source,rank,shape,perm,elem_bytes\nmine,group: a test,3,3 4 5,2 0 1,8\n")
        listed = json.loads(run("--suite", "permute", "--cases", table, "--list-json").stdout)["rows"]
        self.assertGreater(len(listed), 100)
        document, _ = self.result("--suite", "permute", "--cases", table, "--filter", "/mine$", "--benchmark_repetitions=1")
        row, = document["rows"]
        self.assertEqual(listed[-1]["name"], row["name"])
        self.assertEqual((row["name"], row["group"], row["bytes"]), ("permute/mine", "group", 960))
        self.assertEqual(row["parameters"], {"operation": "permute", "in_type": "f64", "out_type": "f64",
                                             "shape": [3, 4, 5], "axes": [2, 0, 1]})
        with open(table, "a", encoding="utf-8") as file:
            file.write("mine2,a test,2,3 4,0 0,8\n")
        done = run("--cases", table)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{table}:3: perm '0 0' is no permutation of 0..1", done.stderr)
        self.assertEqual(run("--suite", "cast", "--cases", table).returncode, 2)

    def test_plans_by_the_clock(self):
        document, _ = self.result("--suite", "permute", "--measure", "--filter", "hptt57_0|beta",
                                  "--benchmark_repetitions=1")
        measured = {row["name"] for row in document["rows"] if row.get("measured_plan", False)}
        others = {row["name"] for row in document["rows"]} - measured
        self.assertEqual(len(measured), 9)
        self.assertTrue(others)
        self.assertTrue(all("beta" in name for name in others), others)
        self.assertEqual(run("--suite", "cast", "--measure").returncode, 2)

    def test_permutations_fit_a_processor(self):
        rows = json.loads(subprocess.run([BENCH, "--device", "cpu", "--suite", "permute", "--list-json"],
                                         capture_output=True, text=True).stdout)["rows"]
        self.assertEqual(sum(row["group"] == "57 permutations" for row in rows), 57)
        for row in rows:
            self.assertLessEqual(row["bytes"], 128 << 20)

    def test_the_list_is_that_of_the_rows(self):
        document, _ = self.all_rows
        listed = json.loads(run("--list-json").stdout)["rows"]
        keys = ("name", "bytes", "parameters")
        self.assertEqual([[row[key] for key in keys] for row in listed],
                         [[row[key] for key in keys] for row in document["rows"]])

    def test_support_names_every_operation_once(self):
        done = run("--support")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [line.split()[0] for line in done.stdout.splitlines()[2:] if line]
        self.assertEqual(len(names), len(set(names)))
        for name in ("fill", "add", "where", "hardsigmoid"):
            self.assertIn(name, names)

    def test_mistakes_are_refused(self):
        for arguments in (["--suite", "none"], ["--filter", "no such row"], ["--bogus"], ["--benchmark_bogus=1"]):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr)

    def check(self):
        return subprocess.run([sys.executable, os.path.join(PEERS, "peers.py"), "--check", self.folder],
                              capture_output=True, text=True)

    def test_results_agree_with_the_formulas(self):
        self.assertEqual(run("--dump", self.folder).returncode, 0)
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(self.folder, "cases.json"), encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        self.assertIn(f"numpy {len(rows)}", done.stdout)
        for row in rows:  # what peers are timed on
            if row["suite"] != "native":
                shapes = formulas.input_shapes(row["parameters"])
                self.assertEqual([(name, math.prod(shape)) for shape, name in shapes],
                                 [(tensor["type"], math.prod(tensor["shape"])) for tensor in row["inputs"]], row["name"])

    def test_a_peer_may_round_a_tie_either_way(self):
        parameters = {"operation": "quantized", "function": "add", "image": [4], "second": [4], "channels": [],
                      "scales": [0.5, 0.5, 1.0], "zeros": [0, 0, 3], "out_type": "i8"}
        a, b = formulas.np.array([[1, 2, 3, 127], [0, 0, 0, 127]], formulas.np.int8)
        reference = formulas.expected(parameters, [a, b])  # halves of 1, 2 and 3, to even; what is too large
        self.assertEqual(reference.tolist(), [3, 4, 5, 127])
        for result, right in (([3, 4, 5, 127], True), ([4, 4, 4, 127], True), ([5, 4, 5, 127], False),
                              ([3, 3, 5, 127], False), ([3, 4, 5, 126], False)):
            result = formulas.np.array(result, formulas.np.int8)
            self.assertEqual(formulas.peer_agrees(parameters, [a, b], result, reference), right, result)

    def test_a_wrong_result_is_seen(self):
        for suite in ("cast", "conv1d"):
            self.assertEqual(run("--suite", suite, "--dump", self.folder).returncode, 0)
            with open(os.path.join(self.folder, "cases.json"), encoding="utf-8") as file:
                row = json.load(file)["rows"][-1]
            path = os.path.join(self.folder, row["output"]["file"])
            with open(path, "rb") as file:
                data = bytearray(file.read())
            data[-1] ^= 0x40  # of the exponent
            with open(path, "wb") as file:
                file.write(data)
            done = self.check()
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("DIFFERENT: " + row["name"], done.stdout)


if __name__ == "__main__":
    BENCH, PEERS = sys.argv[1:3]
    sys.path.insert(0, PEERS)
    import elementwise_formulas
    import formulas
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
