#include "data.hpp"

#include <unistd.h>

#include <cmath>
#include <string>

#include "input_error.hpp"

namespace example {
namespace {

using relayout::DType;
using relayout::TensorView;

std::uint64_t mix(std::uint64_t x) noexcept {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

HostTensor allocate(const relayout::Device& device, DType dtype, const relayout::Dims& shape) {
  const TensorView sized(nullptr, dtype, shape);
  HostTensor tensor{{device, static_cast<std::size_t>(sized.elements()) * relayout::size_of(dtype)}, {}};
  tensor.view = TensorView(tensor.memory.data(), dtype, shape);
  return tensor;
}

HostTensor read(const relayout::Device& device, NpyFile& file) {
  HostTensor tensor{{device, file.data_bytes()}, {}};
  file.read(tensor.memory.data());
  tensor.view = file.view(tensor.memory.data());
  return tensor;
}

/// Number i of the stream goes to the i-th element in C order of the view: equal data whatever the layout in
/// memory.
void generate(const TensorView& view, std::uint64_t seed, double scale) {
  relayout::Dims index(static_cast<std::size_t>(view.rank()), 0);
  float* const values = static_cast<float*>(view.data());
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < view.elements(); ++i) {
    values[offset] = static_cast<float>(normal(seed, static_cast<std::uint64_t>(i)) * scale);
    for (int axis = view.rank() - 1; axis >= 0; --axis) {
      std::int64_t& position = index[static_cast<std::size_t>(axis)];
      offset += view.stride(axis);
      if (++position < view.extent(axis)) break;
      offset -= position * view.stride(axis);
      position = 0;
    }
  }
}

/// [ci, hk] as [ci, 1, hk]: as many groups as channels.
TensorView with_group_axis(const TensorView& view) {
  return TensorView(view.data(), view.dtype(), {view.extent(0), 1, view.extent(1)},
                    {view.stride(0), view.extent(1), view.stride(1)});
}

TensorView with_batch_axis(const TensorView& view) {
  if (view.rank() == 3) return view;
  return TensorView(view.data(), view.dtype(), {1, view.extent(0), view.extent(1)},
                    {view.elements(), view.stride(0), view.stride(1)});
}

float as_float(const TensorView& view, std::int64_t index) {
  switch (view.dtype()) {
    case DType::f16:
      return relayout::to_float(static_cast<const relayout::f16*>(view.data())[index]);
    case DType::f64:
      return static_cast<float>(static_cast<const double*>(view.data())[index]);
    default:
      return static_cast<const float*>(view.data())[index];
  }
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) noexcept { return mix(mix(seed) ^ index); }

double normal(std::uint64_t seed, std::uint64_t index) noexcept {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  const double u = (static_cast<double>(random_bits(seed, 2 * index) >> 11) + 0.5) * kUnit;
  const double v = static_cast<double>(random_bits(seed, 2 * index + 1) >> 11) * kUnit;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);  // Box and Muller
}

Data load(const relayout::Device& device, const Arguments& arguments, Job& job) {
  const relayout::Conv1d& p = job.problem;
  // The processor's own memory is not pinned for another device.
  const relayout::Device of_input = arguments.pinned_input ? device : relayout::Device::cpu();
  Data data;
  if (job.input) {
    data.input = read(of_input, *job.input);
    data.input.view = with_batch_axis(data.input.view);
  } else {
    data.input = allocate(of_input, DType::f32,
                          arguments.channels_last ? relayout::Dims{p.batch, p.length, p.in_channels}
                                                  : relayout::Dims{p.batch, p.in_channels, p.length});
  }
  if (arguments.channels_last) data.input.view = data.input.view.permuted({0, 2, 1});
  if (!job.input) generate(data.input.view, 3 * arguments.seed, 1.0);

  if (job.weight) {
    data.weights = read(device, *job.weight);
    if (arguments.depthwise) data.weights.view = with_group_axis(data.weights.view);
  } else {
    data.weights =
        allocate(device, DType::f32, {p.out_channels, p.in_channels / p.window.groups, p.window.taps});
    generate(data.weights.view, 3 * arguments.seed + 1,
             1.0 / std::sqrt(static_cast<double>(job.sizes.depth)));
  }

  if (job.bias) {
    const HostTensor stored = read(device, *job.bias);
    data.bias = allocate(device, DType::f32, {p.out_channels});
    for (std::int64_t i = 0; i < p.out_channels; ++i) {
      static_cast<float*>(data.bias.memory.data())[i] = as_float(stored.view, i);
    }
  } else if (!job.weight) {
    data.bias = allocate(device, DType::f32, {p.out_channels});
    generate(data.bias.view, 3 * arguments.seed + 2, 1.0);
  }
  return data;
}

void check_memory_need(const Arguments& arguments, const Job& job, const relayout::Device& device) {
  // Input, staging, the 16-bit matrices that are copied back and, on a device that is this machine, the
  // pipeline's own.
  const double input = static_cast<double>(job.problem.batch) * static_cast<double>(job.problem.in_channels) *
                       static_cast<double>(job.problem.length);
  const bool keeps_operand = !arguments.no_verify || !arguments.dump_a.empty();
  const double operand = static_cast<double>(job.sizes.operand_elements) * 2,
               output = static_cast<double>(job.sizes.output_elements) * 2,
               weights = static_cast<double>(job.sizes.weight_elements) * 6;
  double need = input * 6 + output + (keeps_operand ? operand : 0.0) + weights;
  if (device.kind() != relayout::DeviceKind::gpu) need += input * 4 + operand + output + weights;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (need > memory) {
    throw InputError("The problem needs " + std::to_string(static_cast<std::int64_t>(need / 1e9)) +
                     " GB on the host, but this machine has " +
                     std::to_string(static_cast<std::int64_t>(memory / 1e9)) + " GB of memory.");
  }
}

}  // namespace example
