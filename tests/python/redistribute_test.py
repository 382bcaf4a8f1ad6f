#!/usr/bin/env python3
"""Redistributions in Python: emulated ranks of numpy's arrays, and processes of torch.distributed over a library in the place
of NCCL (RELAYOUT_FILE_NCCL), where there is a torch."""
import gc
import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import relayout

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def cut(distribution, whole):
    return [whole[distribution.slices(rank)] for rank in range(distribution.ranks)]


class Distributions(unittest.TestCase):
    def test_boxes(self):
        rows = relayout.Distribution.split((7, 5), 0, 3)
        self.assertEqual((rows.shape, rows.ranks), ((7, 5), 3))
        self.assertEqual(rows.box(1), ((3, 0), (6, 5)))
        self.assertEqual([rows.local_shape(rank) for rank in range(3)], [(3, 5), (3, 5), (1, 5)])
        self.assertEqual(rows.slices(2), (slice(6, 7), slice(0, 5)))
        self.assertEqual(relayout.Distribution.split((7, 5), -1, 2).local_shape(1), (7, 2))
        self.assertEqual(relayout.Distribution.replicated([4], 2).box(1), ((0,), (4,)))
        uneven = relayout.Distribution((4,), [((0,), (1,)), ([1], [1]), ((1,), (4,))])
        self.assertEqual([uneven.local_shape(rank) for rank in range(3)], [(1,), (0,), (3,)])
        self.assertIn("(4,)", repr(uneven))
        for code, make in (("shape", lambda: relayout.Distribution((4,), [((0,), (3,))])),
                           ("rank", lambda: relayout.Distribution((4,), [((0, 0), (4, 1))])),
                           ("invalid_argument", lambda: relayout.Distribution.split((4,), 1, 2)),
                           ("invalid_argument", lambda: relayout.Distribution.replicated((4,), 0)),
                           ("invalid_argument", lambda: rows.box(3))):
            with self.assertRaises(relayout.Error) as caught:
                make()
            self.assertEqual(caught.exception.code, code)


class Redistributions(unittest.TestCase):
    def test_random_ones(self):
        draw = random.Random(7)
        for _ in range(60):
            ranks, axes = draw.randint(1, 6), draw.randint(1, 4)
            shape = [draw.randint(1, 9) for _ in range(axes)]
            order = draw.sample(range(axes), axes)
            before = relayout.Distribution.split(shape, draw.randrange(axes), ranks)
            turned = [shape[axis] for axis in order]
            after = draw.choice([relayout.Distribution.split(turned, draw.randrange(axes), ranks),
                                 relayout.Distribution.replicated(turned, ranks)])
            whole = np.arange(np.prod(shape)).reshape(shape).astype(draw.choice(["f4", "f2", "i4", "u1"]))
            group = relayout.Group.emulated(ranks)
            parts = [part if draw.random() < 0.5 else np.asfortranarray(part) for part in cut(before, whole)]
            with self.subTest(shape=shape, order=order, ranks=ranks):
                out = relayout.redistribute(group, parts, before, after, order)
                group.synchronize()
                for ours, theirs in zip(out, cut(after, whole.transpose(order))):
                    self.assertEqual(ours.dtype, whole.dtype)
                    np.testing.assert_array_equal(ours, theirs)

    def setUp(self):
        self.group = relayout.Group.emulated(3)
        self.rows, self.columns = (relayout.Distribution.split(shape, 0, 3) for shape in ((7, 5), (5, 7)))
        self.whole = np.arange(35, dtype=np.float32).reshape(7, 5)
        self.parts = cut(self.rows, self.whole)

    def same(self, out, whole):
        self.group.synchronize()
        for ours, theirs in zip(out, cut(self.columns, whole)):
            np.testing.assert_array_equal(ours, theirs)

    def test_routes_casts_and_plans(self):
        self.assertEqual((self.group.ranks, self.group.local_ranks), (3, (0, 1, 2)))
        for route in ("direct", "staged", "joined"):
            plan = relayout.plan_redistribute(self.group, self.parts, self.rows, self.columns, (1, 0), dtype="f16", route=route)
            self.assertIn(f"Route: {route}", plan.explain())
            self.assertEqual(plan.workspace_bytes(0) > 0, route != "direct")
            first = plan.run()
            self.assertEqual(first[0].dtype, np.float16)
            self.same(first, self.whole.T)
            second = plan.run(cut(self.rows, self.whole + 1))
            self.assertIsNot(second[0], first[0])
            self.same(second, self.whole.T + 1)
            self.same(first, self.whole.T)
            given = [np.zeros_like(part) for part in first]
            self.assertIs(plan.run(out=given)[1], given[1])
            self.same(given, self.whole.T)
        out = [np.zeros(self.columns.local_shape(rank), np.float32) for rank in range(3)]
        self.assertIs(relayout.redistribute(self.group, self.parts, self.rows, self.columns, (-1, 0), out=out)[2], out[2])
        self.same(out, self.whole.T)

    def test_one_rank(self):
        group = relayout.Group.emulated(1)
        all_of = relayout.Distribution.replicated
        out = relayout.redistribute(group, self.whole, all_of((7, 5), 1), all_of((5, 7), 1), (1, 0))
        self.assertIsInstance(out, np.ndarray)
        np.testing.assert_array_equal(out, self.whole.T)

    def test_types_that_are_only_moved(self):
        whole = self.whole.astype(np.complex64)
        self.same(relayout.redistribute(self.group, cut(self.rows, whole), self.rows, self.columns, (1, 0)), whole.T)

    def test_errors(self):
        def refused(code, words, **changed):
            given = {"x": self.parts, "axes": (1, 0), **changed}
            x, axes = given.pop("x"), given.pop("axes")
            with self.assertRaisesRegex(relayout.Error, words) as caught:
                relayout.redistribute(self.group, x, self.rows, self.columns, axes, **given)
            self.assertEqual(caught.exception.code, code)

        refused("invalid_argument", "x has 2 tensors, and this process has 3", x=self.parts[:2])
        refused("shape", r"input of rank 2 is", x=[self.parts[0]] * 3)
        refused("shape", "global shape", axes=(0, 1))
        refused("invalid_argument", "route must be", route="fast")
        refused("invalid_argument", "staged: it needs", route="staged", workspace_limit=8)
        frozen = [np.zeros(self.columns.local_shape(rank), np.float32) for rank in range(3)]
        frozen[1].flags.writeable = False
        refused("invalid_argument", "read-only", out=frozen)
        with self.assertRaisesRegex(TypeError, "no option 'speed'"):
            relayout.redistribute(self.group, self.parts, self.rows, self.columns, (1, 0), speed=1)
        with self.assertRaises(TypeError):
            relayout.RedistributePlan()
        plan = relayout.plan_redistribute(self.group, self.parts, self.rows, self.columns, (1, 0))
        with self.assertRaisesRegex(relayout.Error, "was planned as f32"):
            plan.run([part.astype(np.float64) for part in self.parts])
        with self.assertRaisesRegex(relayout.Error, "more than 0 s"):
            self.group.set_time_limit(0)
        self.group.set_time_limit(60)
        with self.assertRaisesRegex(relayout.Error, "for GPUs"):
            relayout.Group.from_nccl(1, (-1, 0))
        with self.assertRaises(relayout.Error):
            relayout.Group.emulated(0)

    def test_workspaces_outlive_their_plans(self):
        """The work that was queued may use them still; the group's next plan has them, in the order of its streams."""
        def plan():
            return relayout.plan_redistribute(self.group, self.parts, self.rows, self.columns, (1, 0), route="staged")

        first = plan()
        kept = {id(workspace) for workspace in first._workspaces}
        self.same(first.run(), self.whole.T)
        self.assertEqual((len(first._workspaces), len(self.group._workspaces)), (3, 0))
        del first
        self.assertEqual(len(self.group._workspaces), 3)
        first, second = plan(), plan()
        self.assertEqual({id(workspace) for workspace in first._workspaces}, kept)
        self.assertFalse({id(workspace) for workspace in second._workspaces} & kept)
        self.same(second.run(), self.whole.T)
        del second
        self.group.synchronize()
        self.assertEqual(len(self.group._workspaces), 0)
        del first
        for _ in range(10):
            plan().run()
        self.assertEqual(len(self.group._workspaces), 3)

    def test_references(self):
        def work():
            plan = relayout.plan_redistribute(self.group, self.parts, self.rows, self.columns, (1, 0), route="staged")
            plan.run()
            plan.run(self.parts)
            relayout.Group([(-1, 0), (-1, 0)]).synchronize()
            try:
                plan.run(self.parts[:1])
            except relayout.Error:
                pass

        for _ in range(20):
            work()
        gc.collect()
        before, counts = sys.getallocatedblocks(), sys.getrefcount(self.parts[0])
        for _ in range(200):
            work()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - before, 100)
        self.assertEqual(sys.getrefcount(self.parts[0]), counts)


@unittest.skipUnless("RELAYOUT_FILE_NCCL" in os.environ, "there is no library in the place of NCCL")
class OneProcess(unittest.TestCase):
    """A communicator of one rank, made by hand, which needs no torch."""

    def test_closed(self):
        import ctypes
        from unittest import mock
        name = os.environ["RELAYOUT_FILE_NCCL"]
        library = ctypes.CDLL(name)
        unique_id, communicator = (ctypes.c_char * 128)(), ctypes.c_void_p()

        class UniqueId(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_char * 128)]

        library.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, TMPDIR=folder, RELAYOUT_NCCL_LIBRARY=name):
                self.assertEqual(library.ncclGetUniqueId(unique_id), 0)
                made = library.ncclCommInitRank(ctypes.byref(communicator), 1, UniqueId.from_buffer(unique_id), 0)
                self.assertEqual(made, 0)
                group = relayout.Group.from_nccl(communicator.value, (-1, 0))
            whole = np.arange(35, dtype="f4").reshape(7, 5)
            out = np.zeros((5, 7), "f4")
            group.register_output(out)
            before, after = (relayout.Distribution.replicated(shape, 1) for shape in ((7, 5), (5, 7)))
            plan = relayout.plan_redistribute(group, whole, before, after, (1, 0), out=out)
            plan.run()
            self.assertTrue(np.array_equal(out, whole.T))
            group.close()
            group.close()
            self.assertEqual(library.ncclCommDestroy(communicator), 0)
            for late in (plan.run, group.synchronize):
                with self.assertRaisesRegex(relayout.Error, "the group was closed") as caught:
                    late()
                self.assertEqual(caught.exception.code, "invalid_argument")


def worker(case):
    """One of the processes of the test below."""
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = relayout.Group.from_torch()
    assert (group.ranks, group.local_ranks) == (ranks, (rank,))
    whole = torch.arange(29 * 41, dtype=torch.float32).reshape(29, 41) % 251
    before, after = (relayout.Distribution.split(shape, 0, ranks) for shape in ((29, 41), (41, 29)))
    part = whole[before.slices(rank)].clone()
    if case == "transpose":
        plan = relayout.plan_redistribute(group, part, before, after, (1, 0), dtype=torch.bfloat16)
        for _ in range(3):
            assert torch.equal(plan.run(), whole.T[after.slices(rank)].to(torch.bfloat16))
        out = torch.zeros(after.local_shape(rank))
        group.register_output(out)
        plan = relayout.plan_redistribute(group, part, before, after, (1, 0), out=out)
        assert "not reached: processors do not map memory of other processes" in plan.explain(), plan.explain()
        assert torch.equal(plan.run(), whole.T[after.slices(rank)])
        everything = relayout.Distribution.replicated((29, 41), ranks)
        assert torch.equal(relayout.redistribute(group, part, before, everything), whole)
        group.close()
        for late in (plan.run, group.synchronize):  # the communicator is gone
            try:
                late()
                raise AssertionError("it ran")
            except relayout.Error as error:
                assert error.code == "invalid_argument" and "the group was closed" in str(error), error
    elif case == "gpu":  # two processes on one GPU: NCCL refuses that, and the library in its place does not
        from_gpu = part.cuda()
        for dtype, out in ((torch.float32, None), (torch.float32, torch.zeros(after.local_shape(rank), device="cuda")),
                           (torch.bfloat16, torch.zeros(after.local_shape(rank), dtype=torch.bfloat16, device="cuda"))):
            if out is not None:
                group.register_output(out)
            plan = relayout.plan_redistribute(group, from_gpu, before, after, (1, 0), dtype=dtype, out=out,
                                              route=None if out is None else "direct")
            assert ("Route: direct" in plan.explain()) == (out is not None), plan.explain()
            for turn in range(20):
                from_gpu.copy_((part + turn) % 251)  # on the stream that the group works on
                turned = plan.run()
                assert torch.equal(turned.cpu(), ((whole.T[after.slices(rank)] + turn) % 251).to(dtype))
                turned.zero_()  # before the other rank's next run may write
    elif case == "other":  # one that cannot plan: every rank has an error, and none waits
        try:
            relayout.plan_redistribute(group, "no tensor" if rank == 1 else part, before, after, (1, 0),
                                       out=torch.zeros(after.local_shape(rank)))
            raise AssertionError("it was planned")
        except (relayout.Error, TypeError) as error:
            assert isinstance(error, TypeError) if rank == 1 else "rank 1 could not plan" in str(error), error
    elif rank > 0:  # one that never comes
        group.set_time_limit(0.01)
        for words in ("in vain", "an earlier call"):
            try:
                relayout.redistribute(group, part, before, after, (1, 0))
                raise AssertionError("it ran")
            except relayout.Error as error:
                assert error.code == "timeout" and words in str(error), error
        group.abort()
    if case != "late":
        group.close()
    dist.barrier()


def gpu_worker(case):
    """A process with a GPU of its own, over the vendor's library."""
    import torch
    import torch.distributed as dist
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl")
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    shape, turned = (1031, 517, 18), (517, 18, 1031)
    whole = torch.arange(1031 * 517 * 18, dtype=torch.float32, device="cuda").reshape(shape) % 2039
    before, after = relayout.Distribution.split(shape, 0, ranks), relayout.Distribution.split(turned, 0, ranks)
    part, wanted = whole[before.slices(rank)].clone(), whole.permute(1, 2, 0)[after.slices(rank)]
    for route, registers in (("direct", True), ("staged", False), ("staged", True), ("joined", True)):
        group = relayout.Group.from_torch()
        out = torch.zeros(after.local_shape(rank), device="cuda")
        if registers:
            group.register_output(out)
            group.register_workspace(torch.empty(4 * part.nbytes, dtype=torch.uint8, device="cuda"))
        plan = relayout.plan_redistribute(group, part, before, after, (1, 2, 0), out=out, route=route)
        plan.run()
        assert torch.equal(out, wanted), route
        if case == "graph":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                plan.run()
            for turn in range(20):
                torch.add(whole[before.slices(rank)], turn, out=part)
                out.zero_()  # before the other ranks may write
                graph.replay()
                assert torch.equal(out, wanted + turn), (route, turn)
            part.copy_(whole[before.slices(rank)])
            del graph
        elif rank == 0:  # the others do not come
            group.set_time_limit(0.2)
            plan.run()
            for words in ("in vain", "an earlier call"):
                try:
                    group.synchronize()
                    raise AssertionError(f"{route}: nobody came, and it ended")
                except relayout.Error as error:
                    assert error.code == "timeout" and words in str(error), error
        dist.all_reduce(torch.zeros(1))  # on the processors
        if case == "late":
            group.abort()
        group.close()
    dist.destroy_process_group()


class RanksTest(unittest.TestCase):
    def run_ranks(self, ranks, *command, nccl=None, gpus=""):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TMPDIR": folder, "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                           "MASTER_PORT": self.free_port(), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": gpus}
            if nccl:
                environment["RELAYOUT_NCCL_LIBRARY"] = nccl
            processes = [subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          text=True, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                         for rank in range(ranks)]
            texts = [process.communicate(timeout=240)[0] for process in processes]
            words = "\n".join(f"rank {rank}: {text}" for rank, text in enumerate(texts))
            self.assertFalse(any(process.returncode for process in processes), words)

    @staticmethod
    def free_port():
        import socket
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            return str(found.getsockname()[1])


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
@unittest.skipUnless("RELAYOUT_FILE_NCCL" in os.environ, "there is no library in the place of NCCL")
class Processes(RanksTest):
    def run_ranks(self, ranks, *command, gpus=""):
        super().run_ranks(ranks, *command, nccl=os.environ["RELAYOUT_FILE_NCCL"], gpus=gpus)

    def test_from_torch(self):
        for ranks, case in ((3, "transpose"), (3, "other"), (2, "late")):
            with self.subTest(case):
                self.run_ranks(ranks, __file__, "worker", case)

    def test_two_on_one_gpu(self):
        import torch
        if not torch.cuda.is_available() or relayout.gpu_count() == 0 or torch.version.hip:
            self.skipTest("no NVIDIA GPU")
        self.run_ranks(2, __file__, "worker", "gpu", gpus="0")

    def test_example(self):
        self.run_ranks(2, str(SOURCE / "examples/python/distributed_transpose.py"))


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
class Gpus(RanksTest):
    """All GPUs of the machine, a process each."""

    def setUp(self):
        import torch
        self.count = min(torch.cuda.device_count(), relayout.gpu_count())
        if self.count < 2:
            self.skipTest("there are not several GPUs")

    def run_on_gpus(self, *command):
        self.run_ranks(self.count, *command, gpus=",".join(map(str, range(self.count))))

    def test_recorded_in_a_graph(self):
        self.run_on_gpus(__file__, "gpu_worker", "graph")

    def test_a_rank_that_never_comes(self):
        self.run_on_gpus(__file__, "gpu_worker", "late")

    def test_example(self):
        self.run_on_gpus(str(SOURCE / "examples/python/distributed_transpose.py"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(sys.argv[2])
    elif sys.argv[1:2] == ["gpu_worker"]:
        gpu_worker(sys.argv[2])
    else:
        unittest.main()
