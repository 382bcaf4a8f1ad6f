#include "bench/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace relayout::bench {

bool Options::has_flag(const std::string& beginning) const {
  return std::any_of(google_benchmark.begin(), google_benchmark.end(),
                     [&](const std::string& flag) { return flag.rfind(beginning, 0) == 0; });
}

bool Options::asks_for(const std::string& suite) const {
  return std::find(suites.begin(), suites.end(), suite) != suites.end();
}

namespace {

/// An empty name is what a script's unset variable gives: it asks for a file, so it is not taken for none.
CLI::Option* add_path(CLI::App& app, const std::string& option, std::string& target,
                      const std::string& description) {
  return app.add_option(option, target, description)->check([](const std::string& path) {
    return path.empty() ? std::string("it is a name, not ''") : std::string();
  });
}

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App& compare = *app.add_subcommand(
      "compare",
      "time nothing; set results side by side: devices, commits, peers. Status 2 when rows of the "
      "same name are different cases");
  compare
      .add_option("files", options.files,
                  "results of relayout_bench --json or peers.py --json; the first is what speeds refer to")
      ->required();
  add_path(compare, "--html", options.html, "also write one page with plots, which needs nothing but itself");
  compare.add_option("--filter", options.filter, "only rows whose name matches this regular expression");
  compare.add_option("--worst", options.worst, "how many of each column's worst cases are listed [5]");
}

void add_predict(CLI::App& app, random::PredictOptions& options) {
  CLI::App& predict = *app.add_subcommand(
      "predict",
      "time nothing; of a result of --suite random --candidates, predict the times anew with this build's "
      "planner, for the GPU of the result");
  predict.add_option("file", options.file, "the result")->required();
  add_path(predict, "--json", options.json, "where it is written with these predictions")->required();
}

void add_random(CLI::App& app, random::RandomOptions& options) {
  const std::string group = "The suite random";
  std::vector<std::string> families;
  for (int family = 0; family < random::kFamilies; ++family)
    families.emplace_back(random::name_of(static_cast<random::Family>(family)));
  app.add_option("--seed", options.seed, "of the problems [1]")->group(group);
  app.add_option("--cases", options.cases, "problems of each family [100; on a processor 30]")
      ->check(CLI::PositiveNumber)
      ->group(group);
  app.add_option("--family", options.families, "families, separated by commas [all]")
      ->delimiter(',')
      ->check(CLI::IsMember(families))
      ->group(group);
  app.add_option("--min-mb", options.least_mb, "read and written, of 10^6 bytes [8; on a processor 1]")
      ->check(CLI::PositiveNumber)
      ->group(group);
  app.add_option("--max-mb", options.most_mb, "[128; on a processor 32]")
      ->check(CLI::PositiveNumber)
      ->group(group);
  add_path(app, "--problems", options.problems, "run the problems of this table, draw none")->group(group);
  add_path(app, "--csv", options.csv, "write the worst problems to this table")->group(group);
  app.add_option(
         "--candidates", options.candidates,
         "time also what the planner could have taken: each kernel, and up to so many tiles of one [0]")
      ->group(group);
  app.add_flag("!--no-verify", options.verify, "check no result")->group(group);
}

/// Options that mean something for one suite only. Error where it is not asked for.
void check_suites(const CLI::App& app, const Options& options) {
  const bool permutes = options.suites.empty() || options.asks_for("permute");
  if (!options.permutations.empty() && !permutes)
    throw CLI::ValidationError("--permutations",
                               "its rows belong to the suite permute, which is not asked for");
  if (options.measure && !permutes)
    throw CLI::ValidationError("--measure", "it is for the suite permute, which is not asked for");
  if (options.asks_for("random") && options.suites.size() > 1)
    throw CLI::ValidationError("--suite", "random runs alone: its results have a form of their own");
  if (options.asks_for("random")) return;
  for (const char* const name : {"--seed", "--cases", "--family", "--min-mb", "--max-mb", "--problems",
                                 "--csv", "--candidates", "--no-verify"}) {
    if (app.count(name) > 0)
      throw CLI::ValidationError(name, "it is for the suite random, which is not asked for");
  }
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.emplace_back(suite.name);
  names.emplace_back("random");
  CLI::App app{"relayout's benchmarks: each case beside a copy of as many bytes"};
  add_compare(app, options.compare);
  add_predict(app, options.predict);
  app.add_option("--device", options.device,
                 "cpu | gpu | emulated (the GPU's kernels on the processor: to test, not to time) [the first "
                 "GPU where there is one, else cpu]")
      ->check(CLI::IsMember({"cpu", "gpu", "emulated"}));
  app.add_option("--suite", options.suites, "suites to run, separated by commas [all but random]")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  add_path(app, "--permutations", options.permutations,
           "add this table of permutations to the suite permute; bench/permute_cases.csv shows its form");
  app.add_option("--filter", options.filter, "only rows whose name matches this regular expression");
  add_path(app, "--json", options.json, "write the results to this file");
  add_path(app, "--dump", options.dump,
           "time nothing; write each case's operands and result into this folder, for a comparison");
  app.add_flag("--smoke", options.smoke, "tiny sizes: a test of the tool, not of the speed");
  app.add_flag("--no-graph", options.no_graph, "on a GPU queue the calls one by one, not as a graph");
  app.add_flag("--measure", options.measure,
               "in the suite permute take the plans that are fastest here, not those of the estimate");
  app.add_flag("--list-json", options.list_json, "print the cases and end");
  add_random(app, options.random);
  app.add_flag("--support", options.support, "print which operation takes which element types, and end");
  app.allow_extras();
  app.footer("Google Benchmark's own flags (--benchmark_...) work too.");
  try {
    app.parse(argc, argv);
    options.google_benchmark = app.remaining();
    check_suites(app, options);
    for (const std::string& flag : options.google_benchmark) {
      if (flag.rfind("--benchmark_", 0) != 0 && flag.rfind("--v=", 0) != 0) throw CLI::ExtrasError({flag});
    }
  } catch (const CLI::ParseError& error) {
    options.exit_code = app.exit(error) == 0 ? 0 : 2;
  }
  return options;
}

}  // namespace relayout::bench
