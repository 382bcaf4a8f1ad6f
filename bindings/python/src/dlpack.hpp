// The parts of DLPack that Python objects hand over. The tensor itself is relayout_tensor, which is a
// DLTensor.
#pragma once

#include <cstdint>

#include "bindings/c/relayout.h"

namespace relayout::python {

struct DLPackVersion {
  std::uint32_t major, minor;
};

/// A tensor with its owner, as __dlpack__ gave it before DLPack 1: a capsule named "dltensor".
struct DLManagedTensor {
  relayout_tensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};

/// The same since DLPack 1: a capsule named "dltensor_versioned".
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  relayout_tensor tensor;
};
constexpr std::uint64_t kReadOnly = 1;

/// What a type offers as __dlpack_c_exchange_api__, a capsule named "dlpack_exchange_api" (DLPack 1.3).
struct DLPackExchangeAPI {
  DLPackVersion version;
  DLPackExchangeAPI* previous;
  int (*allocate)(relayout_tensor* prototype, DLManagedTensorVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*from_object)(void* object, DLManagedTensorVersioned** out);
  int (*to_object)(DLManagedTensorVersioned* tensor, void** object);
  int (*view_object)(void* object, relayout_tensor* out);  ///< may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

/// The table of the major version that this file describes, among a type's; null without one.
inline const DLPackExchangeAPI* usable(const DLPackExchangeAPI* table) {
  while (table != nullptr && table->version.major != 1) table = table->previous;
  return table;
}

}  // namespace relayout::python
