"""Packages under other packages' names that are made of relayout.

    python -m relayout.compat causal_conv1d                 into this Python's site-packages
    python -m relayout.compat causal_conv1d --target DIR    into another folder, for PYTHONPATH
    python -m relayout.compat causal_conv1d --uninstall

causal_conv1d: the modules and the metadata of version 1.6.1, so that mamba_ssm, transformers and others import it, and find
its version, unchanged. `pip uninstall causal-conv1d` removes it, too. A causal_conv1d that is not of relayout is left alone,
and nothing is written; exit status 1.
"""
import argparse
import base64
import hashlib
import pathlib
import shutil
import sys
import sysconfig

_HEADER = '"""Made by `python -m relayout.compat causal_conv1d`: causal_conv1d\'s interface, on relayout."""\n'
_VERSION = "1.6.1"
_FOLDER, _INFO = "causal_conv1d", f"causal_conv1d-{_VERSION}.dist-info"

_FILES = {
    f"{_FOLDER}/__init__.py": f"""{_HEADER}from relayout.causal_conv1d import causal_conv1d_fn, causal_conv1d_update

__version__ = "{_VERSION}"
""",
    f"{_FOLDER}/causal_conv1d_interface.py": f"""{_HEADER}from relayout.causal_conv1d import (causal_conv1d_fn, \
causal_conv1d_ref, causal_conv1d_update,
                                    causal_conv1d_update_ref)
""",
    f"{_FOLDER}/causal_conv1d_varlen.py": f"""{_HEADER}from relayout.causal_conv1d import causal_conv1d_varlen_states, \
causal_conv1d_varlen_states_ref
""",
    f"{_FOLDER}/cpp_functions.py": _HEADER + '''import torch
from relayout.causal_conv1d import backward_into, forward_into, update_into


def causal_conv1d_fwd_function(x, weight, bias, seq_idx, initial_states, final_states_out, silu_activation):
    out = torch.empty_like(x)
    forward_into(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu_activation)
    return out


def causal_conv1d_bwd_function(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, return_dinitial_states,
                               silu_activation):
    """dx, dweight, dbias, dinitial_states; what is not there is None."""
    dx = torch.empty_like(x) if dx is None else dx
    dweight = torch.empty_like(weight)
    dbias = None if bias is None else torch.empty_like(bias)
    dinitial_states = torch.empty_like(initial_states) if return_dinitial_states else None
    backward_into(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states,
                  silu_activation)
    return dx, dweight, dbias, dinitial_states


def causal_conv1d_update_function(x, conv_state, weight, bias, silu_activation, cache_seqlens, conv_state_indices):
    out = torch.empty_like(x)
    update_into(x, conv_state, weight, bias, out, silu_activation, cache_seqlens, conv_state_indices)
    return out
''',
    "causal_conv1d_cuda.py": f"""{_HEADER}from relayout.causal_conv1d import backward_into as causal_conv1d_bwd
from relayout.causal_conv1d import forward_into as causal_conv1d_fwd
from relayout.causal_conv1d import update_into as causal_conv1d_update
""",
    f"{_INFO}/METADATA": f"""Metadata-Version: 2.1
Name: causal-conv1d
Version: {_VERSION}
Summary: causal_conv1d's interface, on relayout
""",
    f"{_INFO}/INSTALLER": "relayout\n",
}


def _record():
    """The file by which pip uninstalls."""
    lines = []
    for name, text in _FILES.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(text.encode())}\n")
    return "".join(lines) + f"{_INFO}/RECORD,,\n"


def _others(target):
    """A causal_conv1d in the folder that relayout did not make; None."""
    places = [(target / _FOLDER, "__init__.py")]
    places += [(info, "INSTALLER") for info in target.glob("causal_conv1d-*.dist-info")]
    places += [(module, "") for module in target.glob("causal_conv1d_cuda*")]
    for found, marked in places:
        file = found / marked
        if found.exists() and not (file.is_file() and b"relayout" in file.read_bytes()):
            return found
    return None


def uninstall(target):
    """Removes what install() made."""
    for name in (_FOLDER, _INFO):
        shutil.rmtree(target / name, ignore_errors=True)
    (target / "causal_conv1d_cuda.py").unlink(missing_ok=True)


def install(target):
    """Writes the package causal_conv1d into the folder."""
    uninstall(target)
    for name, text in {**_FILES, f"{_INFO}/RECORD": _record()}.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m relayout.compat", description=__doc__.partition("\n")[0])
    parser.add_argument("package", choices=["causal_conv1d"])
    parser.add_argument("--target", type=pathlib.Path, default=pathlib.Path(sysconfig.get_path("purelib")),
                        help="the folder, instead of this Python's site-packages")
    parser.add_argument("--uninstall", action="store_true", help="remove what was installed so")
    options = parser.parse_args(arguments)
    other = _others(options.target)
    if other is not None:
        print(f"{other} is not relayout's: uninstall causal-conv1d first", file=sys.stderr)
        return 1
    (uninstall if options.uninstall else install)(options.target)
    print(f"causal_conv1d {_VERSION} {'removed from' if options.uninstall else 'written to'} {options.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
