#include "relayout/conv1d.hpp"

#include <string>

#include "host/api/window.hpp"
#include "host/plan/checked_math.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_extent(std::int64_t value, const char* name) {
  if (value < 0) {
    throw Error(ErrorCode::invalid_argument, std::string("conv1d: ") + name + " is " + std::to_string(value) +
                                                 ", but must not be negative");
  }
}

void check_divides(std::int64_t channels, std::int64_t groups, const char* name) {
  if (channels % groups != 0) {
    throw Error(ErrorCode::invalid_argument, "conv1d: " + std::to_string(channels) + " " + name +
                                                 " do not divide by " + std::to_string(groups) + " groups");
  }
}

}  // namespace

Conv1dSizes sizes_of(const Conv1d& problem) {
  check_extent(problem.batch, "batch");
  check_extent(problem.in_channels, "in_channels");
  check_extent(problem.length, "length");
  check_extent(problem.out_channels, "out_channels");
  if (problem.dtype != DType::f16 && problem.dtype != DType::bf16) {
    throw Error(ErrorCode::dtype,
                std::string("conv1d: the GEMM's operands are f16 or bf16, not ") + name_of(problem.dtype));
  }
  Conv1dSizes sizes;
  sizes.positions = output_length("conv1d", problem.length, problem.window, problem.pad);
  check_padding("conv1d", problem.length, problem.pad);
  const std::int64_t groups = problem.window.groups, taps = problem.window.taps;
  check_divides(problem.in_channels, groups, "input channels");
  check_divides(problem.out_channels, groups, "output channels");
  using plan::checked_product;
  checked_product({problem.batch, problem.in_channels, problem.length},
                  "conv1d: the number of the input's elements");
  sizes.rows = checked_product({problem.batch, sizes.positions}, "conv1d: the number of A's rows");
  sizes.depth = checked_product({problem.in_channels / groups, taps}, "conv1d: the number of A's columns");
  // Strides of one signal, also where there is none.
  checked_product({sizes.positions, sizes.depth}, "conv1d: the number of A's elements of one signal");
  sizes.columns = problem.out_channels / groups;
  sizes.operand_elements =
      checked_product({sizes.rows, sizes.depth, groups}, "conv1d: the number of A's elements");
  sizes.weight_elements =
      checked_product({problem.out_channels, sizes.depth}, "conv1d: the number of Bt's elements");
  sizes.output_elements =
      checked_product({sizes.rows, problem.out_channels}, "conv1d: the number of y's elements");
  return sizes;
}

const char* name_of(ConvRoute route) noexcept {
  switch (route) {
    case ConvRoute::operand:
      return "operand";
    case ConvRoute::strided_gemm:
      return "strided-gemm";
    case ConvRoute::direct:
      return "direct";
  }
  return "?";
}

const char* name_of(Upload upload) noexcept {
  switch (upload) {
    case Upload::host:
      return "host";
    case Upload::device:
      return "device";
    case Upload::device_staged:
      return "device-staged";
    case Upload::overlap:
      return "overlap";
  }
  return "?";
}

const char* name_of(HostWork work) noexcept {
  switch (work) {
    case HostWork::none:
      return "none";
    case HostWork::cast:
      return "cast";
    case HostWork::cast_transpose:
      return "cast-transpose";
  }
  return "?";
}

const char* name_of(StagePlace place) noexcept {
  switch (place) {
    case StagePlace::host:
      return "host";
    case StagePlace::transfer:
      return "transfer";
    case StagePlace::device:
      return "device";
  }
  return "?";
}

}  // namespace relayout
