// The output of a run: a table while it runs, JSON at its end.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "bench/measurement.hpp"

namespace relayout::bench {

/// Google Benchmark's view of a run replaced by one line per case.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  TableReporter(const Device& device, const Measurement& measurement, const BenchCases& cases)
      : device_(device), measurement_(measurement), cases_(cases) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  const Device& device_;
  const Measurement& measurement_;
  const BenchCases& cases_;
};

/// The cases alone: names, bytes, parameters.
Json cases_json(const BenchCases& cases);
/// Device, compiler, commit, date.
Json machine_json(const Device& device);
/// These and the rows.
Json result_json(const Device& device, const std::vector<Row>& rows);

}  // namespace relayout::bench
