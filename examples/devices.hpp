// The devices that an example runs on.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace example {

/// The processor, the emulated GPU and the first GPU: what this program was built with and this machine has.
inline std::vector<relayout::Device> devices() {
  using relayout::Device;
  const std::vector<std::string> built = Device::built_with();
  std::vector<Device> all{Device::cpu()};
  if (std::find(built.begin(), built.end(), "emulator") != built.end()) all.push_back(Device::emulated(32));
  if (Device::gpu_count() > 0) all.push_back(Device::gpu());
  return all;
}

}  // namespace example
