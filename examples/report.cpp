#include "report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace example {
namespace {

using relayout::StagePlace;

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string microseconds(double seconds) { return format("%.1f us", seconds * 1e6); }

void print_stage(std::ostream& out, const char* path, const StageTime& stage) {
  out << format("%-14s %-32s %-9s %13lld %12.1f %9.2f", path, stage.name.c_str(),
                relayout::name_of(stage.place), static_cast<long long>(stage.bytes), stage.seconds * 1e6,
                stage.rate() * 1e-9);
  out << (stage.copy_rate > 0 ? format(" %8.0f %%\n", stage.share() * 100) : std::string("        -\n"));
}

void print_total(std::ostream& out, const char* path, const char* what, double seconds) {
  out << format("%-14s %-42s %13s %12.1f\n", path, what, "", seconds * 1e6);
}

bool has_operand(const PathTimes& times) { return times.path && times.path->has_operand(); }

const char* sum_name(const PathTimes& times) {
  if (!times.path) return "sum of the stages before the convolution";
  return has_operand(times) ? "sum of the stages up to A" : "sum of the stages before the GEMM";
}

/// "device in 12.0 us (host 10.3 x, device-staged 2.1 x)": the least time and the others' multiples of it.
std::string ranking(std::vector<std::pair<double, const PathTimes*>> times) {
  std::sort(times.begin(), times.end());
  std::string text = std::string(times[0].second->name()) + " in " + microseconds(times[0].first);
  for (std::size_t i = 1; i < times.size(); ++i) {
    text += (i == 1 ? " (" : ", ") + std::string(times[i].second->name()) +
            format(" %.2f x", times[0].first > 0 ? times[i].first / times[0].first : 1.0);
  }
  return times.size() > 1 ? text + ")" : text;
}

void print_winners(std::ostream& out, const Report& report) {
  std::vector<std::pair<double, const PathTimes*>> whole, on_device;
  for (const PathResult& path : report.paths) {
    whole.emplace_back(path.times.end_to_end, &path.times);
    // Paths whose work starts on the host are no candidates for data on the device.
    if (!has_operand(path.times)) continue;
    const relayout::Upload upload = path.times.path->upload;
    if (upload == relayout::Upload::host || upload == relayout::Upload::overlap) continue;
    on_device.emplace_back(path.times.to_operand(StagePlace::device), &path.times);
  }
  out << "Fastest end to end, from host memory to y: " << ranking(whole) << '\n';
  if (!on_device.empty())
    out << "Fastest to A for data already on the device: " << ranking(on_device) << '\n';
}

void print_gemm_sizes(std::ostream& out, const Report& report, const PathResult& path) {
  const GemmReport& gemm = path.gemm;
  const auto count = [](std::int64_t value) { return static_cast<long long>(value); };
  const bool on_views = !has_operand(path.times);
  out << format("GEMM m %lld n %lld k %lld lda %s ldb %lld ldc %lld", count(gemm.m), count(gemm.n),
                count(gemm.k), on_views ? "of views" : std::to_string(gemm.lda).c_str(), count(gemm.ldb),
                count(gemm.ldc));
  if (report.problem.window.groups > 1) out << " groups " << report.problem.window.groups;
}

void print_result(std::ostream& out, const Report& report, const PathResult& path) {
  const GemmReport& gemm = path.gemm;
  if (report.depthwise) {
    out << "depthwise, taps " << gemm.k;
  } else {
    print_gemm_sizes(out, report, path);
  }
  out << (gemm.ok() ? " valid" : " INVALID") << ", path " << path.times.name()
      << format(": worst |err|/bound %.3f (%.3g / %.3g)", gemm.gates.worst, gemm.gates.worst_error,
                gemm.gates.worst_bound);
  if (gemm.statistics_skipped.empty()) {
    out << format(", RMS %.3g (at most %.3g), equal to the rounded sum %.2f %% (at least %.0f %%)",
                  gemm.gates.rms, gemm.gates.rms_limit, gemm.gates.share * 100, gemm.gates.share_limit * 100);
  } else {
    out << ", RMS and share not judged: " << gemm.statistics_skipped;
  }
  out << ", checked rows " << gemm.checked_rows << " of " << gemm.m << '\n';
}

}  // namespace

relayout::Dims Report::result_shape() const {
  const std::int64_t batch = problem.batch, channels = problem.out_channels;
  if (depthwise && !channels_last) return {batch, channels, sizes.positions};
  return {batch, sizes.positions, channels};
}

bool Report::ok() const {
  return !verified || std::all_of(paths.begin(), paths.end(), [](const PathResult& path) {
    return path.operands.ok() && path.gemm.ok();
  });
}

void print_problem(std::ostream& out, const Report& report) {
  const relayout::Conv1dSizes& sizes = report.sizes;
  const std::int64_t groups = report.problem.window.groups;
  out << "relayout causal_conv1d on " << report.device << ", " << report.device_name << '\n'
      << describe(report.problem, report.depthwise) << ", input " << (report.channels_last ? "nlc" : "ncl")
      << '\n';
  if (!report.depthwise) {
    const relayout::Dims a = groups > 1 ? relayout::Dims{groups, sizes.rows, sizes.depth}
                                        : relayout::Dims{sizes.rows, sizes.depth};
    out << "A " << relayout::to_string(a) << ", Bt "
        << relayout::to_string({report.problem.out_channels, sizes.depth}) << ", ";
  }
  out << "y " << relayout::to_string(report.result_shape()) << ", medians of " << report.repeat << " runs\n";
  if (!report.choice.empty()) out << "Chosen: " << report.choice << ".\n";
  out << '\n' << std::flush;
}

void print_explanations(std::ostream& out, const Report& report) {
  for (const PathResult& path : report.paths)
    out << "path " << path.times.name() << ":\n" << path.explanation << '\n';
}

void print_times(std::ostream& out, const Report& report) {
  out << format("%-14s %-32s %-9s %13s %12s %9s %10s\n", "path", "stage", "where", "bytes", "us", "GB/s",
                "of a copy");
  for (const PathResult& path : report.paths) {
    const char* name = path.times.name();
    for (const StageTime& stage : path.times.stages) print_stage(out, name, stage);
    for (const StageTime& stage : path.times.alone) print_stage(out, name, stage);
    if (!path.times.alone.empty()) {
      out << format("%-14s %-32s %57.0f %%\n", name, "slowest alone / all overlapped",
                    path.times.overlap_share() * 100);
    }
    print_total(out, name, sum_name(path.times), path.times.to_operand());
    print_total(out, name, "one run, end to end", path.times.end_to_end);
    if (path.times.prepared > 0)
      print_total(out, name,
                  report.depthwise ? "prepared, in a graph: cast + convolution"
                                   : "prepared, in a graph: input kernel + GEMM",
                  path.times.prepared);
    out << '\n';
  }
  print_winners(out, report);
}

void print_verification(std::ostream& out, const Report& report) {
  if (!report.verified) {
    out << "Not verified.\n";
    return;
  }
  for (const PathResult& path : report.paths) {
    out << "input operand, path " << path.times.name() << ": ";
    if (!has_operand(path.times)) {
      out << "none, so only y is checked";
    } else {
      out << "errors " << path.operands.input_errors << '/' << path.operands.input_total;
    }
    out << "; weights: errors " << path.operands.weight_errors << '/' << path.operands.weight_total << '\n';
  }
  for (const PathResult& path : report.paths) print_result(out, report, path);
  out << (report.ok() ? "All checks passed.\n" : "A CHECK FAILED.\n");
}

}  // namespace example
