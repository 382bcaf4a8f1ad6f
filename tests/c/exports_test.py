"""The shared library shows the functions of relayout.h and nothing else, and its SONAME has the header's ABI version.

    exports_test.py relayout.h librelayout.so nm readelf
"""
import pathlib
import re
import subprocess
import sys

header, library, nm, readelf = sys.argv[1:]
text = pathlib.Path(header).read_text(encoding="utf-8")
declared = set(re.findall(r"RELAYOUT_C_API[^;(]*?\b(relayout_\w+)\(", text))
symbols = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
shown = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " A " not in line}
abi = re.search(r"#define RELAYOUT_ABI_VERSION (\d+)", text)[1]
dynamic = subprocess.run([readelf, "-d", library], check=True, capture_output=True, text=True).stdout
soname = re.search(r"SONAME.*\[(.*)\]", dynamic)[1]

failures = [f"declared, but not in the library: {name}" for name in sorted(declared - shown)]
failures += [f"in the library, but not declared: {name}" for name in sorted(shown - declared)]
if len(declared) < 50:
    failures.append(f"only {len(declared)} functions were found in {header}")
if soname != f"librelayout.so.{abi}":
    failures.append(f"the SONAME is {soname}, and the header's ABI version {abi}")
print("\n".join(failures) or f"{len(declared)} functions, {soname}")
sys.exit(bool(failures))
