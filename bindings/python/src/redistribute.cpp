// Distributions, groups and redistributions: their handles, which relayout/_redistribute.py wraps, as
// capsules.
#include <algorithm>
#include <memory>
#include <vector>

#include "bindings/python/src/call.hpp"
#include "bindings/python/src/module_functions.hpp"
#include "bindings/python/src/run.hpp"

namespace relayout::python {
namespace {

constexpr const char *kDistribution = "relayout.distribution", *kGroup = "relayout.group",
                     *kPlan = "relayout.redistribution";
constexpr std::uintptr_t kWorkspaceAlignment = 64;

/// A plan, and the tensors that it was made for.
struct Redistribution {
  std::unique_ptr<relayout_redistribution, void (*)(relayout_redistribution*)> plan{
      nullptr, relayout_redistribution_destroy};
  std::vector<std::unique_ptr<Tensor>> in, out;
};

template <class T>
T* pointer_of(PyObject* capsule, const char* name) {
  void* const pointer = PyCapsule_GetPointer(capsule, name);
  if (pointer == nullptr) throw PythonError();
  return static_cast<T*>(pointer);
}

void destroy_distribution(PyObject* capsule) {
  relayout_distribution_destroy(
      static_cast<relayout_distribution*>(PyCapsule_GetPointer(capsule, kDistribution)));
}
void destroy_group(PyObject* capsule) {
  relayout_group_destroy(static_cast<relayout_group*>(PyCapsule_GetPointer(capsule, kGroup)));
}
void destroy_plan(PyObject* capsule) {
  delete static_cast<Redistribution*>(PyCapsule_GetPointer(capsule, kPlan));
}

/// A capsule of what make(&handle) gave.
template <class T, class Make>
Ref capsule_of(const char* name, void (*destroy)(PyObject*), void (*free)(T*), const Make& make) {
  T* made = nullptr;
  check(make(&made));
  std::unique_ptr<T, void (*)(T*)> handle(made, free);
  Ref capsule = Ref::owned(PyCapsule_New(made, name, destroy));
  (void)handle.release();
  return capsule;
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

template <class... Pointers>
void parse(PyObject* arguments, const char* format, Pointers... pointers) {
  if (PyArg_ParseTuple(arguments, format, pointers...) == 0) throw PythonError();
}

struct Numbers {
  std::int64_t items[kMaxRank];
  int count;
  Numbers(PyObject* sequence, const char* name) : count(integers_of(sequence, items, kMaxRank, name)) {}
};

/// Without Python's lock: what waits for other ranks may wait for other threads.
template <class F>
relayout_status without_lock(const F& call) {
  PyThreadState* const state = PyEval_SaveThread();
  const relayout_status status = call();
  PyEval_RestoreThread(state);
  return status;
}

/// The tensors of the local ranks.
std::vector<std::unique_ptr<Tensor>> describe_all(PyObject* tuple, const char* name) {
  std::vector<std::unique_ptr<Tensor>> tensors;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    tensors.emplace_back(new Tensor);
    const std::string words = PyTuple_Size(tuple) == 1 ? name : name + ("[" + std::to_string(i) + "]");
    describe(PyTuple_GetItem(tuple, i), words.c_str(), *tensors.back());
  }
  return tensors;
}

void check_count(std::size_t given, std::size_t wanted, const char* name) {
  if (given == wanted) return;
  fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(given) +
                                      " tensors, and this process has " + std::to_string(wanted) + " ranks");
}

void check_writable(const std::vector<std::unique_ptr<Tensor>>& tensors) {
  for (const auto& tensor : tensors) check_writable(*tensor);
}

std::vector<relayout_tensor> dl_of(const std::vector<std::unique_ptr<Tensor>>& tensors) {
  std::vector<relayout_tensor> all;
  all.reserve(tensors.size());
  for (const auto& tensor : tensors) all.push_back(tensor->dl);
  return all;
}

relayout_redistribute_options options_of(PyObject* dictionary, int route, PyObject* workspace_limit) {
  Options read;
  read_options(dictionary, read);
  relayout_redistribute_options options{};
  check(relayout_redistribute_options_init(&options, sizeof options));
  options.route = route;
  options.rounding = read.copy.rounding;
  options.saturate_fp8 = read.copy.saturate_fp8;
  options.saturate_integers = read.copy.saturate_integers;
  if (workspace_limit != Py_None)
    options.workspace_limit =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(workspace_limit)));
  return options;
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

/// Of ((gpu, stream), ...).
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
PyObject* group_register_output(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject *capsule = nullptr, *object = nullptr;
    parse(arguments, "OO", &capsule, &object);
    const auto* const group = pointer_of<relayout_group>(capsule, kGroup);
    Tensor out;
    describe(object, "out", out);
    check_writable(out);
    const std::int64_t size = (out.dl.dtype.bits * out.dl.dtype.lanes + 7) / 8;
    std::int64_t first = 0, last = 1, step = 1;
    for (int axis = out.dl.ndim - 1; axis >= 0; --axis) {
      const std::int64_t reach =
          (out.dl.shape[axis] - 1) * (out.dl.strides != nullptr ? out.dl.strides[axis] : step);
      (reach < 0 ? first : last) += reach;
      step *= out.dl.shape[axis];
    }
    const std::int64_t bytes = out.elements() == 0 ? 0 : (last - first) * size;
    check(without_lock([&] {
      return relayout_group_register_output(group, static_cast<char*>(out.data()) + first * size,
                                            static_cast<std::uint64_t>(bytes));
    }));
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

/// A new tensor like x: of another shape, and of a type by its name, or of x's.
PyObject* empty_like(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject *x = nullptr, *shape = nullptr, *type = nullptr;
    parse(arguments, "OOO", &x, &shape, &type);
    Tensor prototype;
    describe(x, "x", prototype);
    const Numbers extents(shape, "shape");
    const relayout_dl_dtype dtype = type == Py_None ? prototype.dl.dtype : dtype_named(text_of(type));
    return allocate_like(prototype, dtype, extents.count, extents.items);
  });
}

PyObject* plan_redistribute(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject *group = nullptr, *from = nullptr, *in = nullptr, *axes = nullptr, *to = nullptr, *out = nullptr,
             *limit = nullptr, *words = nullptr;
    int route = 0;
    parse(arguments, "OOO!OOO!iOO", &group, &from, &PyTuple_Type, &in, &axes, &to, &PyTuple_Type, &out,
          &route, &limit, &words);
    const auto* const over = pointer_of<relayout_group>(group, kGroup);
    const auto* const in_distribution = pointer_of<relayout_distribution>(from, kDistribution);
    const auto* const out_distribution = pointer_of<relayout_distribution>(to, kDistribution);
    const auto plan = [&](const relayout_tensor* ins, const std::int32_t* order, int count,
                          const relayout_tensor* outs, const relayout_redistribute_options* options,
                          relayout_redistribution** made) {
      return without_lock([&] {
        return relayout_plan_redistribute(over, in_distribution, ins, order, count, out_distribution, outs,
                                          options, made);
      });
    };
    auto made = std::make_unique<Redistribution>();
    relayout_redistribution* planned = nullptr;
    relayout_redistribute_options options{};
    std::vector<std::int32_t> order;
    try {
      made->in = describe_all(in, "x");
      made->out = describe_all(out, "out");
      std::int32_t ranks = 0, local_ranks = 0;
      check(relayout_group_ranks(over, &ranks, &local_ranks));
      check_count(made->in.size(), static_cast<std::size_t>(local_ranks), "x");
      check_count(made->out.size(), static_cast<std::size_t>(local_ranks), "out");
      check_writable(made->out);
      const Numbers numbers(axes, "axes");
      order.assign(numbers.items, numbers.items + numbers.count);
      options = options_of(words, route, limit);
    } catch (const PythonError&) {
      plan(nullptr, nullptr, 0, nullptr, nullptr, &planned);  // fails, and tells ranks of other processes
      throw;
    }
    const std::vector<relayout_tensor> ins = dl_of(made->in), outs = dl_of(made->out);
    check(plan(ins.data(), order.data(), static_cast<int>(order.size()), outs.data(), &options, &planned));
    made->plan.reset(planned);
    Ref capsule = Ref::owned(PyCapsule_New(made.get(), kPlan, destroy_plan));
    (void)made.release();
    return capsule;
  });
}

/// The addresses of other tensors of the planned layouts, or of the planned ones for None.
template <class Pointer>
std::vector<Pointer> addresses_of(PyObject* given, const std::vector<std::unique_ptr<Tensor>>& planned,
                                  const char* name, std::vector<std::unique_ptr<Tensor>>& tensors) {
  std::vector<Pointer> addresses;
  if (given == Py_None) {
    for (const auto& tensor : planned) addresses.push_back(tensor->data());
    return addresses;
  }
  tensors = describe_all(given, name);
  check_count(tensors.size(), planned.size(), name);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check_layout(*tensors[i], *planned[i], name);
    addresses.push_back(tensors[i]->data());
  }
  return addresses;
}

/// (plan, tensors or None, outputs or None, workspaces)
PyObject* run_redistribution(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject *capsule = nullptr, *in = nullptr, *out = nullptr, *workspaces = nullptr;
    parse(arguments, "OOOO!", &capsule, &in, &out, &PyTuple_Type, &workspaces);
    const auto& made = *pointer_of<Redistribution>(capsule, kPlan);
    std::vector<std::unique_ptr<Tensor>> ins, outs;
    const auto from = addresses_of<const void*>(in, made.in, "x", ins);
    const auto to = addresses_of<void*>(out, made.out, "out", outs);
    check_writable(outs);
    std::vector<void*> work;
    const auto works = describe_all(workspaces, "the workspace");
    for (const auto& tensor : works) {
      const auto address = reinterpret_cast<std::uintptr_t>(tensor->data());
      const std::uintptr_t aligned =
          (address + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
      work.push_back(static_cast<char*>(tensor->data()) + (aligned - address));
    }
    check(without_lock([&] {
      return relayout_redistribution_run_on(made.plan.get(), from.data(), to.data(),
                                            work.empty() ? nullptr : work.data());
    }));
    return Ref::borrowed(Py_None);
  });
}

PyObject* redistribution_workspace_bytes(PyObject*, PyObject* arguments) {
  return returning([&] {
    PyObject* capsule = nullptr;
    int rank = 0;
    parse(arguments, "Oi", &capsule, &rank);
    std::uint64_t bytes = 0;
    check(relayout_redistribution_workspace_bytes(pointer_of<Redistribution>(capsule, kPlan)->plan.get(),
                                                  rank, &bytes));
    return Ref::owned(PyLong_FromUnsignedLongLong(bytes));
  });
}

PyObject* explain_redistribution(PyObject*, PyObject* capsule) {
  return returning([&] {
    const char* text = nullptr;
    check(relayout_redistribution_explain(pointer_of<Redistribution>(capsule, kPlan)->plan.get(), &text));
    return Ref::owned(PyUnicode_FromString(text));
  });
}

}  // namespace

PyMethodDef redistribute_functions[] = {
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
    {"group_synchronize", group_synchronize, METH_O, nullptr},
    {"empty_like", empty_like, METH_VARARGS, nullptr},
    {"plan_redistribute", plan_redistribute, METH_VARARGS, nullptr},
    {"run_redistribution", run_redistribution, METH_VARARGS, nullptr},
    {"redistribution_workspace_bytes", redistribution_workspace_bytes, METH_VARARGS, nullptr},
    {"explain_redistribution", explain_redistribution, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace relayout::python
