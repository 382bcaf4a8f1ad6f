// Shows which banks of shared memory a permutation's tile meets: packed densely, as the tile kernel lays it
// out, and as the solver of bank layouts would. Needs no GPU: `bank_viewer --shape 48,28,28 --axes 2,1,0
// --device mi300x`. The exit code is 0, or 2 for bad arguments.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include <relayout/relayout.hpp>

#include "bank_picture.hpp"
#include "examples/input_error.hpp"
#include "examples/output_file.hpp"

namespace example {
namespace {

struct Options {
  std::vector<std::int64_t> shape{8192, 8192};
  std::vector<int> axes{1, 0};
  std::string dtype = "f32", device = "h200", svg;
};

template <class T>
T chosen(const std::string& option, const std::string& name, const std::map<std::string, T>& known) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  std::string names;
  for (const auto& one : known) names += (names.empty() ? "" : " | ") + one.first;
  throw InputError(option + " is one of " + names + ", not '" + name + "'.");
}

void view(const Options& options) {
  using relayout::DeviceProperties;
  using relayout::DType;
  const DType dtype = chosen<DType>("--dtype", options.dtype,
                                    {{"u8", DType::u8},
                                     {"f16", DType::f16},
                                     {"bf16", DType::bf16},
                                     {"f32", DType::f32},
                                     {"f64", DType::f64}});
  const DeviceProperties device =
      chosen<DeviceProperties>("--device", options.device,
                               {{"h200", DeviceProperties::h200()}, {"mi300x", DeviceProperties::mi300x()}});
  const BankCases cases = bank_cases(options.shape, options.axes, dtype, device);
  if (!options.svg.empty()) {
    check_output_paths({options.svg});
    OutputFiles files;
    files.add(options.svg, [&](std::ostream& out) { print_svg(out, cases); });
    files.commit();
  }
  print_text(std::cout, cases);
}

}  // namespace
}  // namespace example

int main(int argc, char** argv) {
  example::Options options;
  CLI::App app("The banks of shared memory that a permutation's tile meets.");
  app.add_option("--shape", options.shape, "extents of the contiguous input [8192,8192]")->delimiter(',');
  app.add_option("--axes", options.axes, "its axes in the output's order [1,0]")->delimiter(',');
  app.add_option("--dtype", options.dtype, "u8 | f16 | bf16 | f32 | f64 [f32]");
  app.add_option("--device", options.device, "h200 | mi300x [h200]");
  app.add_option("--svg", options.svg, "also draw the worst accesses into this file")
      ->check([](const std::string& path) {
        return path.empty() ? std::string("it is the name of a file") : std::string();
      });
  try {
    app.parse(argc, argv);
    example::view(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "bank_viewer: " << error.what() << "\n";
    return 2;
  }
}
