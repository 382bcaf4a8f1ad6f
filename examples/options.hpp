// The command line of causal_conv1d, and the problem that it and the files it names describe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <relayout/conv1d.hpp>
#include <relayout/device.hpp>
#include <relayout/error.hpp>

#include "npy.hpp"

namespace example {

enum class DeviceChoice { cpu, emulated, gpu };

/// From the input to y, by the words of --path: those of uploads go by A, the others name a route.
struct Path {
  relayout::Upload upload = relayout::Upload::device;
  relayout::ConvRoute route = relayout::ConvRoute::operand;

  bool has_operand() const { return route == relayout::ConvRoute::operand; }
  const char* name() const { return has_operand() ? name_of(upload) : name_of(route); }
};

/// Those of --path all, in their order.
std::vector<Path> all_paths();

/// The options as given; an empty optional was not given.
struct Arguments {
  std::optional<std::int64_t> batch, in_channels, length, taps, out_channels;
  std::int64_t stride = 1, dilation = 1, groups = 1;
  std::optional<std::int64_t> pad_left, pad_right;
  std::optional<relayout::Causal> causal;
  relayout::PadMode pad_mode = relayout::PadMode::constant;
  double pad_value = 0;
  relayout::PadPolicy pad_policy = relayout::PadPolicy::strict;
  relayout::DType dtype = relayout::DType::f16;
  relayout::ColumnOrder order = relayout::ColumnOrder::tap_outer;
  bool channels_last = false;
  std::optional<DeviceChoice> device;  // not given: the best
  std::optional<int> warp;
  /// Empty: the one that measured rates speak for.
  std::vector<Path> paths = all_paths();
  relayout::OverlapOptions overlap;
  bool pinned_input = true;
  bool depthwise = false;
  std::uint64_t seed = 0;
  std::optional<int> repeat;
  bool graph = false;
  bool explain = false;
  bool no_verify = false;
  std::string input, weight, bias;           // .npy files; empty: generated data
  std::string output, dump_a, dump_b, json;  // empty: not written
};

/// Thrown by parse() after --help was printed.
struct HelpShown {};

/// Throws InputError with one sentence, or HelpShown.
Arguments parse(int argc, const char* const* argv);

/// A tensor's file, or none: then it is generated.
using OptionalFile = std::optional<NpyFile>;

/// What to run. The files are open and fit the problem.
struct Job {
  relayout::Conv1d problem;
  relayout::Conv1dSizes sizes;
  OptionalFile input, weight, bias;
};

/// The sizes from options, files and defaults, in this order; checks that they agree and that output files
/// can be written. Throws InputError or relayout::Error.
Job resolve(const Arguments& arguments);

/// An error of the library as an InputError that names the options which gave the problem its numbers.
[[noreturn]] void throw_with_options(const relayout::Error& error, const relayout::Conv1d& problem);

relayout::Device device_of(const Arguments& arguments);

/// "batch 1, ci 64, hi 2048, ..." in one line.
std::string describe(const relayout::Conv1d& problem, bool depthwise);

}  // namespace example
