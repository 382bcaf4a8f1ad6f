"""Names of kernels as the source has them."""
import subprocess


def demangle(names):
    """{name in an object file: name in the source}; the same name where there is no c++filt."""
    try:
        result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
        return dict(zip(names, result.stdout.splitlines()))
    except OSError:
        return {name: name for name in names}
