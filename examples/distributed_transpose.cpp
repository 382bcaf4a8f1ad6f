// A matrix whose rows are distributed over several devices, and its transpose, distributed likewise, rounded
// to bf16 on the way: one planned redistribution instead of permute, all-to-all and permute. On all GPUs of
// the machine in one process; where there are none, on four ranks of the processor. The exit code is 0, or 1
// where an element is wrong.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

namespace {

using namespace relayout;

/// A whole number below 256, which bf16 holds exactly.
float element(std::int64_t row, std::int64_t column) {
  return static_cast<float>((row * 31 + column * 7) % 256);
}

std::uint16_t bf16_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

std::vector<Device> all_gpus() {
  std::vector<Device> devices;
  devices.reserve(static_cast<std::size_t>(Device::gpu_count()));
  for (int i = 0; i < Device::gpu_count(); ++i) devices.push_back(Device::gpu(i));
  return devices;
}

}  // namespace

int main() {
  const std::vector<Device> gpus = all_gpus();
  const Group group = gpus.empty() ? Group::emulated(4, Device::cpu()) : Group(gpus);
  const std::int64_t rows = gpus.empty() ? 301 : 8192, columns = gpus.empty() ? 190 : 12288;
  const Distribution in = Distribution::split({rows, columns}, 0, group.ranks()),
                     out = Distribution::split({columns, rows}, 0, group.ranks());
  const RedistributePlan plan = plan_redistribute(group, in, {1, 0}, out, DType::f32, DType::bf16);
  std::printf("%s\n", plan.explain().c_str());

  // Each rank's rows, and room for its rows of the transpose.
  std::vector<Buffer> inputs, outputs, workspaces;
  std::vector<const void*> from;
  std::vector<void*> to, workspace;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const Stream& stream = group.stream(rank);
    const Box& box = in.box(rank);
    std::vector<float> values;
    for (std::int64_t row = box.begin[0]; row < box.end[0]; ++row)
      for (std::int64_t column = 0; column < columns; ++column) values.push_back(element(row, column));
    inputs.emplace_back(stream.device(), values.size() * sizeof(float));
    outputs.emplace_back(stream.device(), static_cast<std::size_t>(out.box(rank).elements()) * 2);
    workspaces.emplace_back(stream.device(), plan.workspace_bytes(rank));
    stream.copy(inputs.back().data(), values.data(), inputs.back().bytes());
    stream.synchronize();
    from.push_back(inputs.back().data());
    to.push_back(outputs.back().data());
    workspace.push_back(workspaces.back().data());
  }

  plan.run(from, to, workspace);

  std::int64_t wrong = 0;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const Box& box = out.box(rank);
    std::vector<std::uint16_t> values(static_cast<std::size_t>(box.elements()));
    const Stream& stream = group.stream(rank);  // which goes on when its output is complete
    stream.copy(values.data(), to[static_cast<std::size_t>(rank)], values.size() * 2);
    stream.synchronize();
    std::size_t next = 0;
    for (std::int64_t column = box.begin[0]; column < box.end[0]; ++column)
      for (std::int64_t row = 0; row < rows; ++row)
        if (values[next++] != bf16_bits(element(row, column))) ++wrong;
  }
  std::printf("%s of %s elements are wrong\n", std::to_string(wrong).c_str(),
              std::to_string(rows * columns).c_str());
  return wrong == 0 ? 0 : 1;
}
