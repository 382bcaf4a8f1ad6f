// Runs an input function over a folder of seeds and over inputs made from them, the same ones in every run:
//
//     inputs_npy FOLDER COUNT [SEED]
//     inputs_npy FILE                   one input again
//
// Where a run ends in a signal or an exception that no reader may throw, it leaves the input in failed_input.
// With clang, libFuzzer takes the place of this file.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes current;  // what a failure is reported with

/// Only calls that a signal handler may make.
void keep_current() {
  const int file = open("failed_input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const char words[] = "the input that ended the program is in the file failed_input\n";
  if (file >= 0 && write(file, current.data(), current.size()) >= 0 &&
      write(2, words, sizeof(words) - 1) >= 0)
    close(file);
}

void on_signal(int number) {
  keep_current();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

/// What breaks readers of numbers, of nested text and of lists.
const std::vector<std::string> kTokens{"0",
                                       "-1",
                                       "1",
                                       "2147483648",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "9223372036854775808",
                                       "18446744073709551616",
                                       "1e308",
                                       "1e999",
                                       "nan",
                                       "\"",
                                       "'",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       ",",
                                       ":",
                                       "\n",
                                       "\t",
                                       " ",
                                       "\xff",
                                       "\xf4\x90\x80\x80",
                                       "[[[[[[[[[[[[[[[[",
                                       "{\"a\":",
                                       "null",
                                       "true",
                                       "--"};

/// One input made from two seeds.
Bytes changed(relayout::test::Random& random, Bytes bytes, const Bytes& other) {
  const auto place = [&] {
    return static_cast<std::ptrdiff_t>(random.integer(0, static_cast<std::int64_t>(bytes.size())));
  };
  for (std::int64_t turn = random.integer(1, 4); turn > 0; --turn) {
    const std::ptrdiff_t at = place(), end = std::min(place(), at + 24);
    switch (random.integer(0, 6)) {
      case 0:
        if (at < static_cast<std::ptrdiff_t>(bytes.size()))
          bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random.integer(0, 255));
        break;
      case 1:
        if (at < end) bytes.erase(bytes.begin() + at, bytes.begin() + end);
        break;
      case 2: {
        const std::string& token = random.pick(kTokens);
        bytes.insert(bytes.begin() + at, token.begin(), token.end());
        break;
      }
      case 3: {  // a token in the place of something
        const std::string& token = random.pick(kTokens);
        if (at < end) bytes.erase(bytes.begin() + at, bytes.begin() + end);
        bytes.insert(bytes.begin() + at, token.begin(), token.end());
        break;
      }
      case 4:
        bytes.resize(static_cast<std::size_t>(at));
        break;
      case 5: {
        const auto from =
            static_cast<std::ptrdiff_t>(random.integer(0, static_cast<std::int64_t>(other.size())));
        const std::ptrdiff_t count =
            std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(other.size()) - from, 40);
        bytes.insert(bytes.begin() + at, other.begin() + from, other.begin() + from + count);
        break;
      }
      default:
        for (std::int64_t i = random.integer(1, 12); i > 0; --i)
          bytes.insert(bytes.begin() + place(), static_cast<std::uint8_t>(random.integer(0, 255)));
    }
  }
  if (bytes.size() > 4096) bytes.resize(4096);
  return bytes;
}

void run(const Bytes& bytes) {
  current = bytes;
  // Memory of exactly the input's size.
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM}) std::signal(number, on_signal);
  if (argc == 2) {
    run(read_file(argv[1]));
    return 0;
  }
  if (argc < 3)
    return std::fprintf(stderr, "usage: %s FOLDER COUNT [SEED], or %s FILE\n", argv[0], argv[0]), 2;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) return std::fprintf(stderr, "no seeds in %s\n", argv[1]), 2;
  std::vector<Bytes> seeds;
  for (const auto& path : paths) seeds.push_back(read_file(path));
  for (const Bytes& seed : seeds) run(seed);
  const long count = std::atol(argv[2]);
  relayout::test::Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  for (long i = 0; i < count; ++i) run(changed(random, random.pick(seeds), random.pick(seeds)));
  std::printf("%ld inputs from %zu seeds\n", count, seeds.size());
  return 0;
}
