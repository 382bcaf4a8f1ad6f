// Causal conv1d end to end, by the host's and the device's paths: times, bytes, and a verification that says
// yes or no. `causal_conv1d --help` lists the options; the exit code is 0, 1 when a check fails, 2 for bad
// arguments or input.
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <relayout/relayout.hpp>

#include "data.hpp"
#include "depthwise.hpp"
#include "input_error.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "report.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace example {
namespace {

using relayout::TensorView;

/// The path of --depthwise is none of Conv1dPipeline's.
using MaybePath = std::optional<Path>;

/// The matrices that a path left on the device, a default view where it has none.
struct Results {
  TensorView a, bt, y;
};
/// The same on the host; empty vectors where nobody asks for them.
struct Downloads {
  Halves a, bt, y;
};

void download(const relayout::Stream& stream, const TensorView& view, Halves& target) {
  if (view.rank() == 0) return;
  target.resize(static_cast<std::size_t>(view.elements()));
  if (!target.empty()) stream.copy(target.data(), view.data(), target.size() * sizeof(target[0]));
}

Downloads run_stages(const relayout::Stream& stream, const Arguments& arguments,
                     const std::vector<relayout::Stage>& stages, const relayout::Conv1dOverlap* overlap,
                     const Results& results, CopyRates& rates, int repeat, PathTimes& times) {
  times = time_stages(stream, stages, overlap, repeat, rates);
  if (arguments.graph && overlap == nullptr)
    times.prepared = time_in_graph(stream, stages, results.y, repeat);
  Downloads downloads;
  if (!arguments.no_verify || !arguments.dump_a.empty()) download(stream, results.a, downloads.a);
  if (!arguments.no_verify || !arguments.dump_b.empty()) download(stream, results.bt, downloads.bt);
  if (!arguments.no_verify || !arguments.output.empty()) download(stream, results.y, downloads.y);
  stream.synchronize();
  return downloads;
}

Downloads run_path(const relayout::Stream& stream, const Arguments& arguments, const Job& job,
                   const Data& data, MaybePath path, CopyRates& rates, int repeat, PathResult& result) {
  Downloads downloads;
  if (path) {
    const relayout::Conv1dPipeline pipeline(stream, job.problem,
                                            {path->upload, path->route, arguments.overlap}, data.input.view,
                                            data.weights.view, data.bias.view);
    downloads = run_stages(stream, arguments, pipeline.stages(), pipeline.overlap(),
                           {pipeline.operand(), pipeline.weight_operand(), pipeline.result()}, rates, repeat,
                           result.times);
    if (arguments.explain) result.explanation = pipeline.explain();
  } else {
    const DepthwisePipeline pipeline(stream, job.problem, data, arguments.channels_last);
    downloads =
        run_stages(stream, arguments, pipeline.stages(), nullptr,
                   {TensorView(), pipeline.weights(), pipeline.result()}, rates, repeat, result.times);
    if (arguments.explain) result.explanation = pipeline.explain();
  }
  result.times.path = path;
  return downloads;
}

/// Whether the device is to blame, and not what was asked of it.
bool is_broken(const relayout::Error& error) {
  return error.code() == relayout::ErrorCode::launch || error.code() == relayout::ErrorCode::vendor;
}

/// y as [batch, ho, co], the order of the verification.
Halves positions_first(const Report& report, const Halves& y) {
  const relayout::Dims shape = report.result_shape();
  if (!report.depthwise || report.channels_last) return y;
  Halves ordered(y.size());
  const TensorView from(y.data(), report.problem.dtype, shape);
  relayout::permute(relayout::Stream(relayout::Device::cpu()), from, {0, 2, 1},
                    TensorView(ordered.data(), report.problem.dtype, {shape[0], shape[2], shape[1]}));
  return ordered;
}

/// Measures, sets the path in `arguments`, and says why.
std::string choose(const relayout::Stream& stream, const Job& job, const Data& data, Arguments& arguments) {
  const relayout::Conv1dRates rates = relayout::measure_rates(stream, job.problem, data.input.view);
  const relayout::Conv1dChoice choice =
      relayout::choose_upload(job.problem, data.input.view, rates, arguments.overlap);
  arguments.paths = {{choice.upload, relayout::ConvRoute::operand}};
  arguments.overlap = choice.overlap;
  return choice.explain();
}

/// All files of a run whose checks passed; only the report of one that failed.
void write_files(const Arguments& arguments, const Report& report, const Downloads& first) {
  const relayout::Conv1d& p = report.problem;
  const relayout::Conv1dSizes& sizes = report.sizes;
  const std::int64_t groups = p.window.groups;
  OutputFiles files;
  const auto add = [&](const std::string& path, const Halves& values, const relayout::Dims& shape) {
    if (path.empty() || !report.ok()) return;
    files.add(path, [&](std::ostream& out) { write_npy(out, TensorView(values.data(), p.dtype, shape)); });
  };
  add(arguments.output, first.y, report.result_shape());
  add(arguments.dump_a, first.a,
      groups > 1 ? relayout::Dims{groups, sizes.rows, sizes.depth} : relayout::Dims{sizes.rows, sizes.depth});
  add(arguments.dump_b, first.bt, {p.out_channels, sizes.depth});
  if (!arguments.json.empty()) files.add(arguments.json, [&](std::ostream& out) { write_json(out, report); });
  files.commit();
}

int run(int argc, const char* const* argv) {
  Arguments arguments = parse(argc, argv);
  Job job = resolve(arguments);
  const relayout::Device device = device_of(arguments);
  check_memory_need(arguments, job, device);
  const bool emulated = device.kind() == relayout::DeviceKind::emulated;
  const int repeat = arguments.repeat.value_or(emulated ? 1 : 20);
  const Data data = load(device, arguments, job);
  const relayout::Stream stream(device);

  Report report{device.to_string(),
                device.properties().name,
                device.properties().architecture,
                job.problem,
                job.sizes,
                arguments.depthwise,
                arguments.channels_last,
                repeat,
                arguments.seed,
                !arguments.no_verify,
                {},
                {}};
  if (arguments.paths.empty()) report.choice = choose(stream, job, data, arguments);
  CopyRates rates(stream, repeat);
  Downloads first;
  std::vector<Halves> results;
  std::optional<Verifier> verifier;
  std::vector<MaybePath> paths(arguments.paths.begin(), arguments.paths.end());
  if (arguments.depthwise) paths = {MaybePath()};
  for (const MaybePath& path : paths) {
    PathResult result;
    Downloads downloads;
    try {
      downloads = run_path(stream, arguments, job, data, path, rates, repeat, result);
    } catch (const relayout::Error& error) {
      if (is_broken(error)) throw;
      throw_with_options(error, job.problem);
    }
    if (!arguments.no_verify) {
      if (!verifier) verifier.emplace(job, data);
      result.operands = !path || !path->has_operand() ? verifier->check_weights(downloads.bt)
                                                      : verifier->check_operands(downloads.a, downloads.bt);
      results.push_back(positions_first(report, downloads.y));
    }
    if (report.paths.empty()) first = std::move(downloads);
    report.paths.push_back(std::move(result));
  }
  print_problem(std::cout, report);
  if (arguments.explain) print_explanations(std::cout, report);
  print_times(std::cout, report);
  if (verifier) {
    const std::vector<GemmReport> gemms = verifier->check_gemm(results, arguments.seed);
    for (std::size_t i = 0; i < gemms.size(); ++i) report.paths[i].gemm = gemms[i];
  }
  print_verification(std::cout, report);
  write_files(arguments, report, first);
  return report.ok() ? 0 : 1;
}

int fail(std::string sentence, int code) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');  // of a file's name, say: it stays one line
  const bool ends = !sentence.empty() && sentence.back() == '.';
  std::cerr << "causal_conv1d: " << sentence << (ends ? "\n" : ".\n");
  return code;
}

int guarded_run(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const HelpShown&) {
    return 0;
  } catch (const InputError& error) {
    return fail(error.what(), 2);
  } catch (const relayout::Error& error) {
    return fail(error.what(), is_broken(error) ? 1 : 2);
  } catch (const std::bad_alloc&) {
    return fail("The problem does not fit into this machine's memory.", 2);
  } catch (const std::length_error&) {
    return fail("The problem does not fit into this machine's memory.", 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}

}  // namespace
}  // namespace example

int main(int argc, char** argv) { return example::guarded_run(argc, argv); }
