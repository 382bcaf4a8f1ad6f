#include "bench/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace relayout::bench {

bool Options::has_flag(const std::string& beginning) const {
  return std::any_of(google_benchmark.begin(), google_benchmark.end(),
                     [&](const std::string& flag) { return flag.rfind(beginning, 0) == 0; });
}

namespace {

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App& compare = *app.add_subcommand(
      "compare",
      "time nothing; set results side by side: devices, commits, peers. Status 2 when rows of the "
      "same name are different cases");
  compare
      .add_option("files", options.files,
                  "results of relayout_bench --json or peers.py --json; the first is what speeds refer to")
      ->required();
  compare.add_option("--html", options.html,
                     "also write one page with plots, which needs nothing but itself");
  compare.add_option("--filter", options.filter, "only rows whose name matches this regular expression");
  compare.add_option("--worst", options.worst, "how many of each column's worst cases are listed [5]");
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.emplace_back(suite.name);
  CLI::App app{"relayout's benchmarks: each case beside a copy of as many bytes"};
  add_compare(app, options.compare);
  app.add_option("--device", options.device, "cpu | gpu [the first GPU where there is one]")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--suite", options.suites, "suites to run, separated by commas [all]")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option(
      "--cases", options.cases,
      "add this table of permutations to the suite permute; bench/permute_cases.csv shows its form");
  app.add_option("--filter", options.filter, "only rows whose name matches this regular expression");
  app.add_option("--json", options.json, "write the results to this file");
  app.add_option("--dump", options.dump,
                 "time nothing; write each case's operands and result into this folder, for a comparison");
  app.add_flag("--smoke", options.smoke, "tiny sizes: a test of the tool, not of the speed");
  app.add_flag("--no-graph", options.no_graph, "on a GPU queue the calls one by one, not as a graph");
  app.add_flag("--measure", options.measure,
               "in the suite permute take the plans that are fastest here, not those of the estimate");
  app.add_flag("--list-json", options.list_json, "print the cases and end");
  app.add_flag("--support", options.support, "print which operation takes which element types, and end");
  app.allow_extras();
  app.footer("Google Benchmark's own flags (--benchmark_...) work too.");
  try {
    app.parse(argc, argv);
    options.google_benchmark = app.remaining();
    const bool permutes = options.suites.empty() || std::find(options.suites.begin(), options.suites.end(),
                                                              "permute") != options.suites.end();
    if (!options.cases.empty() && !permutes)
      throw CLI::ValidationError("--cases", "its rows belong to the suite permute, which is not asked for");
    if (options.measure && !permutes)
      throw CLI::ValidationError("--measure", "it is for the suite permute, which is not asked for");
    for (const std::string& flag : options.google_benchmark) {
      if (flag.rfind("--benchmark_", 0) != 0 && flag.rfind("--v=", 0) != 0) throw CLI::ExtrasError({flag});
    }
  } catch (const CLI::ParseError& error) {
    options.exit_code = app.exit(error) == 0 ? 0 : 2;
  }
  return options;
}

}  // namespace relayout::bench
