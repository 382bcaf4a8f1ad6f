#!/usr/bin/env python3
"""What the package promises beside its results: errors that write nothing, plans, threads, memory that is held as long as
it is needed and no longer, and words for everything."""
import ast
import gc
import importlib.util
import inspect
import pathlib
import subprocess
import sys
import threading
import unittest

import numpy as np

import relayout


class Errors(unittest.TestCase):
    def refused(self, code, words, function, *arguments, **options):
        with self.assertRaises(relayout.Error) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(words, str(caught.exception))

    def test_sentences(self):
        a, b = np.ones((2, 3), np.float32), np.ones(4, np.float32)
        self.refused("shape", "[2, 3] and [4]", relayout.add, a, b)
        self.refused("shape", "", relayout.add, a, a, out=np.ones((3, 2), np.float32))
        self.refused("dtype", "", relayout.add, a, a, out=np.ones((2, 3), np.int32))
        self.refused("promotion", "i32", relayout.add, np.ones(2, np.int32), np.ones(2, np.uint32))
        self.refused("literal_range", "300", relayout.add, np.ones(2, np.uint8), 300)
        self.refused("literal_range", "64 bits", relayout.add, a, 2**70)
        self.refused("invalid_argument", "tensor", relayout.add, 1, 2)
        self.refused("invalid_argument", "permutation", relayout.permute, a, (0, 0))
        self.refused("invalid_argument", "axes holds 2", relayout.permute, a, (0, 2))
        self.refused("invalid_argument", "3 numbers", relayout.permute, a, (0, 1, 2))
        self.refused("rank", "33", relayout.permute, a, (0,) * 33)
        self.refused("rank", "two axes", relayout.matrix_transpose, b)
        self.refused("rank", "3 axes", relayout.pad, a, 1)
        self.refused("pad_too_large", "", relayout.pad, np.ones((1, 1, 2)), 5, "reflect")
        self.refused("invalid_argument", "'constant', 'replicate'", relayout.pad, np.ones((1, 1, 2)), 5, "mirror")
        self.refused("invalid_argument", "no operation 'plus'", relayout.chain, ["plus"], a, a)
        self.refused("dtype", "f16, and out is f32", relayout.add, a, a, dtype="f16", out=np.ones((2, 3), np.float32))
        self.refused("dtype", "swapped", relayout.copy, np.ones(2, ">f4"))
        self.refused("dtype", "object", relayout.copy, np.array([None, 1]))
        self.refused("dtype", "code 5", relayout.add, np.ones(2, complex), 1)
        long, moved = np.arange(6, dtype=np.longdouble).reshape(2, 3), np.zeros((3, 2), np.longdouble)
        self.refused("dtype", "give out=", relayout.transpose, long)
        np.testing.assert_array_equal(relayout.transpose(long, out=moved), long.T)
        field = np.zeros(3, dtype=[("a", np.int8), ("b", np.int32)])
        self.refused("stride_alignment", "5 bytes", relayout.copy, field["b"])

    def test_other_objects(self):
        a = np.ones(3, np.float32)
        for wrong in ("x", None, [1, 2], object()):
            with self.subTest(repr(wrong)), self.assertRaises(TypeError):
                relayout.add(a, wrong)
        with self.assertRaises(TypeError):
            relayout.add(a, a, axis=1)
        with self.assertRaises(TypeError):
            relayout.plan_add(a)
        with self.assertRaises(TypeError):
            relayout.cast(a, "f8")
        if importlib.util.find_spec("ml_dtypes") is None:  # it has the type for numpy
            with self.assertRaises(TypeError):
                relayout.cast(a, "bf16")
        with self.assertRaises(TypeError):
            relayout.View(a, "bf16")
        with self.assertRaises(TypeError):
            relayout.permute(a, 0)
        with self.assertRaises(TypeError):
            relayout.Plan()

    def test_numbers_and_codes_in_the_place_of_tensors(self):
        x, weights, codes = np.ones((1, 2, 5), np.float32), np.ones((2, 3), np.float32), np.ones(3, np.int8)
        state, cast = np.ones((1, 2, 2), np.float32), np.zeros(3, np.float32)
        for words, call in {
                "bias must be a tensor, not a number": lambda: relayout.depthwise_conv1d(x, weights, 0.5),
                "cache_seqlens must be a tensor, not a number":
                    lambda: relayout.depthwise_update(state, x, weights, cache_seqlens=0),
                "x must be a tensor, not codes": lambda: relayout.cast(relayout.Quantized(codes, 0.5, 1), "f32"),
                "out must be a tensor, not codes": lambda: relayout.cast(cast, out=relayout.Quantized(codes, 0.5)),
                "not codes with a scale": lambda: relayout.fill(relayout.Quantized(codes, 0.5, 1), 3)}.items():
            with self.subTest(words), self.assertRaisesRegex(TypeError, words):
                call()
        np.testing.assert_array_equal(codes, 1)
        np.testing.assert_array_equal(state, 1)

    def test_masked_arrays_are_refused(self):
        a, masked = np.ones(3, np.float32), np.ma.masked_array(np.ones(3, np.float32), [True, False, False])
        for call in (lambda: relayout.add(a, masked), lambda: relayout.add(a, a, out=masked), lambda: relayout.copy(np.ma.masked)):
            with self.assertRaisesRegex(TypeError, "no masks"):
                call()
        np.testing.assert_array_equal(masked.data, 1)
        np.testing.assert_array_equal(relayout.add(a, masked.filled(3)), [4, 2, 2])

    def test_a_read_only_output_is_refused(self):
        a = np.ones(3, np.float32)
        out = np.zeros(3, np.float32)
        out.flags.writeable = False
        self.refused("invalid_argument", "read-only", relayout.add, a, a, out=out)
        self.refused("invalid_argument", "read-only", relayout.plan_add, a, a, out=out)
        self.refused("invalid_argument", "read-only", relayout.plan_add(a, a).run, a, a, out=out)
        x, weights, state = np.ones((1, 1, 4)).astype("f"), np.ones((1, 2), np.float32), np.zeros((1, 1, 1), np.float32)
        state.flags.writeable = False
        self.refused("invalid_argument", "final_state is read-only", relayout.depthwise_conv1d, x, weights, final_state=state)
        self.refused("invalid_argument", "state is read-only", relayout.depthwise_update, state, x, weights)
        self.refused("invalid_argument", "d_initial_state is read-only", relayout.depthwise_conv1d_backward, x, weights, x,
                     d_initial_state=state)
        taps, d_weights = np.ones((1, 4), np.float32), np.zeros((1, 4), np.float32)
        count = relayout.depthwise_conv1d_backward_workspace_bytes(x, taps, x, d_weights=d_weights)
        self.assertGreater(count, 0)
        workspace = np.zeros(count, np.uint8)
        plan = relayout.plan_depthwise_conv1d_backward(x, taps, x, d_weights=d_weights, workspace=workspace)
        other = np.zeros(count, np.uint8)
        other.flags.writeable = False
        self.refused("invalid_argument", "read-only", plan.run, x, x, other)
        np.testing.assert_array_equal(out, 0)
        relayout.add(out, 1)  # as an input it is welcome

    def test_arrays_that_nobody_may_write_to_are_refused(self):
        """JAX's, which do not say so themselves."""
        x, weights, state = np.ones((1, 1, 4), np.float32), np.ones((1, 2), np.float32), np.zeros((1, 1, 1), np.float32)
        kind = type("Array", (), {"__module__": "jaxlib.array", "__dlpack_device__": lambda _: state.__dlpack_device__(),
                                  "__dlpack__": lambda _, **options: state.__dlpack__()})
        for words, function, *arguments in (("out", relayout.copy, x[..., :1]),
                                            ("state", relayout.depthwise_update, kind(), x, weights)):
            options = {"out": kind()} if words == "out" else {}
            self.refused("invalid_argument", f"{words} is an array of JAX", function, *arguments, **options)
        self.refused("invalid_argument", "final_state is an array of JAX", relayout.depthwise_conv1d, x, weights,
                     final_state=kind())
        np.testing.assert_array_equal(state, 0)

    def test_outputs_that_share_memory(self):
        a = np.arange(10, dtype=np.float32)
        self.refused("partial_overlap", "", relayout.copy, a[:9], out=a[1:])
        self.refused("output_overlap", "", relayout.copy, a[:3], out=np.lib.stride_tricks.as_strided(a, (3,), (0,)))
        np.testing.assert_array_equal(a, np.arange(10))
        # A plan that was kept is given other memory, which overlaps: the same layouts, 16 bytes apart.
        big, out = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
        relayout.add(big[:8], 1, out=out)
        hits = relayout.cache_info()[0]
        self.refused("partial_overlap", "", relayout.add, big[:8], 1, out=big[4:12])
        self.assertEqual(relayout.cache_info()[0], hits + 1)
        np.testing.assert_array_equal(big, np.arange(16))
        self.assertIs(relayout.add(big[:8], 1, out=out), out)


class Plans(unittest.TestCase):
    def test_run(self):
        a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), 10, np.float32)
        out = np.zeros((2, 3), np.float32)
        plan = relayout.plan_add(a, b, out=out)
        self.assertIs(plan.run(), out)
        np.testing.assert_array_equal(out, a + b)
        a += 1
        plan.run()
        np.testing.assert_array_equal(out, a + b)
        other = np.zeros((2, 3), np.float32)
        self.assertIs(plan.run(b, b, out=other), other)
        np.testing.assert_array_equal(other, 20)
        self.assertIn("add", plan.explain())
        making = relayout.plan_add(a, b)
        first, second = making.run(), making.run(b, b)
        self.assertIsNot(first, making.run())
        np.testing.assert_array_equal(first, a + b)
        np.testing.assert_array_equal(second, 20)

    def test_a_plan_keeps_its_scales(self):
        x, codes = np.float32([1, 2, 3]), np.zeros(3, np.int8)
        plan = relayout.plan_quantize(x, 0.5, 1)
        with self.assertRaisesRegex(TypeError, "out must be a tensor: a plan keeps its scale"):
            plan.run(x, out=relayout.Quantized(codes, 0.25, 1))
        np.testing.assert_array_equal(codes, 0)
        np.testing.assert_array_equal(plan.run(x, out=codes), [3, 5, 7])
        back = relayout.plan_dequantize(codes, 0.5, 1)
        with self.assertRaisesRegex(TypeError, "input 0 must be a tensor: a plan keeps its scale"):
            back.run(relayout.Quantized(codes, 0.25, 1))
        np.testing.assert_array_equal(back.run(codes), x)

    def test_other_layouts_are_refused(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        plan = relayout.plan_permute(a, (1, 0))
        for wrong in (a.astype(np.float64), a[:, :2], np.asfortranarray(a)):
            with self.assertRaisesRegex(relayout.Error, "was planned as f32"):
                plan.run(wrong)
        with self.assertRaisesRegex(relayout.Error, "was planned as f32"):
            plan.run(a, out=np.zeros((2, 3), np.float32))
        with self.assertRaises(TypeError):
            plan.run(a, a)
        for words in ({"output": a}, {"out": a.T, "more": 1}):
            with self.assertRaisesRegex(TypeError, "takes inputs, and out="):
                plan.run(a, **words)

    def test_every_function_has_a_plan(self):
        x, weights = np.ones((1, 2, 8), np.float32), np.ones((2, 3), np.float32)
        half, full = x.astype(np.float16), np.ones((4, 2, 3), np.float16)
        calls = {"permute": (x, (2, 0, 1)), "transpose": (x,), "matrix_transpose": (x,), "copy": (x,), "contiguous": (x,),
                 "cast": (x, "f16"), "fill": (x.copy(), 2), "pad": (x, 2), "img2col": (x, 3), "rearrange_weights": (full,),
                 "depthwise_conv1d": (x, weights), "depthwise_update": (np.zeros((1, 2, 2), np.float32), x, weights),
                 "depthwise_conv1d_backward": (x, weights, x),
                 "gemm": (half[0], half[0]), "conv1d": (half, full), "quantize": (x, 0.5), "chain": (["relu"], x),
                 "dequantize": (np.ones(3, np.int8), 0.5), "depthwise_varlen": (x[0], np.int32([0, 3, 8]), weights),
                 "depthwise_varlen_states": (x[0], np.int32([0, 3, 8]), 2)}
        for name, arguments in calls.items():
            with self.subTest(name):
                plan = getattr(relayout, f"plan_{name}")(*arguments)
                self.assertGreater(len(plan.explain()), 10)
                if name == "depthwise_update":
                    arguments = (np.zeros((1, 2, 2), np.float32), *arguments[1:])
                np.testing.assert_array_equal(plan.run(), getattr(relayout, name)(*arguments))

    def test_plans_are_kept_for_calls(self):
        relayout.cache_clear()
        a = np.ones((3, 5), np.float32)
        for number in range(4):
            np.testing.assert_array_equal(relayout.add(a, number), a + number)
        self.assertEqual(relayout.cache_info(), (0, 4, 4))  # constants are part of a plan
        for _ in range(3):
            relayout.add(np.ones((3, 5), np.float32), 1)
        self.assertEqual(relayout.cache_info(), (3, 4, 4))
        relayout.add(np.ones((5, 3), np.float32).T, 1)
        relayout.subtract(a, 1)
        relayout.add(a, 1.0)
        relayout.add(a, 1, out=a)
        self.assertEqual(relayout.cache_info(), (3, 8, 8))
        two = np.full((3, 5), 2, np.float32)  # which operand is the running value is part of a plan, too
        np.testing.assert_array_equal(relayout.chain(["add", "divide"], two, 2, two), two)
        np.testing.assert_array_equal(relayout.chain(["add", ("divide", 1)], two, 2, two), two / 4)
        for length in range(1, 400):
            relayout.add(np.ones(length, np.float32), 1)
        self.assertEqual(relayout.cache_info()[2], 256)

    def test_a_kept_plan_sees_what_changed(self):
        x, state = np.ones((1, 1, 3), np.float32), np.zeros((1, 1, 1), np.float32)
        weights = np.float32([[1, 1]])
        np.testing.assert_array_equal(relayout.depthwise_conv1d(x, weights), [[[1, 2, 2]]])
        weights[:] = 2
        np.testing.assert_array_equal(relayout.depthwise_conv1d(x, weights), [[[2, 4, 4]]])
        np.testing.assert_array_equal(relayout.depthwise_conv1d(x, weights + 1), [[[3, 6, 6]]])
        relayout.depthwise_update(state, x, weights)
        half, full = x.astype(np.float16), np.ones((1, 1, 1), np.float16)
        np.testing.assert_array_equal(relayout.conv1d(half, full), half.transpose(0, 2, 1))
        full[:] = 3  # at the address of the weights that were prepared before
        np.testing.assert_array_equal(relayout.conv1d(half, full), 3 * half.transpose(0, 2, 1))

    def test_addresses_of_any_alignment(self):
        memory = np.zeros(4096 + 64, np.uint8)
        expected = np.arange(1000, dtype=np.float32)
        plan = relayout.plan_copy(memory[4:4004].view(np.float32))  # a plan takes what is aligned as well, or better
        for shift in range(0, 64, 4):
            x = memory[shift:shift + 4000].view(np.float32)
            x[:] = expected
            np.testing.assert_array_equal(relayout.copy(x), expected)
            np.testing.assert_array_equal(plan.run(x), expected)
        aligned = relayout.plan_copy(memory[-memory.ctypes.data % 16:][:4000].view(np.float32))
        with self.assertRaisesRegex(relayout.Error, "multiple of 16 bytes"):
            aligned.run(memory[-memory.ctypes.data % 16 + 4:][:4000].view(np.float32))


class Lifetimes(unittest.TestCase):
    def test_references(self):
        a, b, out = (np.ones(10, np.float32) for _ in range(3))

        def calls():
            relayout.add(a, b, out=out)
            relayout.add(a, b)
            relayout.copy(a)
            relayout.pad(a.reshape(1, 1, 10), 1)
            relayout.cast(relayout.View(a.view(np.uint32), "tf32"), out=out)
            plan = relayout.plan_add(a, b, out=out)
            plan.run()
            plan.run(a, b, out=out)
            for wrong in (lambda: relayout.add(a, b[:3]), lambda: relayout.add(a, "x"), lambda: plan.run(a),
                          lambda: relayout.add(a, b, dtype="f9"), lambda: relayout.permute(a, (3,))):
                try:
                    wrong()
                except (TypeError, relayout.Error):
                    pass

        # Python itself frees some objects late, so the quietest of several rounds counts: a reference that is lost or
        # kept by each call shows in all of them.
        loops, changes = 400, []
        for _ in range(5):
            counted = (a, b, out, None, relayout.Plan, relayout.View)
            before = [sys.getrefcount(x) for x in counted]
            for _ in range(loops):
                calls()
            changes.append([abs(sys.getrefcount(x) - was) for x, was in zip(counted, before)])
        for change in zip(*changes):
            self.assertLess(min(change), loops // 4, changes)

    def test_objects_do_not_pile_up(self):
        a = np.ones(10, np.float32)

        def calls():
            for _ in range(200):
                relayout.add(a, a)
                relayout.plan_add(a, a).explain()

        calls()
        gc.collect()
        before = sys.getallocatedblocks()
        calls()
        calls()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - before, 100)

    def test_a_plan_holds_its_tensors(self):
        out = np.zeros(1000, np.float32)
        plan = relayout.plan_add(np.full(1000, 2, np.float32), np.full(1000, 3, np.float32), out=out)
        gc.collect()
        np.full(1000, 9, np.float32), np.full(1000, 9, np.float32)  # would take the memory if it had been freed
        plan.run()
        np.testing.assert_array_equal(out, 5)
        count = sys.getrefcount(out)
        del plan
        self.assertLess(sys.getrefcount(out), count)


class Threads(unittest.TestCase):
    def run_in_threads(self, work, count=4):
        failures = []

        def guarded(number):
            try:
                work(number)
            except BaseException as error:  # the main thread tells of it
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_calls_and_one_plan(self):
        shape = (70, 300)  # large enough to give up Python's lock
        plan = relayout.plan_transpose(np.zeros(shape, np.float32))

        def work(number):
            a = np.full(shape, number, np.float32) + np.arange(300, dtype=np.float32)
            for turn in range(30):
                np.testing.assert_array_equal(plan.run(a), a.T)
                np.testing.assert_array_equal(relayout.add(a, number * 100 + turn), a + (number * 100 + turn))
                with self.assertRaisesRegex(relayout.Error, str(1000 + number)):
                    relayout.add(a, np.zeros(1000 + number, np.float32))

        self.run_in_threads(work)

    def test_a_convolution_s_plan_takes_turns(self):
        weights = np.ones((8, 8, 4), np.float16)
        plan = relayout.plan_conv1d(np.zeros((2, 8, 4000), np.float16), weights, pad_width=(3, 0))

        def work(number):
            x = np.full((2, 8, 4000), number, np.float16)
            for _ in range(5):
                np.testing.assert_array_equal(plan.run(x)[:, 3:], 32 * number)

        self.run_in_threads(work)

    def test_others_run_meanwhile(self):
        # Nobody is asked to give up the lock, so this thread gets its turns from the copies alone.
        a, counted, stop = np.ones((2000, 2000), np.float32), 0, threading.Event()

        def work():
            while not stop.is_set():
                relayout.transpose(a)

        thread = threading.Thread(target=work)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            thread.start()
            for _ in range(20):
                counted += 1
                threading.Event().wait(0)
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            thread.join()
        self.assertEqual(counted, 20)


    def test_the_process_ends_while_a_thread_works(self):
        """Python ends a daemon thread that asks for the lock then, which must not end the process."""
        for function in ("sin", "python"):
            for _ in range(5):
                run = subprocess.run([sys.executable, "-c", DAEMON, function], capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "done\n", ""))


# The thread is either inside the library, or in a function of Python that the extension has called.
DAEMON = """
import sys, threading, time
import numpy as np, relayout

a, out, begun = np.ones(1 << 20, np.float32), np.zeros(1 << 20, np.float32), threading.Event()

class Slow:
    def __dlpack_device__(self):
        return a.__dlpack_device__()

    def __dlpack__(self, **words):
        begun.set()
        while True:
            time.sleep(0.001)

def work():
    if sys.argv[1] == "python":
        relayout.add(out, Slow(), out=out)
    while True:
        relayout.sin(a, out=out)
        begun.set()

threading.Thread(target=work, daemon=True).start()
begun.wait()
print("done")
"""


class Words(unittest.TestCase):
    def test_every_name_has_words_and_a_stub(self):
        stub = pathlib.Path(relayout.__file__).with_name("__init__.pyi")
        known = set()
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                known.add(node.name)
            elif isinstance(node, ast.Assign):
                known.update(target.id for target in node.targets)
            elif isinstance(node, ast.AnnAssign):
                known.add(node.target.id)
        for name in relayout.__all__:
            with self.subTest(name):
                self.assertTrue(inspect.getdoc(getattr(relayout, name)))
                self.assertIn(name, known)
        self.assertEqual(sorted(known - set(relayout.__all__) - {"__version__"} - {n for n in known if n.startswith("_")}), [])
        self.assertTrue(pathlib.Path(relayout.__file__).with_name("py.typed").exists())

    def test_all_operations_are_there(self):
        names = [name for name, _ in relayout._core.operations()]
        self.assertGreater(len(names), 70)
        for name in names:
            self.assertTrue(callable(getattr(relayout, name)) and callable(getattr(relayout, f"plan_{name}")))


if __name__ == "__main__":
    unittest.main()
