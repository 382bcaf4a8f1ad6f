"""What relayout.torch and relayout.jax have in common: how arguments are read, and a function for each operation."""
from relayout import _ALIASES, _OPERATIONS, Error


def counted_axes(axes, rank):
    """A permutation's axes, counted from the first."""
    counted = [axis + rank if axis < 0 else axis for axis in axes]
    if sorted(counted) != list(range(rank)):
        raise Error(f"axes are {list(axes)}, no permutation of the {rank} axes of x")
    return counted


def pair(pad_width):
    left, right = pad_width if isinstance(pad_width, (tuple, list)) else (pad_width, pad_width)
    return left, right


def names_and_places(steps):
    """The operations of a chain's steps, and for each the place among its operands of what the one before gave."""
    named = [(step, 0) if isinstance(step, str) else tuple(step) for step in steps]
    names = [_ALIASES.get(name, name) for name, _ in named]
    for name in names:
        if name not in _OPERATIONS:
            raise Error(f"relayout has no operation {name!r}")
    return names, [place for _, place in named]


def _function(chain, module, name, count):
    if count == 1:
        def run(a, /, *, dtype=None):
            return chain((name,), a, dtype=dtype)
    elif count == 2:
        def run(a, b, /, *, dtype=None):
            return chain((name,), a, b, dtype=dtype)
    else:
        def run(a, b, c, /, *, dtype=None):
            return chain((name,), a, b, c, dtype=dtype)
    run.__name__ = run.__qualname__ = name
    run.__module__ = module
    run.__doc__ = f"The operation {name}, element by element, with broadcasting; numbers are constants."
    return run


def functions(chain, module):
    """A module's functions for all operations, by its chain(), under the library's names and numpy's."""
    made = {name: _function(chain, module, name, count) for name, (_, count) in _OPERATIONS.items()}
    made.update({alias: made[name] for alias, name in {**_ALIASES, "leaky_relu": "prelu"}.items()})
    return made
