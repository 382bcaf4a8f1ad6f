#include "bench/random/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <utility>

#include "bench/random/generator.hpp"

namespace relayout::bench::random {
namespace {

constexpr std::pair<const char*, double> kPercentiles[] = {{"p1", 1}, {"p5", 5}, {"p25", 25}, {"p50", 50}};
constexpr double kMegabyte = 1e6;

/// The size classes by megabytes read and written, each up to its end.
constexpr std::pair<double, const char*> kClasses[] = {
    {1, "<1 MB"}, {8, "1-8 MB"}, {32, "8-32 MB"}, {128, "32-128 MB"}};
constexpr int kLastClass = 4;

int class_of(std::int64_t bytes) {
  int number = 0;
  while (number < kLastClass && static_cast<double>(bytes) >= kClasses[number].first * kMegabyte) ++number;
  return number;
}

const char* class_name(int number) { return number < kLastClass ? kClasses[number].second : ">128 MB"; }

double percentile(const std::vector<double>& sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

const char* word_for(Verified verified) {
  return verified == Verified::no ? "no" : verified == Verified::by_reference ? "reference" : "device";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Json tensor_json(const Tensor& tensor) {
  return {{"type", name_of(tensor.type)},
          {"shape", tensor.shape},
          {"strides", tensor.strides},
          {"offset", tensor.offset}};
}

Json result_json(const Result& result) {
  const Problem& problem = result.problem;
  Json inputs = Json::array();
  for (const Tensor& input : problem.inputs) inputs.push_back(tensor_json(input));
  Json json = {
      {"name", problem.name()},          {"csv", to_csv(problem)},       {"family", name_of(problem.family)},
      {"group", problem.group()},        {"function", problem.function}, {"inputs", inputs},
      {"out", tensor_json(problem.out)}, {"options", problem.options},   {"bytes", problem.bytes()}};
  if (!result.error.empty()) json["error"] = result.error;
  if (result.seconds.median == 0) return json;
  json["microseconds"] = result.seconds.median * 1e6;
  json["fastest_microseconds"] = result.seconds.fastest * 1e6;
  json["slowest_microseconds"] = result.seconds.slowest * 1e6;
  json["copy_microseconds"] = result.copy_seconds * 1e6;
  json["share_of_copy"] = result.share();
  json["sector_bytes"] = result.sector_bytes;
  json["share_of_sectors"] = result.sector_share();
  json["kernel"] = result.kernel;
  json["predicted_microseconds"] =
      result.predicted_seconds > 0 ? Json(result.predicted_seconds * 1e6) : Json();
  json["verified"] = word_for(result.verified);
  for (const TimedCandidate& candidate : result.candidates) {
    json["candidates"].push_back({{"kind", candidate.kind},
                                  {"name", candidate.name},
                                  {"chosen", candidate.chosen},
                                  {"predicted_microseconds", candidate.predicted_seconds * 1e6},
                                  {"microseconds", candidate.seconds * 1e6}});
  }
  return json;
}

void number(std::ostream& out, double value, int width, int digits) {
  out << std::setw(width) << std::fixed << std::setprecision(digits) << value;
}

void print_worst(std::ostream& out, const Result& result) {
  number(out, result.share(), 6, 3);
  number(out, result.seconds.median * 1e6, 11, 2);
  number(out, result.copy_seconds * 1e6, 11, 2);
  if (result.predicted_seconds > 0) {
    number(out, result.predicted_seconds * 1e6, 11, 2);
  } else {
    out << std::setw(11) << "-";
  }
  out << "  " << std::left << std::setw(8) << or_dash(result.kernel) << std::right << "  "
      << to_csv(result.problem) << '\n';
}

}  // namespace

Json percentiles_of(const std::vector<Result>& results) {
  std::vector<std::string> groups;
  struct Shares {
    std::vector<double> of_elements, of_sectors;
  };
  std::map<std::pair<std::string, int>, Shares> shares;
  for (const Result& result : results) {
    if (result.seconds.median == 0) continue;
    const std::string group = result.problem.group();
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    Shares& of_class = shares[{group, class_of(result.problem.bytes())}];
    of_class.of_elements.push_back(result.share());
    of_class.of_sectors.push_back(result.sector_share());
  }
  Json table = Json::array();
  for (const std::string& group : groups) {
    for (int number = 0; number <= kLastClass; ++number) {
      const auto found = shares.find({group, number});
      if (found == shares.end()) continue;
      auto& [elements, sectors] = found->second;
      std::sort(elements.begin(), elements.end());
      std::sort(sectors.begin(), sectors.end());
      Json row = {{"group", group}, {"size", class_name(number)}, {"problems", elements.size()}};
      for (const auto& [name, percent] : kPercentiles) {
        row[name] = percentile(elements, percent);
        row["by_sectors"][name] = percentile(sectors, percent);
      }
      table.push_back(row);
    }
  }
  return table;
}

std::vector<Result> worst_of(const std::vector<Result>& results, std::size_t count) {
  std::vector<Result> timed;
  std::copy_if(results.begin(), results.end(), std::back_inserter(timed),
               [](const Result& result) { return result.seconds.median > 0; });
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Result& a, const Result& b) { return a.share() < b.share(); });
  timed.resize(std::min(timed.size(), count));
  return timed;
}

void print_report(std::ostream& out, const std::vector<Result>& results, std::size_t worst) {
  constexpr int kColumns = 8 * static_cast<int>(std::size(kPercentiles));
  out << "share of a copy of as many bytes" << std::setw(16 + kColumns + kColumns)
      << "of as many as the sectors have\n"
      << std::left << std::setw(28) << "family" << std::setw(12) << "size" << std::right << std::setw(8)
      << "problems";
  for (int table = 0; table < 2; ++table) {
    for (const auto& percent : kPercentiles) out << std::setw(8) << percent.first;
  }
  out << '\n';
  for (const Json& row : percentiles_of(results)) {
    out << std::left << std::setw(28) << row["group"].get<std::string>() << std::setw(12)
        << row["size"].get<std::string>() << std::right << std::setw(8) << row["problems"].get<int>();
    for (const auto& percent : kPercentiles) number(out, row[percent.first].get<double>(), 8, 3);
    for (const auto& percent : kPercentiles)
      number(out, row["by_sectors"][percent.first].get<double>(), 8, 3);
    out << '\n';
  }
  const std::vector<Result> slow = worst_of(results, worst);
  out << "\nthe worst " << slow.size() << "\n share         us    copy us  predicted  kernel  " << kCsvHeader
      << '\n';
  for (const Result& result : slow) print_worst(out, result);
  for (const Result& result : results) {
    if (!result.error.empty())
      out << "FAILED " << result.problem.name() << ": " << result.error << "\n  " << to_csv(result.problem)
          << '\n';
  }
  out << std::flush;
}

Json report_json(const std::vector<Result>& results) {
  Json problems = Json::array();
  for (const Result& result : results) problems.push_back(result_json(result));
  return {{"suite", "random"},
          {"generator", kGeneratorVersion},
          {"problems", problems},
          {"percentiles", percentiles_of(results)}};
}

Json list_json(const std::vector<Problem>& problems) {
  std::vector<Result> results;
  for (const Problem& problem : problems) results.emplace_back().problem = problem;
  return report_json(results);
}

void write_csv(std::ostream& out, const std::vector<Result>& results) {
  out << kCsvHeader << '\n';
  for (const Result& result : results)
    out << "# share " << result.share() << ", kernel " << or_dash(result.kernel) << '\n'
        << to_csv(result.problem) << '\n';
}

}  // namespace relayout::bench::random
