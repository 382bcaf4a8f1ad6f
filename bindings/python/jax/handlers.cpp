// relayout for XLA: two handlers of its foreign function interface, one for buffers of the processor and one
// for those of a GPU. A call's text says what is to be done (plans.hpp); no memory of a device is copied or
// allocated, and nothing is waited for. XLA is used only through its C interface, whose header comes with
// jax.
#include <xla/ffi/api/c_api.h>

#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "bindings/python/jax/plans.hpp"

namespace relayout::jax {
namespace {

constexpr std::size_t kKeptPlans = 256;
constexpr int kProcessor = -1;

relayout_dl_dtype dtype_of(XLA_FFI_DataType type) {
  const auto made = [](int code, int bits) {
    return relayout_dl_dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  };
  switch (type) {
    case XLA_FFI_DataType_PRED:
      return made(RELAYOUT_DL_BOOL, 8);
    case XLA_FFI_DataType_S8:
      return made(RELAYOUT_DL_INT, 8);
    case XLA_FFI_DataType_S16:
      return made(RELAYOUT_DL_INT, 16);
    case XLA_FFI_DataType_S32:
      return made(RELAYOUT_DL_INT, 32);
    case XLA_FFI_DataType_S64:
      return made(RELAYOUT_DL_INT, 64);
    case XLA_FFI_DataType_U8:
      return made(RELAYOUT_DL_UINT, 8);
    case XLA_FFI_DataType_U16:
      return made(RELAYOUT_DL_UINT, 16);
    case XLA_FFI_DataType_U32:
      return made(RELAYOUT_DL_UINT, 32);
    case XLA_FFI_DataType_U64:
      return made(RELAYOUT_DL_UINT, 64);
    case XLA_FFI_DataType_F16:
      return made(RELAYOUT_DL_FLOAT, 16);
    case XLA_FFI_DataType_F32:
      return made(RELAYOUT_DL_FLOAT, 32);
    case XLA_FFI_DataType_F64:
      return made(RELAYOUT_DL_FLOAT, 64);
    case XLA_FFI_DataType_BF16:
      return made(RELAYOUT_DL_BFLOAT, 16);
    case XLA_FFI_DataType_C64:
      return made(RELAYOUT_DL_COMPLEX, 64);
    case XLA_FFI_DataType_C128:
      return made(RELAYOUT_DL_COMPLEX, 128);
    case XLA_FFI_DataType_F8E4M3FN:
      return made(RELAYOUT_DL_FLOAT8_E4M3FN, 8);
    case XLA_FFI_DataType_F8E5M2:
      return made(RELAYOUT_DL_FLOAT8_E5M2, 8);
    default:
      throw Failure("relayout has no element type for number " + std::to_string(type) + " of XLA's");
  }
}

/// A buffer of XLA as a tensor. XLA's dimensions are the array's; where the call names a layout, which lists
/// the axes from the outermost in memory to the innermost, the strides are made from it.
struct Buffer {
  relayout_tensor tensor{};
  std::vector<std::int64_t> strides;

  Buffer(const XLA_FFI_Buffer& given, int device, const std::vector<std::int64_t>& layout) {
    tensor.data = given.data;
    tensor.device = {device == kProcessor ? RELAYOUT_DL_CPU : gpu_memory(),
                     device == kProcessor ? 0 : device};
    tensor.ndim = static_cast<std::int32_t>(given.rank);
    tensor.dtype = dtype_of(given.dtype);
    tensor.shape = given.dims;
    if (layout.empty()) return;
    if (layout.size() != static_cast<std::size_t>(given.rank))
      throw Failure("a layout has another rank than its array");
    strides.resize(layout.size());
    std::int64_t elements = 1;
    for (std::size_t i = layout.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(layout[i]);
      strides.at(axis) = elements;
      elements *= given.dims[axis] > 0 ? given.dims[axis] : 1;
    }
    tensor.strides = strides.data();
  }

  static std::int32_t gpu_memory() {
    return std::strstr(relayout_built_with(), "hip") != nullptr ? RELAYOUT_DL_ROCM : RELAYOUT_DL_CUDA;
  }
};

/// Devices are made once and stay; a driver that has ended must not see them end.
const relayout_device* device_number(int number) {
  static std::mutex& mutex = *new std::mutex;
  static auto& devices = *new std::map<int, relayout_device*>;
  const std::lock_guard<std::mutex> lock(mutex);
  relayout_device*& device = devices[number];
  if (device == nullptr)
    check(number == kProcessor ? relayout_device_cpu(&device) : relayout_device_gpu(number, &device));
  return device;
}

struct StreamCloser {
  void operator()(relayout_stream* stream) const { relayout_stream_destroy(stream); }
};
using StreamHandle = std::unique_ptr<relayout_stream, StreamCloser>;

StreamHandle stream_on(int device, void* native) {
  relayout_stream* stream = nullptr;
  check(device == kProcessor ? relayout_stream_create(device_number(device), &stream)
                             : relayout_stream_from_native(device_number(device), native, &stream));
  return StreamHandle(stream);
}

/// The plans of the last calls.
class Plans {
 public:
  static Plans& instance() {
    static Plans& plans = *new Plans;
    return plans;
  }
  std::shared_ptr<relayout_plan> find(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->second;
  }
  void keep(const std::string& key, const std::shared_ptr<relayout_plan>& plan) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (by_key_.count(key) != 0) return;  // another thread has planned it meanwhile
    entries_.emplace_front(key, plan);
    by_key_[key] = entries_.begin();
    if (entries_.size() <= kKeptPlans) return;
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<relayout_plan>>;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

template <class Value>
void append(std::string& key, const Value& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Equal for calls that one plan can do: text, device, types and shapes, the addresses that stay in a plan,
/// and how the others are aligned.
std::string key_of(const std::string& text, int device, const Slots& slots, const Exchangeable& exchanged) {
  std::string key = text;
  append(key, device);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const relayout_tensor* const tensor = slots[i];
    if (tensor == nullptr) continue;
    bool stays = i != exchanged.out;
    for (const std::size_t input : exchanged.inputs) stays = stays && input != i;
    const auto address = reinterpret_cast<std::uintptr_t>(tensor->data);
    append(key, stays ? address : address % 256);
    append(key, tensor->dtype);
    append(key, tensor->ndim);
    for (std::int32_t axis = 0; axis < tensor->ndim; ++axis) append(key, tensor->shape[axis]);
  }
  return key;
}

void run(const std::string& text, const XLA_FFI_CallFrame& frame, int device, void* native_stream) {
  const Specification specification(text);
  std::vector<std::unique_ptr<Buffer>> buffers;
  const auto add = [&](const void* given) {
    const std::string layout = "layout" + std::to_string(buffers.size());
    buffers.push_back(std::make_unique<Buffer>(*static_cast<const XLA_FFI_Buffer*>(given), device,
                                               specification.integers<std::int64_t>(layout)));
  };
  for (std::int64_t i = 0; i < frame.args.size; ++i) add(frame.args.args[i]);
  for (std::int64_t i = 0; i < frame.rets.size; ++i) add(frame.rets.rets[i]);

  const std::vector<int> given = specification.integers<int>("given");
  Slots slots(slot_count(specification.operation, buffers.size()), nullptr);
  std::size_t next = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (given.empty() || given.at(i) != 0) slots[i] = &buffers.at(next++)->tensor;
  }
  if (next != buffers.size() || slots.size() < 2)
    throw Failure("the buffers of '" + specification.operation + "' do not fit its text");

  const Exchangeable exchanged = exchangeable(specification.operation, slots.size());
  const std::string key = key_of(text, device, slots, exchanged);
  std::shared_ptr<relayout_plan> plan = Plans::instance().find(key);
  if (plan == nullptr) {
    plan.reset(make_plan(specification, slots, device_number(device)), relayout_plan_destroy);
    Plans::instance().keep(key, plan);
  }
  std::vector<const void*> inputs;
  for (const std::size_t i : exchanged.inputs) {
    if (slots[i] != nullptr) inputs.push_back(slots[i]->data);
  }
  const StreamHandle stream = stream_on(device, native_stream);
  check(relayout_run_on(plan.get(), stream.get(), inputs.data(), static_cast<std::int32_t>(inputs.size()),
                        slots[exchanged.out]->data));
}

std::string text_of(const XLA_FFI_Attrs& attributes) {
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const XLA_FFI_ByteSpan& name = *attributes.names[i];
    if (std::string(name.ptr, name.len) != "call" || attributes.types[i] != XLA_FFI_AttrType_STRING) continue;
    const auto& text = *static_cast<const XLA_FFI_ByteSpan*>(attributes.attrs[i]);
    return std::string(text.ptr, text.len);
  }
  throw Failure("the call has no text");
}

XLA_FFI_Error* error_of(const XLA_FFI_CallFrame& frame, const char* sentence) {
  XLA_FFI_Error_Create_Args arguments{};
  arguments.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  arguments.message = sentence;
  arguments.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  return frame.api->XLA_FFI_Error_Create(&arguments);
}

/// When a handler is registered XLA asks for its version and traits, by an extension of an empty call.
bool tells_metadata(const XLA_FFI_CallFrame& frame) {
  if (frame.extension_start == nullptr || frame.extension_start->type != XLA_FFI_Extension_Metadata)
    return false;
  XLA_FFI_Metadata& metadata =
      *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata;
  metadata.api_version.major_version = XLA_FFI_API_MAJOR;
  metadata.api_version.minor_version = XLA_FFI_API_MINOR;
  metadata.traits = XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
  return true;
}

template <class Place>
XLA_FFI_Error* handle(const XLA_FFI_CallFrame& frame, const Place& place) {
  if (tells_metadata(frame) || frame.stage != XLA_FFI_ExecutionStage_EXECUTE) return nullptr;
  try {
    int device = kProcessor;
    void* stream = nullptr;
    if (XLA_FFI_Error* const error = place(device, stream)) return error;
    run(text_of(frame.attrs), frame, device, stream);
    return nullptr;
  } catch (const std::exception& error) {
    return error_of(frame, error.what());
  }
}

}  // namespace
}  // namespace relayout::jax

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* relayout_jax_cpu(XLA_FFI_CallFrame* frame) {
  return relayout::jax::handle(*frame, [](int&, void*&) -> XLA_FFI_Error* { return nullptr; });
}

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* relayout_jax_gpu(XLA_FFI_CallFrame* frame) {
  return relayout::jax::handle(*frame, [&](int& device, void*& stream) -> XLA_FFI_Error* {
    XLA_FFI_Stream_Get_Args stream_arguments{};
    stream_arguments.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
    stream_arguments.ctx = frame->ctx;
    if (XLA_FFI_Error* const error = frame->api->XLA_FFI_Stream_Get(&stream_arguments)) return error;
    stream = stream_arguments.stream;
    XLA_FFI_DeviceOrdinal_Get_Args device_arguments{};
    device_arguments.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE;
    device_arguments.ctx = frame->ctx;
    if (XLA_FFI_Error* const error = frame->api->XLA_FFI_DeviceOrdinal_Get(&device_arguments)) return error;
    device = device_arguments.device_ordinal;
    return nullptr;
  });
}
