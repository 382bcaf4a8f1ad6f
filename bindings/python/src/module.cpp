// The module relayout._core: calls, plans, and what the package asks of the library.

#include "bindings/python/src/call.hpp"
#include "bindings/python/src/module_functions.hpp"
#include "bindings/python/src/run.hpp"

#ifdef Py_GIL_DISABLED
#error "relayout is not made for Pythons without a global lock: build it with one that has it"
#endif

namespace relayout::python {
namespace {

/// What a Plan object holds.
struct PlanState {
  Call call;
  std::shared_ptr<const Prepared> prepared;
  bool makes_output = false;  ///< planned without one: each run makes a new one
};

struct PlanObject {
  PyObject_HEAD PlanState* state;
};

PlanState& state_of(PyObject* self) { return *reinterpret_cast<PlanObject*>(self)->state; }

PyObject* plan_type = nullptr;

Ref new_plan(PyObject* const* arguments, Py_ssize_t count) {
  auto state = std::make_unique<PlanState>();
  read_call(arguments, count, state->call);
  for (const auto& tensor : state->call.tensors) hold_memory(*tensor);
  state->makes_output = state->call.out == nullptr;
  state->prepared = prepare(state->call);
  auto* const allocate =
      reinterpret_cast<allocfunc>(PyType_GetSlot(reinterpret_cast<PyTypeObject*>(plan_type), Py_tp_alloc));
  Ref plan = Ref::owned(allocate(reinterpret_cast<PyTypeObject*>(plan_type), 0));
  reinterpret_cast<PlanObject*>(plan.get())->state = state.release();
  return plan;
}

/// Nobody but the plan_ functions makes one, so that its state is always there.
PyObject* plan_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "a Plan is made by the plan_ functions");
  return nullptr;
}

void plan_dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<PlanObject*>(self)->state;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

/// A plan keeps the scales and zero points that it was made with.
void check_plain(PyObject* object, const char* name) {
  if (PyTuple_Check(object) != 0) {
    fail(PyExc_TypeError,
         std::string(name) +
             " must be a tensor: a plan keeps its scale and its zero point, so give the codes alone");
  }
}

/// `names` are those of the arguments behind the first `given`.
PyObject* plan_run(PyObject* self, PyObject* const* arguments, Py_ssize_t given, PyObject* names) {
  return returning([&] {
    const PlanState& state = state_of(self);
    static const Name kOut("out");
    const Py_ssize_t named = names != nullptr ? PyTuple_Size(names) : 0;
    if (named > 1 || (named == 1 && !kOut.is(PyTuple_GetItem(names, 0))))
      fail(PyExc_TypeError, "run() takes inputs, and out=");
    PyObject* const out_object = named == 1 && arguments[given] != Py_None ? arguments[given] : nullptr;
    const std::vector<const Tensor*>& planned = state.call.inputs;
    if (given != 0 && given != static_cast<Py_ssize_t>(planned.size())) {
      fail(PyExc_TypeError, "run() takes no inputs or all " + std::to_string(planned.size()) + ", and " +
                                std::to_string(given) + " were given");
    }
    void* const stream = current_stream(state.call.place());
    if (given == 0 && out_object == nullptr && !state.makes_output) {
      check(run(*state.prepared, state.call, planned, *state.call.out, stream));
      return state.call.out->object;
    }
    Call now;  // holds what is described for this run
    now.stream = stream;
    now.make_room(static_cast<std::size_t>(given));
    for (Py_ssize_t i = 0; i < given; ++i) {
      static constexpr const char* kNames[] = {"input 0", "input 1", "input 2", "input 3",
                                               "input 4", "input 5", "input 6", "input 7"};
      const char* const name = kNames[i];
      check_plain(arguments[i], name);
      now.tensors.emplace_back(new Tensor);
      Tensor& input = *now.tensors.back();
      const Tensor& other = *planned[static_cast<std::size_t>(i)];
      describe(arguments[i], name, input, now.stream);
      check_layout(input, other, name);
      input.written = other.written;
      if (input.written) check_writable(input, name);
      now.inputs.push_back(&input);
    }
    if (out_object == nullptr && !state.makes_output) {
      now.out = state.call.out;
    } else if (out_object != nullptr) {
      check_plain(out_object, "out");
      set_output(now, out_object);
    } else {
      const ResultSpec& spec = state.prepared->result;
      set_output(now, allocate_like(state.call.prototype(), spec.dtype, spec.rank, spec.shape).get());
    }
    if (now.out != state.call.out) check_layout(*now.out, *state.call.out, "out");
    const std::vector<const Tensor*>& inputs = given == 0 ? planned : now.inputs;
    check(run(*state.prepared, state.call, inputs, *now.out, stream));
    return now.out->object;
  });
}

PyObject* plan_explain(PyObject* self, PyObject*) {
  return returning([&] {
    const char* text = nullptr;
    check(relayout_explain(state_of(self).prepared->plan.get(), &text));
    return Ref::owned(PyUnicode_FromString(text));
  });
}

PyMethodDef plan_methods[] = {
    {"run", any_function(plan_run), kArrayCall | METH_KEYWORDS,
     "run(*inputs, out=None)\n--\n\n"
     "Runs the plan and gives its output. Without arguments it runs between the planned tensors; a plan made "
     "without\n"
     "out= makes a new output for each run. Other inputs and another out must have the types, shapes and "
     "strides of\n"
     "the planned ones."},
    {"explain", plan_explain, METH_NOARGS, "explain()\n--\n\nThe plan in plain words, several lines."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot plan_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(plan_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(plan_dealloc)},
    {Py_tp_methods, plan_methods},
    {Py_tp_doc,
     const_cast<char*>("An operation that was checked and planned: made by the plan_ functions, run as often "
                       "as is wanted, by any thread.")},
    {0, nullptr}};
PyType_Spec plan_spec = {"relayout.Plan", sizeof(PlanObject), 0, Py_TPFLAGS_DEFAULT, plan_slots};

PyObject* call(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return returning([&] {
    Call made;
    read_call(arguments, count, made);
    return run_call(made);
  });
}

PyObject* plan(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return returning([&] { return new_plan(arguments, count); });
}

PyObject* get_workspace_bytes(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return returning([&] {
    Call made;
    read_call(arguments, count, made);
    return Ref::owned(PyLong_FromUnsignedLongLong(workspace_bytes(made)));
  });
}

PyObject* get_chain_dtype(PyObject*, PyObject* arguments) {
  return returning([&] { return Ref::owned(PyUnicode_FromString(chain_dtype(arguments).c_str())); });
}

PyObject* operations(PyObject*, PyObject*) {
  return returning([] {
    Ref list = Ref::owned(PyList_New(0));
    const char* name = nullptr;
    std::int32_t operands = 0;
    for (int i = 0; relayout_operation(i, &name, &operands) == RELAYOUT_OK; ++i) {
      const Ref pair = Ref::owned(Py_BuildValue("(si)", name, static_cast<int>(operands)));
      if (PyList_Append(list.get(), pair.get()) != 0) throw PythonError();
    }
    return list;
  });
}

PyObject* connect(PyObject*, PyObject* arguments) {
  if (PyArg_ParseTuple(arguments, "OOO", &frameworks, &view_type, &error_type) == 0) return nullptr;
  Py_INCREF(frameworks);
  Py_INCREF(view_type);
  Py_INCREF(error_type);
  Py_RETURN_NONE;
}

PyObject* get_cache_info(PyObject*, PyObject*) {
  const CacheInfo info = cache_info();
  return Py_BuildValue("(LLL)", info.hits, info.misses, info.size);
}

PyObject* cache_clear(PyObject*, PyObject*) {
  clear_cache();
  Py_RETURN_NONE;
}

PyObject* gpu_count(PyObject*, PyObject*) {
  return returning([] {
    std::int32_t count = 0;
    check(relayout_gpu_count(&count));
    return Ref::owned(PyLong_FromLong(count));
  });
}

PyMethodDef functions[] = {{"call", any_function(call), kArrayCall, nullptr},
                           {"plan", any_function(plan), kArrayCall, nullptr},
                           {"workspace_bytes", any_function(get_workspace_bytes), kArrayCall, nullptr},
                           {"chain_dtype", get_chain_dtype, METH_VARARGS, nullptr},
                           {"operations", operations, METH_NOARGS, nullptr},
                           {"connect", connect, METH_VARARGS, nullptr},
                           {"cache_info", get_cache_info, METH_NOARGS, nullptr},
                           {"cache_clear", cache_clear, METH_NOARGS, nullptr},
                           {"gpu_count", gpu_count, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "relayout._core", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace relayout::python

PyMODINIT_FUNC PyInit__core() {
  using namespace relayout::python;
  if (relayout_abi_version() != RELAYOUT_ABI_VERSION) {
    PyErr_SetString(PyExc_ImportError,
                    "relayout: the shared library beside the package is of another ABI version");
    return nullptr;
  }
  return returning([] {
    Ref made = Ref::owned(PyModule_Create(&module));
    plan_type = PyType_FromSpec(&plan_spec);
    if (plan_type == nullptr) throw PythonError();
    Py_INCREF(plan_type);
    if (PyModule_AddFunctions(made.get(), group_functions) != 0 ||
        PyModule_AddFunctions(made.get(), redistribute_functions) != 0 ||
        PyModule_AddObject(made.get(), "Plan", plan_type) != 0 ||
        PyModule_AddStringConstant(made.get(), "version", relayout_version()) != 0 ||
        PyModule_AddStringConstant(made.get(), "built_with", relayout_built_with()) != 0)
      throw PythonError();
    return made;
  });
}
