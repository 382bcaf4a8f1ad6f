#!/usr/bin/env python3
"""tools/check-resource-report must pass a clean report and fail each kind of unclean one; so must the launcher that
makes the reports."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
SUFFIX = " [-Rpass-analysis=kernel-resource-usage]"


def remarks(name, **changes):
    """The report of clang about one kernel on one architecture."""
    values = {"SGPRs": 10, "VGPRs": 4, "AGPRs": 0, "ScratchSize [bytes/lane]": 0, "Occupancy [waves/SIMD]": 8,
              "SGPRs Spill": 0, "VGPRs Spill": 0, "LDS Size [bytes/block]": 8448}
    values.update({key.replace("_", " "): value for key, value in changes.items()})
    lines = [f"Function Name: {name}"] + [f"    {key}: {value}" for key, value in values.items()]
    return [f"kernels/copy/tile.cpp:5:1: remark: {line}{SUFFIX}" for line in lines]


class CheckResourceReport(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def check(self, *reports, options=()):
        for number, lines in enumerate(reports):
            (self.path / f"{number}.o").touch()
            text = "\n".join(["architectures: gfx1100 gfx90a"] + lines) + "\n"
            (self.path / f"{number}.o.resources").write_text(text)
        command = [sys.executable, TOOLS / "check-resource-report", "--architectures", "gfx90a", "gfx1100", *options, "--",
                   self.path]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr

    def assert_complains(self, sentence, *reports):
        status, _, errors = self.check(*reports)
        self.assertEqual(status, 1)
        self.assertIn(sentence, errors)

    def test_clean(self):
        status, table, errors = self.check(remarks("tile") + remarks("tile"), remarks("window") + remarks("window"))
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("4 kernels (one per architecture) checked, 0 complaints", table)

    def test_names_kernel_and_architecture(self):
        self.assert_complains("tile on gfx90a: VGPRs Spill is 3, must be 0",
                              remarks("tile") + remarks("tile", VGPRs_Spill=3))
        self.assert_complains("tile on gfx1100: SGPRs Spill is 2, must be 0",
                              remarks("tile", SGPRs_Spill=2) + remarks("tile"))

    def test_scratch(self):
        self.assert_complains("tile on gfx1100: ScratchSize is 1216, must be 0",
                              remarks("tile", **{"ScratchSize [bytes/lane]": 1216}) + remarks("tile"))

    def test_scalar_spills_where_they_are_allowed(self):
        spills = remarks("tile_any", SGPRs_Spill=2) + remarks("tile_any", SGPRs_Spill=9)
        self.assertEqual(self.check(spills, options=["--scalar-spills", "_any"])[0], 0)
        status, _, errors = self.check(spills, options=["--scalar-spills", "_other"])
        self.assertEqual(status, 1)
        self.assertIn("tile_any on gfx90a: SGPRs Spill is 9, must be 0", errors)
        scratch = remarks("tile_any", VGPRs_Spill=1) + remarks("tile_any")
        status, _, errors = self.check(scratch, options=["--scalar-spills", "_any"])
        self.assertEqual(status, 1)
        self.assertIn("tile_any on gfx1100: VGPRs Spill is 1, must be 0", errors)

    def test_dynamic_stack(self):
        self.assert_complains("the size of its stack is not known", remarks("tile", Dynamic_Stack=True) + remarks("tile"))

    def test_one_bad_copy_is_not_hidden_by_a_good_one(self):
        good, bad = remarks("tile") + remarks("tile"), remarks("tile", VGPRs_Spill=1) + remarks("tile")
        self.assert_complains("VGPRs Spill is 1", bad, good)
        self.assert_complains("VGPRs Spill is 1", good, bad)

    def test_missing_architecture(self):
        self.assert_complains("tile was not compiled for gfx90a", remarks("tile"))

    def test_missing_line(self):
        lines = [line for line in remarks("tile") if "VGPRs Spill" not in line]
        self.assert_complains("the report lacks 'VGPRs Spill'", lines + remarks("tile"))

    def test_nothing_reported(self):
        self.assert_complains("no kernel was reported")
        self.assert_complains("no kernel was reported", [])

    def test_too_many(self):
        self.assert_complains("more often than there are architectures", 3 * remarks("tile"))

    def test_unknown_text(self):
        self.assert_complains("not understood", ["kernels/copy/tile.cpp:5:1: remark: spam"])


class KeepResourceReport(unittest.TestCase):
    def launch(self, folder, messages, status):
        compiler = pathlib.Path(folder) / "compiler"
        compiler.write_text("#!/bin/sh\ncat >&2 <<'END'\n" + "\n".join(messages) + f"\nEND\nexit {status}\n")
        compiler.chmod(0o755)
        command = [TOOLS / "keep-resource-report", compiler, "--offload-arch=gfx90a", "--offload-arch=gfx1100", "-o",
                   f"{folder}/tile.o"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_keeps_remarks_and_lets_the_rest_through(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = ["tile.cpp:7:3: warning: unused variable 'a'", "    7 | int a;", "      | ^"]
            remark = remarks("tile")
            source = ["    5 | __global__ void tile()", "      | ^"]
            result = self.launch(folder, remark[:1] + source + shown + remark[1:], 7)
            self.assertEqual(result.returncode, 7)
            self.assertEqual(result.stderr.splitlines(), shown)
            kept = (pathlib.Path(folder) / "tile.o.resources").read_text().splitlines()
            self.assertEqual(kept, ["architectures: gfx1100 gfx90a "] + remark)


if __name__ == "__main__":
    unittest.main()
