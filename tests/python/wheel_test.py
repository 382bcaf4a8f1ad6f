#!/usr/bin/env python3
"""The wheel: made by pip, with and without an environment of its own, from a build that exists; its name, its record, and
that it works in a new environment, where nothing is loaded from the build tree.

    wheel_test.py bindings/python BUILD WORK
"""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import venv
import zipfile

SOURCE, BUILD, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
PROGRAM = """
import numpy, relayout, sys
assert relayout.__file__.startswith(sys.prefix), relayout.__file__
a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
assert (relayout.transpose(a) == a.T).all() and (relayout.add(a, 1) == a + 1).all()
loaded = open("/proc/self/maps").read() + repr(sys.modules)
assert sys.argv[1] not in loaded, loaded
print(relayout.__version__, relayout.built_with())
"""


def run(*command, **words):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **words)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def make_wheel(*options, **variables):
    folder = WORK / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", *options, "-w", folder, SOURCE,
        env={**os.environ, "RELAYOUT_BUILD_FOLDER": str(BUILD), **variables})
    return list(folder.glob("*.whl"))


class Wheel(unittest.TestCase):
    def test_it_is_made_and_works(self):
        shutil.rmtree(WORK, ignore_errors=True)
        first, = make_wheel("--no-build-isolation")
        content = first.read_bytes()
        wheel, = make_wheel()
        self.assertEqual(wheel.read_bytes(), content)  # the same wheel both ways
        self.assertRegex(wheel.name, r"^relayout-[\d.]+-cp39-abi3-linux_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            self.assertLess({"relayout/__init__.py", "relayout/__init__.pyi", "relayout/py.typed", "relayout/_core.abi3.so",
                             "relayout/librelayout.so.1", "relayout/causal_conv1d.py", "relayout/compat.py",
                             "relayout/vllm.py", "relayout/sglang.py", "relayout/jax.py"}, set(names))
            entries = archive.read(next(name for name in names if name.endswith("/entry_points.txt"))).decode()
            self.assertIn("[vllm.general_plugins]\nrelayout = relayout.vllm:plugin\n", entries)
            record = archive.read(next(name for name in names if name.endswith("/RECORD"))).decode()
            self.assertEqual(sorted(row[0] for row in csv.reader(record.splitlines())), sorted(names))
        home = WORK / "venv"
        venv.create(home, with_pip=True, system_site_packages=True)  # numpy is the system's
        python = home / "bin" / "python"
        run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel)
        print(run(python, "-c", PROGRAM, BUILD / "bindings", cwd="/",
                  env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}))

    def test_the_name_says_the_back_end(self):
        with self.assertRaisesRegex(AssertionError, "RELAYOUT_BACKEND is 'tpu'"):
            make_wheel("--no-build-isolation", RELAYOUT_BACKEND="tpu")
        wheel, = make_wheel("--no-build-isolation", RELAYOUT_BACKEND="hip")
        self.assertRegex(wheel.name, "^relayout_rocm-")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
