"""The tests with failing allocations name every function of the public headers that may allocate.

Run as: python3 allocation_list_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# What these do is done by a function that is named, or needs a GPU or NCCL, or allocates nothing.
LEFT_OUT = {"check_tile", "__attribute__", "operation", "stream_from_native", "group_from_nccl", "device_gpu", "device_emulated", "run", "explain"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def functions_in(header, pattern):
    """Names of the functions that may throw, or that have a status."""
    found = re.findall(pattern, without_comments(header), re.S)
    return {name for name, rest in found if "noexcept" not in rest} - LEFT_OUT


def main():
    source = pathlib.Path(sys.argv[1])
    missing = []

    def check(test, functions):
        text = (source / "tests" / test).read_text(encoding="utf-8")
        missing.extend(f"{test} does not call {name}" for name in sorted(functions)
                       if not re.search(rf"\b(relayout_)?{name}\b", text))
        return len(functions)

    headers = "".join(path.read_text(encoding="utf-8") for path in sorted((source / "host/include/relayout").glob("*.hpp")))
    count = check("allocation_failure_test.cpp", functions_in(headers, r"\bRELAYOUT_API\s+(?!class|struct)[^;{}()]*?(\w+)(\([^;{]*)[;{]"))
    c_header = (source / "bindings/c/relayout.h").read_text(encoding="utf-8")
    c_functions = functions_in(c_header, r"\bRELAYOUT_C_API\s+relayout_status\s+relayout_(\w+)(\([^;]*);")
    count += check("c/allocations_test.cpp", {name for name in c_functions if not name.endswith("_init")})
    if missing or count < 100:
        sys.exit("\n".join(missing) or f"only {count} functions were found")


if __name__ == "__main__":
    main()
