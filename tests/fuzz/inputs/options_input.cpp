// The command line of causal_conv1d, its words between line ends: an error is a sentence, and sizes that are
// taken fit.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "examples/input_error.hpp"
#include "examples/options.hpp"

#include <relayout/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words{"causal_conv1d"};
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  for (std::string word; std::getline(text, word);) words.push_back(word.c_str());
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  std::ostringstream help;
  std::streambuf* const screen = std::cout.rdbuf(help.rdbuf());
  try {
    example::Arguments arguments = example::parse(static_cast<int>(pointers.size()), pointers.data());
    // No file is opened or written.
    for (std::string* name : {&arguments.input, &arguments.weight, &arguments.bias, &arguments.output,
                              &arguments.dump_a, &arguments.dump_b, &arguments.json})
      name->clear();
    const example::Job job = example::resolve(arguments);
    example::describe(job.problem, arguments.depthwise);
  } catch (const example::InputError&) {
  } catch (const example::HelpShown&) {
  } catch (const relayout::Error&) {
  }
  std::cout.rdbuf(screen);
  return 0;
}
