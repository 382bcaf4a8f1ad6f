#include <nlohmann/json.hpp>
#include <ostream>

#include "report.hpp"

namespace example {
namespace {

using Json = nlohmann::ordered_json;

Json problem_json(const Report& report) {
  const relayout::Conv1d& p = report.problem;
  return {{"batch", p.batch},
          {"ci", p.in_channels},
          {"hi", p.length},
          {"hk", p.window.taps},
          {"co", p.out_channels},
          {"stride", p.window.stride},
          {"dilation", p.window.dilation},
          {"groups", p.window.groups},
          {"depthwise", report.depthwise},
          {"pad_left", p.pad.left},
          {"pad_right", p.pad.right},
          {"pad_mode", relayout::name_of(p.pad.mode)},
          {"pad_value", p.pad.value},
          {"pad_policy", p.pad.policy == relayout::PadPolicy::strict ? "strict" : "extended"},
          {"dtype", relayout::name_of(p.dtype)},
          {"order", p.window.order == relayout::ColumnOrder::tap_outer ? "tap" : "channel"},
          {"layout", report.channels_last ? "nlc" : "ncl"},
          {"ho", report.sizes.positions},
          {"repeat", report.repeat},
          {"seed", report.seed}};
}

Json stage_json(const StageTime& stage) {
  return {{"stage", stage.name},
          {"place", relayout::name_of(stage.place)},
          {"bytes", stage.bytes},
          {"seconds", stage.seconds},
          {"gigabytes_per_second", stage.rate() * 1e-9},
          {"copy_gigabytes_per_second", stage.copy_rate * 1e-9}};
}

Json verification_json(const PathResult& path) {
  const GemmReport& gemm = path.gemm;
  const bool has_operand = path.times.path && path.times.path->has_operand();
  // JSON has no infinity: dump() writes null, which stands for a result that no bound can hold.
  return {{"input_errors", path.operands.input_errors},
          {"input_total", path.operands.input_total},
          {"weight_errors", path.operands.weight_errors},
          {"weight_total", path.operands.weight_total},
          {"gemm",
           {{"m", gemm.m},
            {"n", gemm.n},
            {"k", gemm.k},
            {"lda", has_operand ? Json(gemm.lda) : Json()},
            {"ldb", gemm.ldb},
            {"ldc", gemm.ldc},
            {"valid", gemm.ok()},
            {"worst_error_over_bound", gemm.gates.worst},
            {"rms", gemm.gates.rms},
            {"rms_limit", gemm.gates.rms_limit},
            {"equal_share", gemm.gates.share},
            {"equal_share_limit", gemm.gates.share_limit},
            {"statistics_skipped", gemm.statistics_skipped},
            {"checked_rows", gemm.checked_rows}}}};
}

Json path_json(const PathResult& path, bool verified) {
  Json stages = Json::array();
  for (const StageTime& stage : path.times.stages) stages.push_back(stage_json(stage));
  Json alone = Json::array();
  for (const StageTime& stage : path.times.alone) alone.push_back(stage_json(stage));
  return {{"path", path.times.name()},
          {"stages", stages},
          {"alone", alone},
          {"overlap_share", path.times.alone.empty() ? Json() : Json(path.times.overlap_share())},
          {"seconds_to_operand", path.times.to_operand()},
          {"seconds_to_operand_on_device", path.times.to_operand(relayout::StagePlace::device)},
          {"seconds_end_to_end", path.times.end_to_end},
          {"seconds_prepared_in_graph", path.times.prepared > 0 ? Json(path.times.prepared) : Json()},
          {"verification", verified ? verification_json(path) : Json()}};
}

}  // namespace

void write_json(std::ostream& out, const Report& report) {
  Json paths = Json::array();
  for (const PathResult& path : report.paths) paths.push_back(path_json(path, report.verified));
  const Json document = {
      {"device",
       {{"kind", report.device}, {"name", report.device_name}, {"architecture", report.architecture}}},
      {"options", problem_json(report)},
      {"choice", report.choice.empty() ? Json() : Json(report.choice)},
      {"paths", paths},
      {"verified", report.verified},
      {"ok", report.ok()}};
  out << document.dump(2) << '\n';
}

}  // namespace example
