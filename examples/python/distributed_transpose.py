#!/usr/bin/env python3
"""A matrix whose rows are distributed over several GPUs, and its transpose, distributed likewise, rounded to f16 on the way:
one redistribution instead of permute, all-to-all and permute.

    torchrun --nproc-per-node 2 examples/python/distributed_transpose.py    # a process for each GPU, over NCCL or RCCL
    python3 examples/python/distributed_transpose.py                        # alone: four ranks on the processor

Every rank checks its part; an element that is wrong ends the program with 1."""
import os
import sys

import numpy as np

import relayout


def matrix(rows, columns, index):
    """The part of the global matrix with this index: whole numbers below 256, which f16 holds exactly."""
    return np.fromfunction(lambda i, j: (i * 31 + j * 7) % 256, (rows, columns), dtype=np.float32)[index]


def alone(rows=301, columns=190):
    group = relayout.Group.emulated(4)
    before = relayout.Distribution.split((rows, columns), 0, group.ranks)
    after = relayout.Distribution.split((columns, rows), 0, group.ranks)
    parts = [matrix(rows, columns, before.slices(rank)) for rank in group.local_ranks]
    plan = relayout.plan_redistribute(group, parts, before, after, (1, 0), dtype="f16")
    print(plan.explain(), end="")
    turned = plan.run()
    group.synchronize()
    whole = matrix(rows, columns, ...).T
    return all(np.array_equal(part, whole[after.slices(rank)]) for rank, part in zip(group.local_ranks, turned))


def one_of_many():
    import torch
    import torch.distributed as dist
    has_gpu = torch.cuda.is_available()
    if has_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if has_gpu else "gloo")
    group = relayout.Group.from_torch()
    rank = dist.get_rank()
    rows, columns = (8192, 12288) if has_gpu else (301, 190)
    before = relayout.Distribution.split((rows, columns), 0, group.ranks)
    after = relayout.Distribution.split((columns, rows), 0, group.ranks)
    part = torch.from_numpy(matrix(rows, columns, before.slices(rank)).copy())
    plan = relayout.plan_redistribute(group, part.cuda() if has_gpu else part, before, after, (1, 0), dtype=torch.float16)
    if rank == 0:
        print(plan.explain(), end="")
    turned = plan.run()  # on the stream that was torch's current one
    is_right = np.array_equal(turned.cpu().numpy(), matrix(rows, columns, ...).T[after.slices(rank)])
    group.close()
    dist.destroy_process_group()
    return is_right


if __name__ == "__main__":
    right = one_of_many() if "RANK" in os.environ else alone()
    print("every element is right" if right else "elements are wrong")
    sys.exit(0 if right else 1)
