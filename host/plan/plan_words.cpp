#include "host/plan/plan_words.hpp"

namespace relayout::plan {

std::string plural(std::int64_t count, const std::string& word) {
  const char* ending = count == 1 ? "" : word.back() == 's' ? "es" : "s";
  return std::to_string(count) + " " + word + ending;
}

std::string time_words(double microseconds) {
  SentenceStream text;
  text.precision(3);
  text << microseconds << " us";
  return text.str();
}

std::string heading(const std::string& operation, std::initializer_list<const TensorView*> inputs,
                    const TensorView& out, const std::string& device, const DeviceProperties& properties) {
  std::string text = operation + ":";
  for (const TensorView* input : inputs) text += (text.back() == ':' ? " " : ", ") + input->to_string();
  return text + " -> " + out.to_string() + ", on " + (device.empty() ? "" : device + ", ") + properties.name +
         ".\n";
}

std::string refusal(const char* kernel, const std::string& reason) {
  return std::string("Not ") + kernel + ": " + reason + ".\n";
}

std::string bank_words(const char* accesses, const BankModel& model, SharedAccess access,
                       const BankCount& count) {
  const std::string text = std::string(accesses) + " take " + plural(count.passes, "pass") + " of " +
                           std::to_string(model.banks(access)) + " banks a tile, ";
  if (count.passes == count.least) return text + "none of them for conflicts";
  return text + std::to_string(count.passes - count.least) + " of them for conflicts, at worst " +
         std::to_string(count.worst) + " where one would do";
}

}  // namespace relayout::plan
