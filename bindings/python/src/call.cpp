#include "bindings/python/src/call.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>

namespace relayout::python {
namespace {

/// What holds for an operand beside its name, which messages give.
enum Role : unsigned {
  kOptional = 1,  // it may be None
  kMoves = 2,     // relayout_run_on replaces it
  kWritten = 4    // the call writes to it besides its output
};
struct OperandRole {
  const char* name;
  unsigned roles = 0;
  bool is(Role role) const { return (roles & role) != 0; }
};

constexpr OperandRole kOneOperand[] = {{"x", kMoves}};
constexpr OperandRole kDepthwise[] = {{"x", kMoves},
                                      {"weights"},
                                      {"bias", kOptional},
                                      {"initial_state", kOptional},
                                      {"final_state", kOptional | kWritten},
                                      {"sequence_ids", kOptional}};
constexpr OperandRole kUpdate[] = {{"state", kWritten},
                                   {"x", kMoves},
                                   {"weights"},
                                   {"bias", kOptional},
                                   {"state_indices", kOptional},
                                   {"cache_seqlens", kOptional},
                                   {"num_accepted_tokens", kOptional},
                                   {"query_start_loc", kOptional},
                                   {"initial_block", kOptional},
                                   {"last_block", kOptional}};
constexpr OperandRole kVarlen[] = {{"x", kMoves},
                                   {"query_start_loc"},
                                   {"weights"},
                                   {"bias", kOptional},
                                   {"states", kOptional | kWritten},
                                   {"state_indices", kOptional},
                                   {"has_initial_state", kOptional},
                                   {"initial_block", kOptional},
                                   {"last_block", kOptional},
                                   {"first_block", kOptional},
                                   {"computed_tokens", kOptional}};
constexpr OperandRole kVarlenStates[] = {{"x", kMoves}, {"query_start_loc"}};
constexpr OperandRole kGemm[] = {{"a", kMoves}, {"bt"}, {"bias", kOptional}, {"workspace", kOptional}};
constexpr OperandRole kConv[] = {{"x", kMoves}, {"weights"}, {"bias", kOptional}};
constexpr OperandRole kBackward[] = {{"x", kMoves},
                                     {"d_out", kMoves},
                                     {"workspace", kOptional | kMoves | kWritten},
                                     {"weights"},
                                     {"bias", kOptional},
                                     {"initial_state", kOptional},
                                     {"sequence_ids", kOptional},
                                     {"d_final_state", kOptional},
                                     {"d_weights", kOptional | kWritten},
                                     {"d_bias", kOptional | kWritten},
                                     {"d_initial_state", kOptional | kWritten}};

/// "operand 3". Names are made once, since hardly one is ever read. Guarded by Python's lock.
const char* numbered_operand(int i) {
  static std::deque<std::string> names;
  while (static_cast<std::size_t>(i) >= names.size())
    names.push_back("operand " + std::to_string(names.size()));
  return names[static_cast<std::size_t>(i)].c_str();
}

template <std::size_t kCount>
OperandRole one_of(const OperandRole (&operands)[kCount], int i) {
  if (static_cast<std::size_t>(i) >= kCount) fail(PyExc_TypeError, "a call has too many operands");
  return operands[i];
}

OperandRole role_of(Op op, int i) {
  switch (op) {
    case Op::chain:
    case Op::quantized:
      return {numbered_operand(i), kMoves};
    case Op::depthwise_conv1d:
      return one_of(kDepthwise, i);
    case Op::depthwise_update:
      return one_of(kUpdate, i);
    case Op::depthwise_varlen:
      return one_of(kVarlen, i);
    case Op::depthwise_varlen_states:
      return one_of(kVarlenStates, i);
    case Op::gemm:
      return one_of(kGemm, i);
    case Op::conv1d:
      return one_of(kConv, i);
    case Op::depthwise_conv1d_backward:
      return one_of(kBackward, i);
    default:
      return one_of(kOneOperand, i);
  }
}

Tensor& add_tensor(Call& call, PyObject* object, const char* name) {
  call.tensors.emplace_back(new Tensor);  // without setting shape and strides, of which few are used
  describe(object, name, *call.tensors.back(), call.stream);
  return *call.tensors.back();
}

/// Not a scalar of numpy, which has a type of its own, though one of f64 is a float, too.
bool is_pythons_number(PyObject* object) {
  return PyFloat_CheckExact(object) != 0 || PyLong_Check(object) != 0 ||
         (PyFloat_Check(object) != 0 && PyObject_HasAttrString(object, "__array_struct__") == 0);
}
/// A scale or a zero point: a number, or a tensor, which stays where it was planned.
template <class Number>
void read_code_number(Call& call, PyObject* object, const char* name, Number& number,
                      const relayout_tensor*& tensor) {
  if (is_number(object)) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
    if constexpr (std::is_integral_v<Number>) {
      if (!(value >= INT32_MIN && value <= INT32_MAX) || std::trunc(value) != value)
        fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " must be a whole number of 32 bits");
    }
    number = static_cast<Number>(value);
    return;
  }
  const Tensor& described = add_tensor(call, object, name);
  call.pinned.push_back(&described);
  tensor = &described.dl;
}

/// (tensor, scale, zero) are codes. Null where the tensor is None, an output that is to be made.
Tensor* read_codes(Call& call, PyObject* tuple, const char* name, relayout_operand& operand) {
  PyObject *codes = nullptr, *scale = nullptr, *zero = nullptr;
  if (PyArg_ParseTuple(tuple, "OOO", &codes, &scale, &zero) == 0) throw PythonError();
  operand.kind = RELAYOUT_OPERAND_CODES;
  Tensor* const described = codes != Py_None ? &add_tensor(call, codes, name) : nullptr;
  operand.tensor = described != nullptr ? &described->dl : nullptr;
  read_code_number(call, scale, "scale", operand.scale, operand.scales);
  read_code_number(call, zero, "zero", operand.zero, operand.zeros);
  return described;
}

/// Operations whose operands may be numbers, and those whose operands or outputs may be codes with a scale.
bool takes_numbers(Op op) { return op == Op::chain || op == Op::quantized || op == Op::fill; }
bool takes_codes(Op op) { return op == Op::chain || op == Op::quantized || op == Op::dequantize; }
bool makes_codes(Op op) { return op == Op::chain || op == Op::quantized || op == Op::quantize; }

[[noreturn]] void fail_operand(const char* name, const char* given) {
  fail(PyExc_TypeError, std::string(name) + " must be a tensor, not " + given);
}

void read_operand(Call& call, int i, PyObject* object) {
  relayout_operand operand{};
  const OperandRole role = role_of(call.op, i);
  if (is_pythons_number(object)) {
    if (!takes_numbers(call.op)) fail_operand(role.name, "a number");
    read_constant(object, operand);
  } else if (PyTuple_Check(object) != 0) {
    if (!takes_codes(call.op)) fail_operand(role.name, "codes with a scale");
    const Tensor* const codes = read_codes(call, object, role.name, operand);
    if (codes == nullptr) fail_operand(role.name, "None");
    call.inputs.push_back(codes);
  } else if (object != Py_None || !role.is(kOptional)) {
    Tensor& described = add_tensor(call, object, role.name);
    operand.tensor = &described.dl;
    described.written = role.is(kWritten);
    if (described.written) check_writable(described, role.name);
    (role.is(kMoves) ? call.inputs : call.pinned).push_back(&described);
  }
  call.operands.push_back(operand);
}

/// Axes as numpy takes them: none reverses all, and negative ones count from the last.
void normalise_axes(Call& call) {
  Options& o = call.options;
  const int rank = call.prototype().dl.ndim;
  if (o.axis_count < 0) {
    o.axis_count = rank;
    for (int axis = 0; axis < rank; ++axis) o.axes[axis] = rank - 1 - axis;
  }
  for (int i = 0; i < o.axis_count; ++i) {
    if (o.axes[i] < 0 && o.axes[i] >= -rank) o.axes[i] += rank;
  }
}

/// An output of another type than the one that was asked for by name.
void check_dtype(const Call& call) {
  const relayout_dl_dtype asked = call.options.dtype;
  const bool named = call.op == Op::quantize || call.out_operand.kind != RELAYOUT_OPERAND_CODES;
  if (asked.bits == 0 || call.out == nullptr || !named) return;
  if (std::memcmp(&asked, &call.out->dl.dtype, sizeof asked) != 0) {
    fail(RELAYOUT_DTYPE, "dtype is " + dtype_name(asked) + ", and out is " + to_string(*call.out));
  }
}

}  // namespace

bool is_number(PyObject* object) {
  return is_pythons_number(object) ||
         asked([&] { return PyObject_CallMethod(frameworks, "is_number", "O", object); }).get() == Py_True;
}

void read_constant(PyObject* object, relayout_operand& operand) {
  if (PyBool_Check(object) != 0) {
    operand.kind = RELAYOUT_OPERAND_BOOLEAN;
    operand.integer = object == Py_True ? 1 : 0;
  } else if (PyFloat_Check(object) != 0) {
    operand.kind = RELAYOUT_OPERAND_FLOATING;
    operand.floating = PyFloat_AsDouble(object);
  } else {
    operand.kind = RELAYOUT_OPERAND_INTEGER;
    operand.integer = PyLong_AsLongLong(object);
    if (operand.integer == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw PythonError();
      PyErr_Clear();
      operand.kind = RELAYOUT_OPERAND_UNSIGNED;
      operand.integer = static_cast<std::int64_t>(PyLong_AsUnsignedLongLong(object));
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        fail(RELAYOUT_LITERAL_RANGE, "a constant that needs more than 64 bits has no element type");
      }
    }
  }
}

void read_steps(PyObject* steps, Call& call) {
  const std::vector<const char*>& names = operation_names();
  const auto add = [&](std::int64_t operation, std::int64_t running) {
    if (operation < 0 || operation >= static_cast<std::int64_t>(names.size()))
      fail(RELAYOUT_INVALID_ARGUMENT, "there is no operation number " + std::to_string(operation));
    call.steps.push_back({names[static_cast<std::size_t>(operation)], static_cast<std::int32_t>(running), 0});
  };
  if (steps == Py_None) return;
  if (PyLong_Check(steps) != 0) return add(integer_of(steps), 0);
  const Py_ssize_t count = PyTuple_Size(steps);
  if (count < 0) throw PythonError();
  for (Py_ssize_t i = 0; i < count; ++i) {
    std::int64_t pair[2] = {};
    integers_of(PyTuple_GetItem(steps, i), pair, 2, "a step");
    if (pair[1] < 0 || pair[1] > INT32_MAX)
      fail(RELAYOUT_INVALID_ARGUMENT, "no operand has the number " + std::to_string(pair[1]));
    add(pair[0], pair[1]);
  }
}

const Tensor& Call::place() const {
  for (const auto& tensor : tensors) {
    if (tensor->on_gpu()) return *tensor;
  }
  if (tensors.empty()) fail(RELAYOUT_INVALID_ARGUMENT, "one operand at least must be a tensor");
  return *tensors[0];
}

const std::vector<const char*>& operation_names() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all;
    const char* name = nullptr;
    std::int32_t operands = 0;
    for (int i = 0; relayout_operation(i, &name, &operands) == RELAYOUT_OK; ++i) all.push_back(name);
    return all;
  }();
  return names;
}

void set_output(Call& call, PyObject* object) {
  Tensor* described = nullptr;
  if (PyTuple_Check(object) != 0) {
    if (!makes_codes(call.op)) fail_operand("out", "codes with a scale");
    described = read_codes(call, object, "out", call.out_operand);
    if (described == nullptr && call.op == Op::quantize) return;
    if (described == nullptr) fail_operand("out", "None");
  } else {
    described = &add_tensor(call, object, "out");
    call.out_operand.tensor = &described->dl;
  }
  check_writable(*described);
  call.out = described;
}

void Call::make_room(std::size_t count) {
  tensors.reserve(count + 1);
  inputs.reserve(count);
}

void read_call(PyObject* const* arguments, Py_ssize_t count, Call& call) {
  if (count != 5 || PyTuple_Check(arguments[2]) == 0)
    fail(PyExc_TypeError, "a call has five arguments, and operands are a tuple");
  PyObject *const steps = arguments[1], *const operands = arguments[2], *const out = arguments[3],
                  *const options = arguments[4];
  const std::int64_t op = integer_of(arguments[0]);
  if (op < 0 || op >= static_cast<int>(Op::count)) fail(PyExc_ValueError, "there is no such function");
  call.op = static_cast<Op>(op);
  read_options(options, call.options, call.op);
  read_steps(steps, call);
  const Py_ssize_t given = PyTuple_Size(operands);
  call.make_room(static_cast<std::size_t>(given));
  call.operands.reserve(static_cast<std::size_t>(given));
  for (Py_ssize_t i = 0; i < given; ++i)
    read_operand(call, static_cast<int>(i), PyTuple_GetItem(operands, i));
  if (out != Py_None) set_output(call, out);
  if (call.op == Op::permute) normalise_axes(call);
  if (call.op == Op::conv1d && !call.pinned.empty() && call.pinned[0]->dl.ndim == 3)
    call.options.window.taps = call.pinned[0]->shape[2];
  check_dtype(call);
  make_key(call);
}

}  // namespace relayout::python
