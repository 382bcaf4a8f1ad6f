// Green contexts, which came with CUDA 12.4 and their streams with 12.5.
#include <cuda.h>

#include <array>
#include <map>
#include <mutex>

#include "runtime.hpp"

namespace relayout::RELAYOUT_BACKEND::runtime {

#if CUDA_VERSION >= 12050

namespace {

constexpr unsigned kSince = 12050;

struct Halves {
  bool exist = false;
  std::array<CUgreenCtx, 2> contexts{};
};

Halves divide(int number) {
  auto* const device_of = driver_function<decltype(cuDeviceGet)>("cuDeviceGet");
  auto* const resource_of =
      driver_function<decltype(cuDeviceGetDevResource)>("cuDeviceGetDevResource", kSince);
  auto* const split =
      driver_function<decltype(cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount", kSince);
  auto* const describe =
      driver_function<decltype(cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc", kSince);
  auto* const create = driver_function<decltype(cuGreenCtxCreate)>("cuGreenCtxCreate", kSince);
  if (device_of == nullptr || resource_of == nullptr || split == nullptr || describe == nullptr ||
      create == nullptr)
    return {};
  CUdevice device = 0;
  CUdevResource all{}, parts[2] = {};
  unsigned groups = 1;
  if (device_of(&device, number) != CUDA_SUCCESS ||
      resource_of(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
      split(&parts[0], &groups, &all, &parts[1], 0, all.sm.smCount / 2) != CUDA_SUCCESS ||
      parts[1].sm.smCount == 0)
    return {};
  Halves halves;
  for (std::size_t half = 0; half < 2; ++half) {
    CUdevResourceDesc description{};
    if (describe(&description, &parts[half], 1) != CUDA_SUCCESS ||
        create(&halves.contexts[half], description, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
      return {};
  }
  halves.exist = true;
  return halves;
}

}  // namespace

Status create_half_stream(Stream* stream, int device, int half) {
  static std::mutex mutex;
  static std::map<int, Halves> devices;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = devices.try_emplace(device);
  if (is_new) place->second = divide(device);
  auto* const create = driver_function<decltype(cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate", kSince);
  if (!place->second.exist || create == nullptr) return cudaErrorNotSupported;
  const CUresult result =
      create(stream, place->second.contexts[static_cast<std::size_t>(half)], CU_STREAM_NON_BLOCKING, 0);
  return result == CUDA_SUCCESS ? kSuccess : cudaErrorNotSupported;
}

#else

Status create_half_stream(Stream*, int, int) { return cudaErrorNotSupported; }

#endif

}  // namespace relayout::RELAYOUT_BACKEND::runtime
