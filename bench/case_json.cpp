#include "bench/case_json.hpp"

namespace relayout::bench {
namespace {

Json pad_json(const PadSpec& pad) {
  return {{"left", pad.left}, {"right", pad.right}, {"mode", name_of(pad.mode)}, {"value", pad.value}};
}

Json types_json(const char* operation, DType in, DType out) {
  return {{"operation", operation}, {"in_type", name_of(in)}, {"out_type", name_of(out)}};
}

}  // namespace

Json parameters_of(const cases::CastCase& c) {
  Json json = types_json("cast", c.in_type, c.out_type);
  json["shape"] = c.shape;
  json["in_layout"] = cases::name_of(c.in_layout);
  json["out_layout"] = cases::name_of(c.out_layout);
  return json;
}

Json parameters_of(const cases::PadCase& c) {
  Json json = types_json("pad", c.in_type, c.out_type);
  json["shape"] = c.in_shape();
  json["in_layout"] = cases::name_of(c.in_layout);
  json["out_layout"] = cases::name_of(c.out_layout);
  json["pad"] = pad_json(c.pad);
  return json;
}

Json parameters_of(const cases::Img2colCase& c) {
  Json json = types_json("img2col", c.in_type, c.out_type);
  json["shape"] = c.in_shape();
  json["in_layout"] = cases::name_of(c.in_layout);
  json["taps"] = c.window.taps;
  json["stride"] = c.window.stride;
  json["dilation"] = c.window.dilation;
  json["order"] = c.window.order == ColumnOrder::tap_outer ? "tap" : "channel";
  json["pad"] = pad_json(c.pad);
  return json;
}

Json parameters_of(const cases::PermuteCase& c) {
  Json json = types_json("permute", c.in_type, c.out_type);
  json["shape"] = c.shape;
  json["axes"] = c.axes;
  if (c.scale.alpha != 1 || c.scale.beta != 0) {
    json["alpha"] = c.scale.alpha;
    json["beta"] = c.scale.beta;
  }
  return json;
}

}  // namespace relayout::bench
