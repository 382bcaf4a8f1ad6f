#!/usr/bin/env python3
"""A wheel for a GPU on a machine without one: its name, what it must be linked with, that the CPU works, and what is said of
a GPU. Needs nothing but Python and readelf.

    gpu_wheel_test.py WHEEL                           one that was made
    RELAYOUT_BACKEND=cuda gpu_wheel_test.py FOLDER    makes it there first, as bindings/python/build_backend.py says
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

BACKENDS = {"relayout_cuda": ("cuda", r"a driver for CUDA \d+ \(release \d+\) or newer and a GPU that runs code for sm_\d+"),
            "relayout_rocm": ("hip", r"the driver amdgpu, .* and a GPU that runs code for gfx\d+")}
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


def given_wheel():
    path = pathlib.Path(sys.argv[1]).resolve()
    if path.suffix == ".whl":
        return path
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"))
    import build_backend
    path.mkdir(parents=True, exist_ok=True)
    return path / build_backend.build_wheel(path)


class GpuWheel(unittest.TestCase):
    def test_it_loads_without_a_gpu(self):
        wheel = given_wheel()
        name = wheel.name.partition("-")[0]
        self.assertRegex(wheel.name, r"^relayout_(cuda|rocm)-[\d.]+-cp39-abi3-linux_\w+\.whl$")
        backend, needs = BACKENDS[name]
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
            library = pathlib.Path(folder, "relayout", "librelayout.so.1")
            print(f"{wheel.name}: {wheel.stat().st_size >> 20} MiB, unpacked {library.stat().st_size >> 20} MiB")
            dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
            self.assertNotRegex(dynamic, r"NEEDED.*lib(cublas|hipblas|cudart|cuda)\b")
            for path in re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", dynamic):
                for entry in path.split(":"):
                    self.assertTrue(entry.startswith("$ORIGIN"), path)
            run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd="/",
                                 env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(run.returncode, 0, run.stderr)
            print(run.stdout)
            self.assertIn(f"'{backend}'", run.stdout)
            if "no_device" in run.stdout:
                self.assertRegex(run.stdout, f"no_device there is no GPU 0: the {backend} back end sees 0; relayout needs {needs}")
            else:
                self.assertNotIn("not_built", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
