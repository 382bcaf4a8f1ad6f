#!/usr/bin/env python3
"""tools/check-includes must pass includes along the arrows and print each that runs back."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-includes"


class CheckIncludes(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n")
            result = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr

    def test_includes_along_the_arrows_pass(self):
        status, out, _ = self.check({
            "host/api/copy.cpp": ['#include "host/plan/nest.hpp"', '#include "platform/backend.hpp"', "#include <vector>"],
            "host/plan/nest.hpp": ['#include "core/params.hpp"', "#include <relayout/dtype.hpp>"],
            "kernels/copy/tile.cpp": ['#include "launch.hpp"', '#include "kernels/divide.hpp"'],
            "platform/nvidia/launch.hpp": ["#include <cuda_runtime.h>", '#include "check.hpp"'],
            "host/cpu/backend.cpp": ['#include "platform/processor_backend.hpp"']})
        self.assertEqual((status, out), (0, "10 includes checked, 0 run back\n"))

    def test_each_include_that_runs_back_is_printed(self):
        for source, line in (("core/params.hpp", '#include "host/plan/nest.hpp"'),
                             ("core/params.hpp", '#include "platform/backend.hpp"'),
                             ("kernels/copy/tile.cpp", '#include "host/plan/nest.hpp"'),
                             ("kernels/copy/tile.cpp", '#include "platform/backend.hpp"'),
                             ("kernels/copy/tile.cpp", "#include <cuda_runtime.h>"),
                             ("platform/amd/backend.cpp", '#include "host/api/checks.hpp"'),
                             ("platform/amd/backend.cpp", '  #  include "kernels/divide.hpp"'),
                             ("host/plan/nest.cpp", '#include "host/api/checks.hpp"'),
                             ("host/plan/nest.cpp", '#include "../api/checks.hpp"'),
                             ("host/plan/nest.cpp", '#include "platform/backend.hpp"'),
                             ("host/plan/nest.cpp", "#include <kernels/divide.hpp>"),
                             ("host/cpu/copy.cpp", '#include "platform/backend.hpp"'),
                             ("host/cpu/copy.cpp", '#include "host/api/checks.hpp"'),
                             ("host/reference/copy.cpp", '#include "host/plan/nest.hpp"'),
                             ("host/include/relayout/copy.hpp", '#include "core/params.hpp"')):
            with self.subTest(source=source, line=line):
                status, out, errors = self.check({source: ["#pragma once", line], "host/api/checks.hpp": [""]})
                self.assertEqual((status, out), (1, "1 includes checked, 1 run back\n"))
                self.assertIn(f"{source}:2: {line.strip()}: ", errors)

    def test_no_include_at_all_fails(self):
        self.assertEqual(self.check({"core/params.hpp": ["#pragma once"]})[0], 1)


if __name__ == "__main__":
    unittest.main()
