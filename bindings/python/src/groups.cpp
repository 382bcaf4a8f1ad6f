// Distributions and groups, which relayout/_redistribute.py wraps, as capsules.
#include <memory>
#include <vector>

#include "bindings/python/src/call.hpp"
#include "bindings/python/src/capsules.hpp"
#include "bindings/python/src/module_functions.hpp"
#include "bindings/python/src/run.hpp"

namespace relayout::python {
namespace {

void destroy_distribution(PyObject* capsule) {
  relayout_distribution_destroy(
      static_cast<relayout_distribution*>(PyCapsule_GetPointer(capsule, kDistribution)));
}
void destroy_group(PyObject* capsule) {
  relayout_group_destroy(static_cast<relayout_group*>(PyCapsule_GetPointer(capsule, kGroup)));
}

template <class Make>
Ref distribution_of(const Make& make) {
  return capsule_of<relayout_distribution>(kDistribution, destroy_distribution, relayout_distribution_destroy,
                                           make);
}
template <class Make>
Ref group_of(const Make& make) {
  return capsule_of<relayout_group>(kGroup, destroy_group, relayout_group_destroy, make);
}

/// An address that Python has as a number.
void* address_of(unsigned long long number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

PyObject* distribution_boxes(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject *shape = nullptr, *begins = nullptr, *ends = nullptr;
    parse(arguments, "OO!O!", &shape, &PyTuple_Type, &begins, &PyTuple_Type, &ends);
    const Numbers extents(shape, "shape");
    std::vector<std::int64_t> all[2];
    for (int side = 0; side < 2; ++side) {
      PyObject* const boxes = side == 0 ? begins : ends;
      for (Py_ssize_t rank = 0; rank < PyTuple_Size(boxes); ++rank) {
        const Numbers numbers(PyTuple_GetItem(boxes, rank), "a box");
        if (numbers.count != extents.count)
          fail(RELAYOUT_RANK, "the box of rank " + std::to_string(rank) + " has " +
                                  std::to_string(numbers.count) + " axes, and the shape has " +
                                  std::to_string(extents.count));
        all[side].insert(all[side].end(), numbers.items, numbers.items + numbers.count);
      }
    }
    const auto ranks = static_cast<std::int32_t>(PyTuple_Size(begins));
    return distribution_of([&](relayout_distribution** made) {
      return relayout_distribution_create(extents.count, extents.items, ranks, all[0].data(), all[1].data(),
                                          made);
    });
  });
}

PyObject* distribution_split(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* shape = nullptr;
    int axis = 0, ranks = 0;
    parse(arguments, "Oii", &shape, &axis, &ranks);
    const Numbers extents(shape, "shape");
    return distribution_of([&](relayout_distribution** made) {
      return relayout_distribution_split(extents.count, extents.items, axis, ranks, made);
    });
  });
}

PyObject* distribution_replicated(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* shape = nullptr;
    int ranks = 0;
    parse(arguments, "Oi", &shape, &ranks);
    const Numbers extents(shape, "shape");
    return distribution_of([&](relayout_distribution** made) {
      return relayout_distribution_replicated(extents.count, extents.items, ranks, made);
    });
  });
}

/// (begin, end), each a tuple of `axes` numbers.
PyObject* distribution_box(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* capsule = nullptr;
    int rank = 0, axes = 0;
    parse(arguments, "Oii", &capsule, &rank, &axes);
    std::int64_t ends[2][kMaxRank] = {};
    check(relayout_distribution_box(pointer_of<relayout_distribution>(capsule, kDistribution), rank, ends[0],
                                    ends[1]));
    Ref box = Ref::owned(PyTuple_New(2));
    for (int side = 0; side < 2; ++side) {
      Ref numbers = Ref::owned(PyTuple_New(axes));
      for (int axis = 0; axis < axes; ++axis)
        PyTuple_SetItem(numbers.get(), axis, Ref::owned(PyLong_FromLongLong(ends[side][axis])).release());
      PyTuple_SetItem(box.get(), side, numbers.release());
    }
    return box;
  });
}

PyObject* group_emulated(PyObject*, PyObject* arguments) {
  return returning([&] {
    int ranks = 0, gpu = 0;
    parse(arguments, "ii", &ranks, &gpu);
    return group_of(
        [&](relayout_group** made) { return relayout_group_emulated(device_number(gpu), ranks, made); });
  });
}

using StreamHandle = std::unique_ptr<relayout_stream, void (*)(relayout_stream*)>;

/// The framework's stream of a GPU; of the processor, -1, a new one.
StreamHandle stream_of(int gpu, void* native) {
  relayout_stream* made = nullptr;
  check(gpu < 0 ? relayout_stream_create(device_number(gpu), &made)
                : relayout_stream_from_native(device_number(gpu), native, &made));
  return {made, relayout_stream_destroy};
}

/// Makes a group of a tuple of pairs, ((gpu, stream), ...).
PyObject* group_of_streams(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* pairs = nullptr;
    parse(arguments, "O!", &PyTuple_Type, &pairs);
    std::vector<StreamHandle> handles;
    std::vector<const relayout_stream*> streams;
    for (Py_ssize_t i = 0; i < PyTuple_Size(pairs); ++i) {
      int gpu = 0;
      unsigned long long native = 0;
      parse(PyTuple_GetItem(pairs, i), "iK", &gpu, &native);
      handles.push_back(stream_of(gpu, address_of(native)));
      streams.push_back(handles.back().get());
    }
    return group_of([&](relayout_group** made) {
      return relayout_group_create(streams.data(), static_cast<std::int32_t>(streams.size()), made);
    });
  });
}

PyObject* group_from_nccl(PyObject*, PyObject* arguments) {
  return returning([&] {
    unsigned long long communicator = 0, native = 0;
    int gpu = 0;
    parse(arguments, "KiK", &communicator, &gpu, &native);
    const StreamHandle stream = stream_of(gpu, address_of(native));
    return group_of([&](relayout_group** made) {
      return relayout_group_from_nccl(address_of(communicator), stream.get(), made);
    });
  });
}

/// (ranks, the local ones)
PyObject* group_ranks(PyObject*, PyObject* capsule) {
  return returning([&] {
    const auto* const group = pointer_of<relayout_group>(capsule, kGroup);
    std::int32_t ranks = 0, count = 0, rank = 0;
    check(relayout_group_ranks(group, &ranks, &count));
    Ref local = Ref::owned(PyTuple_New(count));
    for (std::int32_t i = 0; i < count; ++i) {
      check(relayout_group_local_rank(group, i, &rank));
      PyTuple_SetItem(local.get(), i, Ref::owned(PyLong_FromLong(rank)).release());
    }
    return Ref::owned(Py_BuildValue("(iO)", static_cast<int>(ranks), local.get()));
  });
}

PyObject* group_set_time_limit(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* capsule = nullptr;
    double seconds = 0;
    parse(arguments, "Od", &capsule, &seconds);
    check(relayout_group_set_time_limit(pointer_of<relayout_group>(capsule, kGroup), seconds));
    return Ref::borrowed(Py_None);
  });
}

/// (group, tensor): the bytes between its first and its last element.
PyObject* register_memory(PyObject* arguments, const char* name,
                          relayout_status (*register_bytes)(const relayout_group*, void*, std::uint64_t)) {
  return returning([&] {
    PyObject *capsule = nullptr, *object = nullptr;
    parse(arguments, "OO", &capsule, &object);
    const auto* const group = pointer_of<relayout_group>(capsule, kGroup);
    Tensor out;
    describe(object, name, out);
    check_writable(out);
    const std::int64_t size = (out.dl.dtype.bits * out.dl.dtype.lanes + 7) / 8;
    std::int64_t first = 0, last = 1, step = 1;
    for (int axis = out.dl.ndim - 1; axis >= 0; --axis) {
      const std::int64_t reach =
          (out.dl.shape[axis] - 1) * (out.dl.strides != nullptr ? out.dl.strides[axis] : step);
      (reach < 0 ? first : last) += reach;
      step *= out.dl.shape[axis];
    }
    if (out.elements() == 0) first = last = 0;
    const std::int64_t bytes = (last - first) * size;
    check(without_lock([&] {
      return register_bytes(group, static_cast<char*>(out.data()) + first * size,
                            static_cast<std::uint64_t>(bytes));
    }));
    return Ref::borrowed(Py_None);
  });
}
PyObject* group_register_output(PyObject*, PyObject* arguments) {
  return register_memory(arguments, "out", relayout_group_register_output);
}
PyObject* group_register_workspace(PyObject*, PyObject* arguments) {
  return register_memory(arguments, "workspace", relayout_group_register_workspace);
}

PyObject* group_close(PyObject*, PyObject* capsule) {
  return returning([&] {
    const auto* const group = pointer_of<relayout_group>(capsule, kGroup);
    check(without_lock([&] { return relayout_group_close(group); }));
    return Ref::borrowed(Py_None);
  });
}

PyObject* group_synchronize(PyObject*, PyObject* capsule) {
  return returning([&] {
    const auto* const group = pointer_of<relayout_group>(capsule, kGroup);
    check(without_lock([&] { return relayout_group_synchronize(group); }));
    return Ref::borrowed(Py_None);
  });
}

}  // namespace

PyMethodDef group_functions[] = {
    {"distribution_boxes", distribution_boxes, METH_VARARGS, nullptr},
    {"distribution_split", distribution_split, METH_VARARGS, nullptr},
    {"distribution_replicated", distribution_replicated, METH_VARARGS, nullptr},
    {"distribution_box", distribution_box, METH_VARARGS, nullptr},
    {"group_emulated", group_emulated, METH_VARARGS, nullptr},
    {"group_of_streams", group_of_streams, METH_VARARGS, nullptr},
    {"group_from_nccl", group_from_nccl, METH_VARARGS, nullptr},
    {"group_ranks", group_ranks, METH_O, nullptr},
    {"group_set_time_limit", group_set_time_limit, METH_VARARGS, nullptr},
    {"group_register_output", group_register_output, METH_VARARGS, nullptr},
    {"group_register_workspace", group_register_workspace, METH_VARARGS, nullptr},
    {"group_close", group_close, METH_O, nullptr},
    {"group_synchronize", group_synchronize, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace relayout::python
