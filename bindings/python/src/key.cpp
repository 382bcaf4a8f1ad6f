// What tells calls apart that one plan cannot do both.
#include <cstring>

#include "bindings/python/src/call.hpp"

namespace relayout::python {
namespace {

/// Writes the parts of a key, each at once and into room that was made before: there are many.
class KeyWriter {
 public:
  explicit KeyWriter(char* room) : at_(room) {}

  template <class T>
  void add(const T& value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  /// Type, place, extents, strides, and how far the address is from the last multiple of 16.
  void add_layout(const Tensor& tensor) {
    add(tensor.dl.dtype);
    add(tensor.dl.device);
    add(tensor.dl.ndim);
    for (int axis = 0; axis < tensor.dl.ndim; ++axis) {
      add(tensor.shape[axis]);
      add(tensor.strides[axis]);
    }
    add(static_cast<char>(reinterpret_cast<std::uintptr_t>(tensor.data()) % 16));
  }
  void add_operand(const relayout_operand& operand) {
    add(operand.kind);
    add(operand.zero);
    add(operand.scale);
    add(operand.floating);
    add(operand.integer);
    add(static_cast<char>((operand.tensor != nullptr) + 2 * (operand.scales != nullptr) +
                          4 * (operand.zeros != nullptr)));
  }
  const char* end() const { return at_; }

 private:
  char* at_;
};

/// As many bytes as the key can have.
std::size_t most_key_bytes(const Call& call) {
  constexpr std::size_t kLayoutBytes = 2 * sizeof(relayout_tensor);  // but for extents and strides
  std::size_t bytes = 64 + sizeof call.options + call.steps.size() * sizeof(relayout_step) +
                      (call.operands.size() + 1) * sizeof(relayout_operand);
  for (const auto& tensor : call.tensors)
    bytes += kLayoutBytes + 2 * sizeof(std::int64_t) * static_cast<std::size_t>(tensor->dl.ndim);
  return bytes;
}

}  // namespace

void make_key(Call& call) {
  call.key.resize(most_key_bytes(call));
  KeyWriter key(call.key.data());
  key.add(call.op);
  // Most calls have no options, and short keys are found sooner.
  const bool defaults = std::memcmp(&call.options, &default_options(), sizeof call.options) == 0;
  key.add(defaults);
  if (!defaults) key.add(call.options);
  for (const relayout_step& step : call.steps) {
    key.add(step.operation);  // names are constants of the library: equal ones have one address
    key.add(step.running);
  }
  for (const relayout_operand& operand : call.operands) key.add_operand(operand);
  for (const Tensor* tensor : call.inputs) key.add_layout(*tensor);
  for (const Tensor* tensor : call.pinned) {
    key.add_layout(*tensor);
    key.add(tensor->data());
  }
  // What is planned for an update in place does not depend on the address, but on both being one.
  const bool in_place = call.op == Op::depthwise_update && call.out != nullptr && !call.inputs.empty() &&
                        call.out->data() == call.inputs[0]->data();
  key.add(in_place ? 'p' : call.out != nullptr ? 'o' : 'n');
  if (call.out != nullptr) key.add_layout(*call.out);
  if (call.out_operand.kind == RELAYOUT_OPERAND_CODES) key.add_operand(call.out_operand);
  call.key.resize(static_cast<std::size_t>(key.end() - call.key.data()));
}

}  // namespace relayout::python
