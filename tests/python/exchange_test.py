#!/usr/bin/env python3
"""The ways in which frameworks hand over tensors, by small frameworks of the test's own: __dlpack__ before and since
DLPack 1, the table of __dlpack_c_exchange_api__, and __cuda_array_interface__."""
import ctypes
import gc
import sys
import types
import unittest
from unittest import mock

import numpy as np

import relayout

CPU, CUDA, MANAGED = 1, 2, 13
FLOAT, BFLOAT, COMPLEX, BOOL = 2, 4, 5, 6
READ_ONLY = 1


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Type),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("version", Version), ("context", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64),
                ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def describe(array, code=None, strides=True, offset=0, device=(CPU, 0)):
    """A Tensor over a numpy array, and what holds its shape."""
    extents = (ctypes.c_int64 * array.ndim)(*array.shape)
    steps = (ctypes.c_int64 * array.ndim)(*[s // array.itemsize for s in array.strides])
    codes = {"f": FLOAT, "i": 0, "u": 1, "b": BOOL, "c": COMPLEX}
    tensor = Tensor(array.ctypes.data - offset, Device(*device), array.ndim,
                    Type(codes[array.dtype.kind] if code is None else code, 8 * array.itemsize, 1), extents,
                    steps if strides else None, offset)
    return tensor, (extents, steps)


class Producer:
    """Hands out its array as __dlpack__; counts what was deleted."""
    deleted = 0
    place = (CPU, 0)

    def __init__(self, array, **words):
        self.array, self.words, self.held = array, words, []

    def __dlpack_device__(self):
        return self.place

    def _delete(self, _):
        type(self).deleted += 1

    def _hold(self, managed, *others):
        self.held.append((managed, others))
        return ctypes.addressof(managed)


class Old(Producer):
    def __dlpack__(self, stream=None):
        assert stream is None
        tensor, held = describe(self.array, **self.words)
        managed = Managed(tensor, None, DELETER(self._delete))
        return new_capsule(self._hold(managed, held), b"dltensor", None)


class New(Producer):
    flags, major = 0, 1

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert max_version[0] >= 1
        tensor, held = describe(self.array, **self.words)
        managed = ManagedVersioned(Version(self.major, 0), None, DELETER(self._delete), self.flags, tensor)
        return new_capsule(self._hold(managed, held), b"dltensor_versioned", None)


def on_gpu():
    """A class of tensors on a GPU, and a list of the streams that they are asked with."""
    streams = []

    class OnGpu(New):
        place = (CUDA, 3)

        def __dlpack__(self, *, stream=None, **others):
            streams.append(stream)
            return super().__dlpack__(stream=stream, **others)
    return OnGpu, streams


class Dlpack(unittest.TestCase):
    def test_both_versions(self):
        for kind in (Old, New):
            with self.subTest(kind.__name__):
                a = np.arange(12, dtype=np.float32).reshape(3, 4)
                out = np.zeros((4, 3), np.float32)
                kind.deleted = 0
                relayout.permute(kind(a), (1, 0), out=out)
                np.testing.assert_array_equal(out, a.T)
                self.assertEqual(kind.deleted, 1)
                target = np.zeros((3, 4), np.float32)
                relayout.add(kind(a[::-1, ::-1]), kind(a, strides=False), out=kind(target))
                np.testing.assert_array_equal(target, a[::-1, ::-1] + a)
                relayout.copy(kind(a, offset=64), out=target)
                np.testing.assert_array_equal(target, a)
                bits = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2 as bf16
                values = np.zeros(2, np.float32)
                relayout.cast(kind(bits, code=BFLOAT), out=values)
                np.testing.assert_array_equal(values, [1, 2])

    def test_a_plan_holds_what_was_handed_over(self):
        New.deleted = 0
        a, out = New(np.ones(3, np.float32)), np.zeros(3, np.float32)
        plan = relayout.plan_add(a, a, out=out)
        self.assertEqual(New.deleted, 0)
        plan.run()
        np.testing.assert_array_equal(out, 2)
        del plan
        gc.collect()
        self.assertEqual(New.deleted, 2)

    def test_what_is_refused(self):
        class ReadOnly(New):
            flags = READ_ONLY

        class Future(New):
            major, deleted = 2, 0
        a = np.ones(3, np.float32)
        np.testing.assert_array_equal(relayout.add(a, ReadOnly(a)), 2)
        for wrong, words in ((lambda: relayout.copy(a, out=ReadOnly(a.copy())), "read-only"),
                             (lambda: relayout.add(a, Future(a)), "DLPack 2"),
                             (lambda: relayout.copy(New(a, code=99)), "code 99|out="),
                             (lambda: relayout.copy(New(a)), "give out=")):
            with self.assertRaisesRegex((relayout.Error, TypeError), words):
                wrong()
        self.assertEqual(Future.deleted, 1)  # also a tensor that is not understood is given back

    def test_arrays_of_jax_are_only_read(self):
        immutable = type("ArrayImpl", (New,), {"__module__": "jaxlib._jax"})
        a = np.ones(3, np.float32)
        np.testing.assert_array_equal(relayout.add(a, immutable(a)), 2)
        with self.assertRaisesRegex(relayout.Error, "JAX"):
            relayout.add(a, 1, out=immutable(a))
        np.testing.assert_array_equal(a, 1)

    def test_a_type_error_is_no_sign_of_an_old_producer(self):
        class Moody(New):
            refuses = True

            def __dlpack__(self, **words):
                if self.refuses:
                    raise TypeError("not such a tensor")
                return super().__dlpack__(**words)
        a = Moody(np.ones(3, np.float32))
        with self.assertRaisesRegex(TypeError, "not such a tensor"):
            relayout.add(a, 1, out=np.ones(3, np.float32))
        Moody.refuses = False
        np.testing.assert_array_equal(relayout.add(np.ones(3, np.float32), a), 2)  # New asserts that it is asked for version 1

    def test_the_stream_of_cupy(self):
        """It is that of the tensor's device, not of the current one."""
        current = [0]

        class Device:
            id = 1

            def __enter__(self):
                current.append(self.id)

            def __exit__(self, *_):
                current.pop()

        cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=1000 + current[-1]))
        x = type("ndarray", (), {"__module__": "cupy", "device": Device()})()
        with mock.patch.dict(sys.modules, {"cupy": types.SimpleNamespace(cuda=cuda)}):
            self.assertEqual(relayout._frameworks.current_stream(x), 1001)
        self.assertEqual(current, [0])

    def test_a_producer_that_fails(self):
        class Failing(New):
            def __dlpack__(self, **_):
                raise BufferError("not today")
        with self.assertRaisesRegex(BufferError, "not today"):
            relayout.add(np.ones(3, np.float32), Failing(None))

    def test_tensors_of_a_gpu(self):
        if relayout.gpu_count() > 0:
            self.skipTest("here there is one")
        OnGpu, streams = on_gpu()
        a = np.ones(3, np.float32)
        for kind in (CUDA, MANAGED):
            OnGpu.place = (kind, 3)
            with self.assertRaises(relayout.Error) as caught:
                relayout.add(a, OnGpu(a, device=(kind, 3)), out=a)
            self.assertIn(caught.exception.code, ("not_built", "no_device"))
            self.assertEqual(streams.pop(), 1)  # the default stream, as DLPack numbers it for CUDA

        class Interface:
            __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}
        with self.assertRaises(relayout.Error) as caught:
            relayout.add(Interface(), 1, out=Interface())
        self.assertIn(caught.exception.code, ("not_built", "no_device"))


FROM_OBJECT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
                            ctypes.c_void_p)
VIEW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("version", Version), ("previous", ctypes.c_void_p), ("allocate", ALLOCATE), ("from_object", FROM_OBJECT),
                ("to_object", FROM_OBJECT), ("view", VIEW), ("current_stream", STREAM)]


class Array:
    """A framework whose type has the table."""

    def __init__(self, array):
        self.array = array
        self.tensor, self.held = describe(array)


kinds = [Array]  # the last one is what the allocator makes
calls = {"view": 0, "from_object": 0, "allocate": 0, "to_object": 0}
alive = {}


@VIEW
def view(address, out):
    calls["view"] += 1
    ctypes.memmove(out, ctypes.addressof(ctypes.cast(address, ctypes.py_object).value.tensor), ctypes.sizeof(Tensor))
    return 0


@FROM_OBJECT
def from_object(address, out):
    calls["from_object"] += 1
    array = ctypes.cast(address, ctypes.py_object).value
    out[0] = keep(array, array.tensor)
    return 0


def keep(owner, tensor):
    managed = ManagedVersioned(Version(1, 3), None, DELETER(lambda address: alive.pop(address) and None), 0, tensor)
    alive[ctypes.addressof(managed)] = (managed, owner)
    return ctypes.addressof(managed)


@ALLOCATE
def allocate(prototype, out, _context, _set_error):
    calls["allocate"] += 1
    wanted = prototype.contents
    assert (wanted.dtype.code, wanted.dtype.lanes) == (FLOAT, 1)
    made = kinds[-1](np.zeros([wanted.shape[i] for i in range(wanted.ndim)], f"f{wanted.dtype.bits // 8}"))
    out[0] = keep(made, made.tensor)
    return 0


@FROM_OBJECT
def to_object(address, out):
    calls["to_object"] += 1
    array = alive.pop(address)[1]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    out[0] = id(array)
    return 0


@STREAM
def current_stream(_type, _device, stream):
    stream[0] = 0
    return 0


def capsule(table):
    return new_capsule(ctypes.addressof(table), b"dlpack_exchange_api", None)


@STREAM
def stream_77(_type, _device, stream):
    stream[0] = 77
    return 0


TABLE = Table(Version(1, 3), None, allocate, from_object, to_object, view, current_stream)
NEWER = Table(Version(2, 0), ctypes.addressof(TABLE))  # leads to the one that is understood
FUTURE = Table(Version(2, 0))
OWNING = Table(Version(1, 3), None, allocate, from_object, to_object, VIEW(0), current_stream)
ON_77 = Table(Version(1, 3), None, allocate, from_object, to_object, view, stream_77)


class ByTable(Array):
    __dlpack_c_exchange_api__ = capsule(TABLE)


class ByNewerTable(Array):
    __dlpack_c_exchange_api__ = capsule(NEWER)


class Owning(Array):
    __dlpack_c_exchange_api__ = capsule(OWNING)


class OnStream77(Array):
    __dlpack_c_exchange_api__ = capsule(ON_77)


class JaxWithTable(ByTable):
    __module__ = "jaxlib._jax"


class OfTheFuture(New):
    """Its table is of a version that nobody knows yet, so __dlpack__ is left."""
    __dlpack_c_exchange_api__ = capsule(FUTURE)


class Lazy(ByTable):
    """As torch's: the table gives the memory, and not that its numbers are to be negated when they are read."""
    requires_grad, negated, conjugated = False, False, False

    def is_conj(self):
        return self.conjugated

    def is_neg(self):
        return self.negated


class Exchange(unittest.TestCase):
    def test_tensors_that_are_negated_when_they_are_read(self):
        a, out = np.ones(3, np.float32), np.zeros(3, np.float32)
        x = Lazy(a)
        np.testing.assert_array_equal(relayout.add(x, 1, out=out), 2)
        x.negated = True
        with self.assertRaisesRegex(TypeError, "operand 0 is conjugated or negated only when it is read"):
            relayout.add(x, 1, out=out)
        np.testing.assert_array_equal(out, 2)
        z, copied = Lazy(np.full(3, 1j, np.complex64)), np.zeros(3, np.complex64)
        relayout.copy(z, out=copied)
        np.testing.assert_array_equal(copied, 1j)
        z.conjugated = True
        with self.assertRaisesRegex(TypeError, "x is conjugated or negated only when it is read"):
            relayout.copy(z, out=copied)
        np.testing.assert_array_equal(copied, 1j)

    def test_a_table_of_another_version(self):
        a = np.ones(3, np.float32)
        np.testing.assert_array_equal(relayout.add(a, OfTheFuture(a)), 2)

    def test_arrays_of_jax_with_a_table(self):
        a = JaxWithTable(np.ones(3, np.float32))
        np.testing.assert_array_equal(relayout.add(np.ones(3, np.float32), a), 2)
        with self.assertRaisesRegex(relayout.Error, "JAX"):
            relayout.add(np.ones(3, np.float32), 1, out=a)
        np.testing.assert_array_equal(a.array, 1)

    def test_all_tensors_are_made_ready_for_the_stream_of_the_call(self):
        if relayout.gpu_count() > 0:
            self.skipTest("here there is a GPU")
        OnGpu, streams = on_gpu()
        a = np.ones(3, np.float32)
        first, other = OnStream77(a), OnGpu(a, device=(CUDA, 3))
        first.tensor.device = Device(CUDA, 3)
        for operands, expected in (((first, other), [77, 77]), ((other, first), [1, 1]), ((a, first), [77])):
            with self.assertRaises(relayout.Error):
                relayout.add(*operands, out=other)
            self.assertEqual(streams, expected)
            streams.clear()

    def test_a_plan_holds_memory_and_not_only_objects(self):
        """An object of torch can be given other memory."""
        kinds.append(ByTable)
        x, out = ByTable(np.ones(3, np.float32)), ByTable(np.zeros(3, np.float32))
        plan = relayout.plan_add(x, x, out=out)
        self.assertEqual(sorted(id(owner) for _, owner in alive.values()), sorted([id(x), id(x), id(out)]))
        plan.run()
        np.testing.assert_array_equal(out.array, 2)
        del plan
        gc.collect()
        self.assertEqual(alive, {})
        group, all_of = relayout.Group.emulated(1), relayout.Distribution.replicated((3,), 1)
        plan = relayout.plan_redistribute(group, x, all_of, all_of, out=out)
        self.assertEqual(len(alive), 2)
        plan.run()
        np.testing.assert_array_equal(out.array, 1)
        del plan
        gc.collect()
        self.assertEqual(alive, {})

    def test_tables(self):
        for kind, way in ((ByTable, "view"), (ByNewerTable, "view"), (Owning, "from_object")):
            with self.subTest(kind.__name__):
                kinds.append(kind)
                calls.update(dict.fromkeys(calls, 0))
                a = np.arange(6, dtype=np.float32).reshape(2, 3)
                x = kind(a)
                before = sys.getrefcount(x)
                result = relayout.transpose(x)
                self.assertEqual(calls["allocate"], 1)
                self.assertEqual(calls["to_object"], 1)
                np.testing.assert_array_equal(result.array, a.T)
                out = kind(np.zeros((2, 3), np.float32))
                self.assertIs(relayout.add(x, x, out=out), out)
                np.testing.assert_array_equal(out.array, a + a)
                np.testing.assert_array_equal(relayout.add(x, 1, dtype="f64").array, a.astype(np.float64) + 1)
                self.assertGreaterEqual(calls[way], 4)
                self.assertEqual(alive, {})
                self.assertEqual(sys.getrefcount(x), before)


if __name__ == "__main__":
    unittest.main()
