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


def run(*arguments, device="cpu"):
    return subprocess.run([BENCH, "--device", device, "--smoke", *arguments], capture_output=True, text=True)


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
    if operation == "depthwise_backward":
        return 3 * elements * into + channels * (parameters["taps"] + 1) * (into + BYTES["f32"])
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
        suites = {"copy", "cast", "conv1d", "depthwise", "elementwise", "overlap", "permute", "quantized", "redistribute",
                  "native"}
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
        listed = json.loads(run("--suite", "permute", "--permutations", table, "--list-json").stdout)["rows"]
        self.assertGreater(len(listed), 100)
        document, _ = self.result("--suite", "permute", "--permutations", table, "--filter", "/mine$", "--benchmark_repetitions=1")
        row, = document["rows"]
        self.assertEqual(listed[-1]["name"], row["name"])
        self.assertEqual((row["name"], row["group"], row["bytes"]), ("permute/mine", "group", 960))
        self.assertEqual(row["parameters"], {"operation": "permute", "in_type": "f64", "out_type": "f64",
                                             "shape": [3, 4, 5], "axes": [2, 0, 1]})
        with open(table, "a", encoding="utf-8") as file:
            file.write("mine2,a test,2,3 4,0 0,8\n")
        done = run("--permutations", table)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{table}:3: perm '0 0' is no permutation of 0..1", done.stderr)
        self.assertEqual(run("--suite", "cast", "--permutations", table).returncode, 2)

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

    def test_files_are_checked_before_anything_is_timed(self):
        table, link = os.path.join(self.folder, "table.csv"), os.path.join(self.folder, "link.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink("table.csv", link)
        new = os.path.join(self.folder, "new.json")
        for arguments, says in ((["--json", ""], "--json"), (["--dump", ""], "--dump"), (["--permutations", ""], "--permutations"),
                                (["--suite", "random", "--csv", ""], "--csv"),
                                (["--suite", "random", "--problems", ""], "--problems"),
                                (["--json", os.path.join(self.folder, "no", "r.json")], "No such file"),
                                (["--json", self.folder], "Is a directory"),
                                (["--permutations", table, "--json", link], "the input"),
                                (["--suite", "random", "--problems", table, "--csv", link], "the input"),
                                (["--suite", "random", "--json", new, "--csv", os.path.join(self.folder, ".", "new.json")],
                                 "the other result")):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(says, done.stderr)
        with open(table, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        self.assertFalse(os.path.exists(new))

    def random(self, device, *arguments):
        path = os.path.join(self.folder, "random.json")
        done = run("--suite", "random", "--json", path, *arguments, device=device)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file), done.stdout

    def test_random_problems_are_right_and_reported(self):
        families = {"permute", "slice", "cast", "binary", "unary", "depthwise", "img2col", "pad", "quantized"}
        for device in ("cpu", "emulated"):
            with self.subTest(device):
                document, table = self.random(device, "--seed", "101", "--cases", "12")
                problems = document["problems"]
                self.assertEqual((len(problems), {problem["family"] for problem in problems}), (12 * 9, families))
                self.assertTrue(document["commit"] and document["device"]["name"] and document["generator"])
                for problem in problems:
                    self.assertIn(problem["verified"], ("reference", "device"), problem["name"])
                    self.assertEqual(problem["bytes"], random_problems.bytes_of(problem))
                    self.assertAlmostEqual(problem["share_of_copy"], problem["copy_microseconds"] / problem["microseconds"])
                    self.assertGreaterEqual(problem["sector_bytes"], problem["bytes"])
                    self.assertEqual(problem["sector_bytes"] % 32, 0)
                    again = random_problems.problem_of(problem["csv"])
                    self.assertEqual(again, {key: problem[key] for key in again})
                self.assertTrue({"reference", "device"} <= {problem["verified"] for problem in problems})
                self.assertEqual(sum(row["problems"] for row in document["percentiles"]), len(problems))
                for row in document["percentiles"]:
                    self.assertLessEqual(row["p1"], row["p50"])
                    self.assertIn(row["group"] + " ", table)

    def test_candidates_are_right_and_predicted_again(self):
        families = "permute,slice,cast,depthwise,img2col,pad"
        document, _ = self.random("emulated", "--seed", "3", "--cases", "8", "--family", families, "--candidates", "3")
        timed = {problem["name"]: problem["candidates"] for problem in document["problems"]}
        self.assertEqual(len(timed), 8 * 6)
        for name, candidates in timed.items():
            self.assertEqual(sum(candidate["chosen"] for candidate in candidates), 1, name)
            self.assertEqual(len({candidate["name"] for candidate in candidates}), len(candidates), name)
            self.assertTrue(all(candidate["microseconds"] > 0 for candidate in candidates), name)
        self.assertGreater(sum(len(candidates) for candidates in timed.values()), 3 * len(timed))

        result, again = (os.path.join(self.folder, name) for name in ("candidates.json", "again.json"))
        with open(result, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = subprocess.run([BENCH, "predict", result, "--json", again], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        with open(again, encoding="utf-8") as file:
            predicted = {problem["name"]: problem["candidates"] for problem in json.load(file)["problems"]}
        for name, candidates in timed.items():
            self.assertEqual(len(predicted[name]), len(candidates), name)
            least = min(candidate["predicted_microseconds"] for candidate in predicted[name])
            for before, now in zip(candidates, predicted[name]):
                self.assertAlmostEqual(before["predicted_microseconds"], now["predicted_microseconds"], 6, name)
                self.assertTrue(not now["chosen"] or now["predicted_microseconds"] == least, name)
        script = os.path.join(os.path.dirname(PEERS), "fit_times.py")
        done = subprocess.run([sys.executable, "-B", script, result, "--check", again], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("regret with the factors, checked on", done.stdout)
        done = subprocess.run([BENCH, "predict", again + ".none", "--json", again], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no result of --suite random", done.stderr)

    def test_the_worst_random_problems_run_again(self):
        path = os.path.join(self.folder, "worst.csv")
        first, _ = self.random("cpu", "--family", "cast,binary", "--cases", "25", "--csv", path, "--no-verify")
        self.assertEqual({problem["verified"] for problem in first["problems"]}, {"no"})
        worst = sorted(first["problems"], key=lambda problem: problem["share_of_copy"])[:30]
        again, _ = self.random("cpu", "--problems", path)
        self.assertEqual([problem["csv"] for problem in again["problems"]], [problem["csv"] for problem in worst])
        problems, _ = random_problems.load(path)
        self.assertEqual([problem["csv"] for problem in problems], [problem["csv"] for problem in worst])

    def test_random_mistakes_are_refused(self):
        path = os.path.join(self.folder, "problems.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(random_problems.HEADER + "\n1,1,0,cast,,f16 4 @0 1,f17 4 @0 1,\n")
        for arguments in (["--suite", "random,cast"], ["--suite", "cast", "--seed", "2"], ["--suite", "random", "--cases", "0"],
                          ["--suite", "random", "--family", "none"], ["--suite", "random", "--problems", path],
                          ["--suite", "random", "--min-mb", "2", "--max-mb", "1"]):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr)
        self.assertIn(f"{path}:2: there is no element type 'f17'", run("--suite", "random", "--problems", path).stderr)

    def test_a_peer_that_is_faster_is_named(self):
        def row(own, peer):
            return {"family": "pad", "csv": f"{own}", "microseconds": own, "peers": {"torch": {"microseconds": peer}}}
        skipped = {"family": "pad", "csv": "", "microseconds": 1, "peers": {"torch": {"skipped": "no such type"}}}
        line, = random_problems.summary([row(2, 4), row(8, 4), row(100, 98), skipped], "torch")
        self.assertEqual((line["problems"], line["peer_faster"]), (3, 1))
        self.assertAlmostEqual(line["geometric_speed_up"], 0.98 ** (1 / 3))
        self.assertEqual(line["worst"], [{"speed_up": 0.5, "csv": "8"}])

    def test_memory_of_random_problems(self):
        tensor = random_problems.tensor_of("f16 2x1x3 @5 1x9x2")
        self.assertEqual(random_problems.footprint(tensor), 5 + 1 + 4 + 1)
        self.assertEqual(random_problems.memory_order(tensor), ([1, 3, 2], [2, 0, 1]))
        self.assertIsNone(random_problems.memory_order(random_problems.tensor_of("f16 2x3 @0 4x1")))
        self.assertIsNone(random_problems.memory_order(random_problems.tensor_of("f16 2x3 @0 0x1")))

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
                inputs = row["inputs"]
                if row["parameters"]["operation"] == "depthwise_backward":
                    inputs = inputs[:4]  # what it writes besides comes behind what it reads
                self.assertEqual([(name, math.prod(shape)) for shape, name in shapes],
                                 [(tensor["type"], math.prod(tensor["shape"])) for tensor in inputs], row["name"])

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
    import random_problems
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
