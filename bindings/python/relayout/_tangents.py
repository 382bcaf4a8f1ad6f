"""Forward-mode derivatives, which relayout does not have: the tangent of a tensor would be lost without a word, as if it were
zero, so such a tensor is refused."""
import functools

import torch
from torch.autograd import forward_ad

import relayout


def _check(arguments):
    for argument in arguments:
        if isinstance(argument, (list, tuple)):
            _check(argument)
        elif isinstance(argument, torch.Tensor) and forward_ad.unpack_dual(argument).tangent is not None:
            raise relayout.Error("a tensor has a tangent, and relayout has no forward-mode derivatives: pass "
                                 "torch.autograd.forward_ad.unpack_dual(x).primal", "unsupported")


def without_tangents(function):
    """The function, which refuses tensors that have a tangent. There are none outside forward_ad.dual_level(), which is found
    at once."""
    @functools.wraps(function)
    def checked(*arguments, **options):
        if forward_ad._current_level >= 0:
            _check((*arguments, *options.values()))
        return function(*arguments, **options)
    return checked
