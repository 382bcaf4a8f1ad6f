#!/usr/bin/env python3
"""A wheel for a GPU on a machine without one: its name, what it must be linked with, that the CPU works, and what is said of
a GPU. Needs nothing but Python and readelf.

    gpu_wheel_test.py WHEEL cuda|hip
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

WHEEL, BACKEND = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
NAME, NEEDS = {"cuda": ("relayout_cuda", r"a driver for CUDA \d+ \(release \d+\) or newer and a GPU that runs code for sm_\d+"),
               "hip": ("relayout_rocm", r"the driver amdgpu, .* and a GPU that runs code for gfx\d+")}[BACKEND]
PROGRAM = """
import array, sys, relayout
class Memory:  # a tensor for which no framework is needed
    values = array.array("f", [1, 2, 3])
    __cuda_array_interface__ = {"data": (values.buffer_info()[0], False), "shape": (3,), "typestr": "<f4", "version": 3}
print(relayout.built_with())
tensor = Memory()
if relayout.gpu_count() == 0:
    try:
        relayout.add(tensor, 1, out=tensor)
    except relayout.Error as error:
        print(error.code, error)
try:
    import numpy
except ImportError:
    sys.exit()
x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
assert (relayout.transpose(x) == x.T).all() and (relayout.add(x, 1) == x + 1).all()
half = x.astype(numpy.float16)
assert (relayout.gemm(half, half, dtype="f32") == x @ x.T).all()
print("the processor works")
"""


class GpuWheel(unittest.TestCase):
    def test_it_loads_without_a_gpu(self):
        self.assertRegex(WHEEL.name, rf"^{NAME}-[\d.]+-cp39-abi3-linux_\w+\.whl$")
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(WHEEL) as archive:
                archive.extractall(folder)
            library = pathlib.Path(folder, "relayout", "librelayout.so.1")
            print(f"{WHEEL.name}: {WHEEL.stat().st_size >> 20} MiB, unpacked {library.stat().st_size >> 20} MiB")
            dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
            self.assertNotRegex(dynamic, r"NEEDED.*lib(cublas|hipblas|cudart|cuda)\b")
            for path in re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", dynamic):
                for entry in path.split(":"):
                    self.assertTrue(entry.startswith("$ORIGIN"), path)
            run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd="/",
                                 env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(run.returncode, 0, run.stderr)
            print(run.stdout)
            self.assertIn(f"'{BACKEND}'", run.stdout)
            if "no_device" in run.stdout:
                self.assertRegex(run.stdout, f"no_device there is no GPU 0: the {BACKEND} back end sees 0; relayout needs {NEEDS}")
            else:
                self.assertNotIn("not_built", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
