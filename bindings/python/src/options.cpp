// Options by their names in Python.
#include <cstring>
#include <map>

#include "bindings/python/src/call.hpp"

namespace relayout::python {
namespace {

constexpr const char* kRoundings[] = {"default", "nearest_even", "nearest_away", "toward_zero", "down", "up"};
constexpr const char* kPrecisions[] = {"accurate", "full", "approximate"};
constexpr const char* kPadModes[] = {"constant",  "replicate", "reflect",
                                     "symmetric", "circular",  "reflect_zero_extended"};
constexpr const char* kRoutes[] = {"operand", "strided_gemm", "direct"};
constexpr const char* kBroadcastings[] = {"numpy", "repeat"};
constexpr const char* kOrders[] = {"tap_outer", "channel_outer"};
constexpr const char* kPolicies[] = {"strict", "extended"};
constexpr const char* kActivations[] = {"none", "silu"};
constexpr const char* kNullOutputs[] = {"zeros", "untouched"};

template <std::size_t kCount>
std::int32_t choice(PyObject* value, const char* name, const char* const (&choices)[kCount]) {
  const std::string given = PyUnicode_Check(value) != 0 ? text_of(value) : "";
  std::string all;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (given == choices[i]) return static_cast<std::int32_t>(i);
    all += (i == 0 ? "" : ", ") + ("'" + std::string(choices[i]) + "'");
  }
  fail(RELAYOUT_INVALID_ARGUMENT, std::string(name) + " must be one of " + all);
}

std::int32_t truth(PyObject* value) {
  const int is_true = PyObject_IsTrue(value);
  if (is_true < 0) throw PythonError();
  return is_true;
}

double floating(PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return number;
}

/// A constant of padding, which is a double: a whole number that no double is would be padded as another one.
double exact_floating(PyObject* value) {
  if (PyIndex_Check(value) == 0) return floating(value);
  const Ref whole = Ref::owned(PyNumber_Index(value));
  const double number = PyLong_AsDouble(whole.get());
  const bool overflows = number == -1 && PyErr_Occurred() != nullptr;
  if (overflows) PyErr_Clear();
  const Ref back = overflows ? Ref() : Ref::owned(PyLong_FromDouble(number));
  if (overflows || PyObject_RichCompareBool(back.get(), whole.get(), Py_EQ) != 1)
    fail(RELAYOUT_LITERAL_RANGE,
         "a padding constant is an f64, and no f64 is the whole number that was given");
  return number;
}

using Reader = void (*)(PyObject*, Options&);

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all = {
      {"alpha", [](PyObject* value, Options& o) { o.copy.alpha = floating(value); }},
      {"beta", [](PyObject* value, Options& o) { o.copy.beta = floating(value); }},
      {"cast_rounding",
       [](PyObject* value, Options& o) {
         o.copy.rounding = o.elementwise.cast_rounding = choice(value, "cast_rounding", kRoundings);
       }},
      {"saturate_fp8",
       [](PyObject* value, Options& o) { o.copy.saturate_fp8 = o.elementwise.saturate_fp8 = truth(value); }},
      {"saturate_integers",
       [](PyObject* value, Options& o) {
         o.copy.saturate_integers = o.elementwise.saturate_integers = truth(value);
       }},
      {"broadcasting",
       [](PyObject* value, Options& o) {
         o.elementwise.repeat = choice(value, "broadcasting", kBroadcastings);
       }},
      {"rounding",
       [](PyObject* value, Options& o) { o.elementwise.rounding = choice(value, "rounding", kRoundings); }},
      {"precision", [](PyObject* value,
                       Options& o) { o.elementwise.precision = choice(value, "precision", kPrecisions); }},
      {"flush_to_zero", [](PyObject* value, Options& o) { o.elementwise.flush_to_zero = truth(value); }},
      {"equal_nan", [](PyObject* value, Options& o) { o.elementwise.equal_nan = truth(value); }},
      {"rtol", [](PyObject* value, Options& o) { o.elementwise.rtol = floating(value); }},
      {"atol", [](PyObject* value, Options& o) { o.elementwise.atol = floating(value); }},
      {"dtype",
       [](PyObject* value, Options& o) {
         o.dtype = dtype_named(text_of(value));
         o.elementwise.cast_out = 1;
         if (o.dtype.code == 255)
           fail(RELAYOUT_DTYPE, "relayout has no element type '" + text_of(value) + "'");
       }},
      {"left", [](PyObject* value, Options& o) { o.pad.left = integer_of(value); }},
      {"right", [](PyObject* value, Options& o) { o.pad.right = integer_of(value); }},
      {"mode", [](PyObject* value, Options& o) { o.pad.mode = choice(value, "mode", kPadModes); }},
      {"value", [](PyObject* value, Options& o) { o.pad.value = exact_floating(value); }},
      {"policy", [](PyObject* value, Options& o) { o.pad.extended = choice(value, "policy", kPolicies); }},
      {"taps", [](PyObject* value, Options& o) { o.window.taps = integer_of(value); }},
      {"stride", [](PyObject* value, Options& o) { o.window.stride = integer_of(value); }},
      {"dilation", [](PyObject* value, Options& o) { o.window.dilation = integer_of(value); }},
      {"groups", [](PyObject* value, Options& o) { o.window.groups = integer_of(value); }},
      {"order",
       [](PyObject* value, Options& o) { o.window.channel_outer = choice(value, "order", kOrders); }},
      {"activation", [](PyObject* value, Options& o) { o.silu = choice(value, "activation", kActivations); }},
      {"null_index",
       [](PyObject* value, Options& o) {
         const std::int64_t index = integer_of(value);
         if (index < INT32_MIN || index > INT32_MAX)
           fail(RELAYOUT_INVALID_ARGUMENT, "null_index is " + std::to_string(index) + ", which no i32 is");
         o.null_index = static_cast<std::int32_t>(index);
       }},
      {"null_output",
       [](PyObject* value, Options& o) { o.null_untouched = choice(value, "null_output", kNullOutputs); }},
      {"block_size", [](PyObject* value, Options& o) { o.block_size = integer_of(value); }},
      {"state_length", [](PyObject* value, Options& o) { o.state_length = integer_of(value); }},
      {"route", [](PyObject* value, Options& o) { o.route = choice(value, "route", kRoutes); }},
      {"axes", [](PyObject* value, Options& o) {
         std::int64_t axes[kMaxRank] = {};
         o.axis_count = integers_of(value, axes, kMaxRank, "axes");
         for (int i = 0; i < o.axis_count; ++i) {
           if (axes[i] < INT32_MIN || axes[i] > INT32_MAX)
             fail(RELAYOUT_INVALID_ARGUMENT, "axes holds " + std::to_string(axes[i]) + ", which is no axis");
           o.axes[i] = static_cast<std::int32_t>(axes[i]);
         }
       }}};
  return all;
}

/// The functions that take options by any name, in groups; all others name what they take.
enum Takers : unsigned { kCopies = 1, kPermute = 2, kFill = 4, kChains = 8, kOthers = 16 };

unsigned group_of(Op op) {
  switch (op) {
    case Op::permute:
      return kCopies | kPermute;
    case Op::transpose:
    case Op::copy:
    case Op::cast:
      return kCopies;
    case Op::fill:
      return kFill;
    case Op::chain:
      return kChains;
    default:
      return kOthers;
  }
}

bool takes(Op op, const std::string& option) {
  static const std::map<std::string, unsigned> takers = {{"alpha", kCopies},
                                                         {"beta", kCopies},
                                                         {"axes", kPermute},
                                                         {"dtype", kCopies | kChains},
                                                         {"cast_rounding", kCopies | kFill | kChains},
                                                         {"saturate_fp8", kCopies | kFill | kChains},
                                                         {"saturate_integers", kCopies | kFill | kChains},
                                                         {"broadcasting", kChains},
                                                         {"rounding", kChains},
                                                         {"precision", kChains},
                                                         {"flush_to_zero", kChains},
                                                         {"equal_nan", kChains},
                                                         {"rtol", kChains},
                                                         {"atol", kChains}};
  const unsigned group = group_of(op);
  const auto found = takers.find(option);
  return group == kOthers || (found != takers.end() && (found->second & group) != 0);
}

}  // namespace

const Options& default_options() {
  static const Options defaults = [] {
    Options made;
    std::memset(static_cast<void*>(&made), 0, sizeof made);  // no byte of a key is undefined
    check(relayout_copy_options_init(&made.copy, sizeof made.copy));
    check(relayout_elementwise_options_init(&made.elementwise, sizeof made.elementwise));
    check(relayout_pad_options_init(&made.pad, sizeof made.pad));
    check(relayout_window_options_init(&made.window, sizeof made.window));
    made.axis_count = -1;
    made.null_index = -1;
    return made;
  }();
  return defaults;
}

void read_options(PyObject* dictionary, Options& options, Op op) {
  std::memcpy(static_cast<void*>(&options), &default_options(), sizeof options);
  if (dictionary == Py_None) return;
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dictionary, &position, &name, &value) != 0) {
    if (value == Py_None) continue;
    const std::string option = text_of(name);
    const auto reader = readers().find(option);
    if (reader == readers().end()) fail(PyExc_TypeError, "there is no option '" + option + "'");
    if (!takes(op, option)) fail(PyExc_TypeError, "this function has no option '" + option + "'");
    reader->second(value, options);
  }
}

}  // namespace relayout::python
