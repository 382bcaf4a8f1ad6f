#!/usr/bin/env python3
"""Host time of a call from Python: tensors of 4 elements, so that next to nothing but the call itself is timed.
With torch on a GPU only the queueing is timed: 200 calls, which its queue holds, after it has been waited for.

    PYTHONPATH=build/cpu/bindings/python bench/python_calls.py [ROUNDS]

Prints microseconds for one call: the fastest of ROUNDS rounds (50) of 2000 calls each; 200 on a GPU.
"""
import sys
import timeit

import numpy as np

import relayout

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
CALLS = 2000


def measure(call, calls=CALLS, before="pass"):
    return min(timeit.repeat(call, before, number=calls, repeat=ROUNDS)) / calls * 1e6


def rows(kind, a, b, out, add):
    plan, making = relayout.plan_add(a, b, out=out), relayout.plan_add(a, b)
    yield f"{kind}'s own add, out given", lambda: add(a, b, out=out)
    yield f"{kind}'s own add", lambda: add(a, b)
    yield "plan.run()", plan.run
    yield "plan.run(a, b, out=out)", lambda: plan.run(a, b, out=out)
    yield "plan.run(a, b), a new output", lambda: making.run(a, b)
    yield "relayout.add(a, b, out=out)", lambda: relayout.add(a, b, out=out)
    yield "relayout.add(a, b), a new output", lambda: relayout.add(a, b)


def new_plan(a, out):
    def call():
        relayout.cache_clear()
        relayout.add(a, a, out=out)
    return call


def main():
    a, b, out = (np.ones(4, np.float32) for _ in range(3))
    for name, call in (*rows("numpy", a, b, out, np.add), ("the same, planned anew each time", new_plan(a, out))):
        print(f"numpy  {name:36} {measure(call):6.2f} us", flush=True)
    try:
        import torch
    except ImportError:
        return
    for name, call in rows("torch", *(torch.ones(4) for _ in range(3)), torch.add):
        print(f"torch  {name:36} {measure(call):6.2f} us", flush=True)
    if not torch.cuda.is_available():
        return
    a, b, out = (torch.ones(4, device="cuda") for _ in range(3))
    for name, call in (*rows("torch", a, b, out, torch.add), ("the same, planned anew each time", new_plan(a, out))):
        print(f"cuda   {name:36} {measure(call, 200, torch.cuda.synchronize):6.2f} us", flush=True)


if __name__ == "__main__":
    main()
