// Redistributions: plans, which relayout/_redistribute.py wraps, as capsules.
#include <algorithm>
#include <memory>
#include <vector>

#include "bindings/python/src/call.hpp"
#include "bindings/python/src/capsules.hpp"
#include "bindings/python/src/module_functions.hpp"
#include "bindings/python/src/run.hpp"

namespace relayout::python {
namespace {

constexpr const char* kPlan = "relayout.redistribution";
constexpr std::uintptr_t kWorkspaceAlignment = 64;

/// A plan, and the tensors that it was made for.
struct Redistribution {
  std::unique_ptr<relayout_redistribution, void (*)(relayout_redistribution*)> plan{
      nullptr, relayout_redistribution_destroy};
  std::vector<std::unique_ptr<Tensor>> in, out;
};

void destroy_plan(PyObject* capsule) {
  delete static_cast<Redistribution*>(PyCapsule_GetPointer(capsule, kPlan));
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
      for (const auto& tensor : made->in) hold_memory(*tensor);
      for (const auto& tensor : made->out) hold_memory(*tensor);
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
    for (const auto& tensor : out == Py_None ? made.out : outs) mark_written(*tensor);
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
    {"empty_like", empty_like, METH_VARARGS, nullptr},
    {"plan_redistribute", plan_redistribute, METH_VARARGS, nullptr},
    {"run_redistribution", run_redistribution, METH_VARARGS, nullptr},
    {"redistribution_workspace_bytes", redistribution_workspace_bytes, METH_VARARGS, nullptr},
    {"explain_redistribution", explain_redistribution, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace relayout::python
