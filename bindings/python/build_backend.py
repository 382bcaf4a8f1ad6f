"""Makes the wheel with CMake (PEP 517), without anything from Python's package index.

    pip wheel bindings/python

Variables of the environment: RELAYOUT_BACKEND is cpu (default), cuda or hip, and the wheel's name says which.
RELAYOUT_CMAKE_ARGUMENTS are further arguments for CMake. RELAYOUT_BUILD_FOLDER is a build tree with
RELAYOUT_PYTHON_PACKAGE=ON, which is used as it is; without it build/python-BACKEND of the checkout is made.
"""
import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
NAMES = {"cpu": "relayout", "cuda": "relayout_cuda", "hip": "relayout_rocm"}
LEAST_PYTHON = "3.9"
# OpenBLAS would be a library that the wheel's users must have, so relayout's own GEMM is taken.
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DRELAYOUT_C=ON", "-DRELAYOUT_PYTHON_PACKAGE=ON", "-DRELAYOUT_EMULATOR=OFF",
           "-DRELAYOUT_BUILD_TESTS=OFF", "-DRELAYOUT_BUILD_EXAMPLES=OFF", "-DRELAYOUT_OPENBLAS_LIBRARY=OFF",
           "-DRELAYOUT_OPEN_BLAS=ON"]
# CUDA: machine code for compute capabilities 8 and 9, and PTX of 9.0, which drivers compile for newer ones.
BACKEND_OPTIONS = {"cpu": [], "cuda": ["-DRELAYOUT_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=80-real;90"],
                   "hip": ["-DRELAYOUT_HIP=ON"]}


def _backend():
    backend = os.environ.get("RELAYOUT_BACKEND", "cpu")
    if backend not in NAMES:
        sys.exit(f"RELAYOUT_BACKEND is '{backend}', and must be one of {', '.join(NAMES)}")
    return backend


def _version():
    return re.search(r"^project\(relayout VERSION ([\d.]+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def _run(*command):
    # pip shows what goes to stdout only when it is asked to, and errors always.
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)


def _jax_headers():
    """The folder of the headers that jax brings along, for relayout.jax; OFF where this Python has no jax."""
    try:
        import jax.ffi
        return jax.ffi.include_dir()
    except (ImportError, AttributeError):
        return "OFF"


def _is_foreign(folder, generator):
    """Whether the build tree is there, but of a checkout in another place, or for another generator."""
    cache = folder / "CMakeCache.txt"
    ours = {f"CMAKE_HOME_DIRECTORY:INTERNAL={PROJECT}", f"CMAKE_GENERATOR:INTERNAL={generator}"}
    return cache.exists() and not ours <= set(cache.read_text().splitlines())


def _build():
    """The folder `relayout` with everything that belongs into the wheel."""
    folder = os.environ.get("RELAYOUT_BUILD_FOLDER")
    if folder is None:
        folder = PROJECT / "build" / f"python-{_backend()}"
        generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
        fresh = ["--fresh"] if _is_foreign(folder, generator) else []
        _run("cmake", "-S", PROJECT, "-B", folder, "-G", generator, *fresh, *OPTIONS, *BACKEND_OPTIONS[_backend()],
             f"-DRELAYOUT_PYTHON_INCLUDE={sysconfig.get_path('include')}", f"-DRELAYOUT_JAX_INCLUDE={_jax_headers()}",
             *shlex.split(os.environ.get("RELAYOUT_CMAKE_ARGUMENTS", "")))
    package = pathlib.Path(folder) / "bindings" / "python" / "relayout"
    shutil.rmtree(package, ignore_errors=True)  # files of an earlier build would travel in the wheel
    _run("cmake", "--build", folder, "--target", "relayout_python_package", "--parallel", os.cpu_count() or 1)
    return package


def _check_python():
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("relayout has no wheel for Pythons without a global lock (free-threaded ones): use one that has it")


def _tag():
    return f"cp{LEAST_PYTHON.replace('.', '')}-abi3-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"


def _information():
    """The files of the wheel's .dist-info but RECORD, by name."""
    metadata = f"""Metadata-Version: 2.1
Name: {NAMES[_backend()].replace('_', '-')}
Version: {_version()}
Summary: Tensors from one memory layout to another at close to the speed of a plain copy
License: Apache-2.0
Requires-Python: >={LEAST_PYTHON}
"""
    wheel = f"Wheel-Version: 1.0\nGenerator: relayout build_backend\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    entry_points = "[vllm.general_plugins]\nrelayout = relayout.vllm:plugin\n"
    return {"METADATA": metadata.encode(), "WHEEL": wheel.encode(), "entry_points.txt": entry_points.encode(),
            "LICENSE": (PROJECT / "LICENSE").read_bytes()}


def _information_folder():
    return f"{NAMES[_backend()]}-{_version()}.dist-info"


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _check_python()
    folder = pathlib.Path(metadata_directory) / _information_folder()
    folder.mkdir()
    for name, content in _information().items():
        (folder / name).write_bytes(content)
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _check_python()
    package = _build()
    files = {f"relayout/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files.update({f"{_information_folder()}/{name}": content for name, content in _information().items()})
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{_information_folder()}/RECORD"] = f"{record}{_information_folder()}/RECORD,,\n".encode()
    wheel = f"{NAMES[_backend()]}-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: equal contents give equal wheels
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            archive.writestr(entry, content)
    return wheel


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    sys.exit("relayout has no source distribution: the package is built from a checkout of the whole project")
