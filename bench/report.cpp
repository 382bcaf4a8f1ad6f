#include "bench/report.hpp"

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <ostream>

#include "host/cpu/parallel.hpp"

namespace relayout::bench {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

int host_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

Json case_json(const BenchCase& c) {
  Json json = {{"name", c.row()},
               {"suite", c.suite},
               {"bytes", c.bytes},
               {"case", c.printed_case},
               {"parameters", c.parameters}};
  if (!c.group.empty()) json["group"] = c.group;
  if (c.measured_plan) json["measured_plan"] = true;
  return json;
}

Json row_json(const Row& row) {
  Json json = case_json(*row.bench_case);
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  json["seconds"] = row.seconds;
  json["fastest_seconds"] = row.fastest;
  json["slowest_seconds"] = row.slowest;
  json["repetitions"] = row.repetitions;
  json["calls_per_repetition"] = row.calls_per_repetition;
  json["in_graph"] = row.in_graph;
  json["operand_sets"] = row.sets;
  json["gigabytes_per_second"] = row.rate() * 1e-9;
  json[row.of_parts ? "part_seconds" : "copy_seconds"] = row.beside_seconds;
  json[row.of_parts ? "slowest_part" : "best_copy"] = row.reference();
  json[row.of_parts ? "slowest_part_gigabytes_per_second" : "best_copy_gigabytes_per_second"] =
      row.reference_rate() * 1e-9;
  json[row.of_parts ? "share_of_slowest_part" : "share_of_copy"] = row.share();
  if (row.triad_seconds > 0) {
    json["triad_seconds"] = row.triad_seconds;
    json["share_of_triad"] = row.share_of_triad();
  }
  return json;
}

int width_of(const BenchCases& cases) {
  std::size_t width = 0;
  for (const BenchCase& c : cases) width = std::max(width, c.row().size());
  return static_cast<int>(width);
}

void print_row(std::ostream& out, int name_width, const Row& row) {
  const auto number = [&out](double value, int width, int digits) {
    out << std::setw(width) << std::fixed << std::setprecision(digits) << value;
  };
  out << std::left << std::setw(name_width) << row.bench_case->row() << std::right;
  if (row.error.empty()) {
    number(static_cast<double>(row.bench_case->bytes) * 1e-6, 11, 2);
    number(row.seconds * 1e6, 11, 2);
    number((row.slowest - row.fastest) / row.seconds * 100, 9, 1);
    number(row.rate() * 1e-9, 9, 1);
    number(row.reference_rate() * 1e-9, 9, 1);
    number(row.share(), 7, 3);
    if (row.triad_seconds > 0) number(row.share_of_triad(), 10, 3);
    if (row.of_parts) {
      for (const auto& [part, seconds] : row.beside_seconds) {
        out << "\n  " << std::left << std::setw(name_width - 2) << part + " alone" << std::right
            << std::setw(11) << "";
        number(seconds * 1e6, 11, 2);
      }
    }
  } else {
    out << "  FAILED: " << row.error;
  }
  out << std::endl;  // a line appears when its case is done
}

}  // namespace

bool TableReporter::ReportContext(const Context&) {
  std::ostream& out = GetOutputStream();
  const DeviceProperties& properties = device_.properties();
  out << device_.to_string() << ": " << properties.name << " (" << properties.architecture << ")"
      << (properties.driver.empty() ? "" : ", " + properties.driver) << ", " << host_threads()
      << " host threads; relayout " << RELAYOUT_BENCH_COMMIT << "\n\n";
  out << std::left << std::setw(width_of(cases_)) << "case" << std::right << std::setw(11) << "MB"
      << std::setw(11) << "us" << std::setw(9) << "spread%" << std::setw(9) << "GB/s" << std::setw(9)
      << "copy" << std::setw(7) << "share";
  if (device_.kind() == DeviceKind::cpu) out << std::setw(10) << "of triad";
  out << std::endl;
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  if (runs.front().run_type != Run::RT_Iteration) return;  // its own statistics, after the runs themselves
  const std::string& name = runs.front().run_name.function_name;
  for (const BenchCase& c : cases_) {
    if (c.row() == name) print_row(GetOutputStream(), width_of(cases_), measurement_.row_of(c));
  }
}

Json cases_json(const BenchCases& cases) {
  Json rows = Json::array();
  for (const BenchCase& c : cases) rows.push_back(case_json(c));
  return {{"rows", rows}};
}

Json machine_json(const Device& device) {
  const DeviceProperties& properties = device.properties();
  return {{"device",
           {{"kind", device.to_string()},
            {"name", properties.name},
            {"architecture", properties.architecture},
            {"driver", properties.driver.empty() ? Json() : Json(properties.driver)},
            {"multiprocessors", properties.multiprocessors},
            {"warp_size", properties.warp_size},
            {"shared_memory_per_block", properties.shared_memory_per_block},
            {"l2_bytes", properties.l2_bytes},
            {"memory_bytes", properties.memory_bytes},
            {"memory_bytes_per_second", properties.memory_bytes_per_second},
            {"clock_hertz", properties.clock_hertz}}},
          {"host_threads", host_threads()},
          {"gemm_library", gemm_library(device)},
          {"compiler", RELAYOUT_BENCH_COMPILER},
          {"commit", RELAYOUT_BENCH_COMMIT},
          {"date", utc_now()}};
}

Json result_json(const Device& device, const std::vector<Row>& rows) {
  Json json = machine_json(device);
  json["rows"] = Json::array();
  for (const Row& row : rows) json["rows"].push_back(row_json(row));
  return json;
}

}  // namespace relayout::bench
