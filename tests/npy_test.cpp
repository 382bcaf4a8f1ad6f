// The .npy reader and writer of the examples, and files that are not proper .npy files.
#include "examples/npy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "examples/input_error.hpp"
#include "examples/output_file.hpp"
#include "tests/support/files.hpp"

namespace {

using example::InputError;
using example::NpyFile;
using example::NpyHeader;
using relayout::Dims;
using relayout::DType;
using relayout::test::text_of;
namespace fs = std::filesystem;

/// An .npy file of this version whose header's length field says `said` more than the header has.
std::string npy(int version, const std::string& header, const std::string& data, int said = 0) {
  std::string text = std::string("\x93NUMPY", 6) + static_cast<char>(version) + '\0';
  const std::uint32_t length = static_cast<std::uint32_t>(static_cast<int>(header.size()) + said);
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(length >> (8 * i) & 0xff);
  return text + header + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }    \n";
}

class NpyTest : public ::testing::Test {
 protected:
  NpyTest() : folder_(fs::path(::testing::TempDir()) / ("npy_test_" + std::to_string(::getpid()) + name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~NpyTest() override { fs::remove_all(folder_); }

  static std::string name() { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::string path(const std::string& file = "x.npy") const { return (folder_ / file).string(); }

  std::string store(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  /// The sentence with which the file is refused; empty when it is read.
  std::string refusal(const std::string& bytes) const {
    try {
      NpyFile file(store(bytes));
      std::vector<char> data(file.data_bytes());
      file.read(data.data());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  void expect_refusal(const std::string& bytes, const std::string& part) const {
    const std::string sentence = refusal(bytes);
    EXPECT_NE(sentence.find(part), std::string::npos) << "sentence: '" << sentence << "', expected: " << part;
    EXPECT_EQ(sentence.rfind(path(), 0), 0u) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }

 private:
  fs::path folder_;
};

TEST_F(NpyTest, ReadsEveryVersionAndType) {
  const std::vector<float> values = {1.0f, -2.5f, 3.0f, 0.0f, 1e-30f, 6.0f};
  const std::string data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  for (const int version : {1, 2, 3}) {
    NpyFile file(store(npy(version, header("<f4", "(2, 3)"), data)));
    EXPECT_EQ(file.dtype(), DType::f32);
    EXPECT_EQ(file.shape(), (Dims{2, 3}));
    ASSERT_EQ(file.data_bytes(), data.size());
    std::vector<float> read(6);
    file.read(read.data());
    EXPECT_EQ(read, values);
    EXPECT_EQ(file.view(read.data()).strides(), (Dims{3, 1}));
  }
  EXPECT_EQ(NpyFile(store(npy(1, header("<f2", "(3,)"), std::string(6, '\1')))).dtype(), DType::f16);
  EXPECT_EQ(NpyFile(store(npy(1, header("<f8", "(1, 1)"), std::string(8, '\1')))).dtype(), DType::f64);
}

TEST_F(NpyTest, FortranOrderBecomesStrides) {
  const NpyFile file(store(npy(1, header("<f2", "(2, 3, 4)", true), std::string(48, '\0'))));
  const relayout::TensorView view = file.view(nullptr);
  EXPECT_EQ(view.shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(view.strides(), (Dims{1, 2, 6}));
}

TEST_F(NpyTest, ReadsShapesWithoutElementsAndWithoutAxes) {
  EXPECT_EQ(NpyFile(store(npy(1, header("<f4", "(3, 0, 2)"), ""))).data_bytes(), 0u);
  EXPECT_EQ(NpyFile(store(npy(1, header("<f4", "()"), "abcd"))).shape(), Dims{});
}

TEST_F(NpyTest, AcceptsAnyOrderOfKeysAndEitherQuote) {
  const NpyHeader parsed =
      example::parse_npy_header("x", "{ \"shape\":(7,),\"fortran_order\":True,\"descr\":\"<f8\"}");
  EXPECT_EQ(parsed.dtype, DType::f64);
  EXPECT_TRUE(parsed.fortran_order);
  EXPECT_EQ(parsed.shape, Dims{7});
}

TEST_F(NpyTest, RefusesOtherFiles) {
  EXPECT_THROW(NpyFile{path("missing.npy")}, InputError);
  EXPECT_THROW(NpyFile{fs::path(path()).parent_path().string()}, InputError);
  expect_refusal("", "no .npy file");
  expect_refusal("PK\x03\x04 this is a zip archive", "no .npy file");
  expect_refusal(npy(4, header("<f4", "(1,)"), "abcd"), "version 4.0 is unknown");
  expect_refusal(std::string("\x93NUMPY\x01\x01", 8) + "abc", "version 1.1 is unknown");
}

TEST_F(NpyTest, RefusesTruncatedFilesAtEveryByte) {
  for (const int version : {1, 2}) {
    const std::string whole = npy(version, header("<f2", "(2, 3)"), std::string(12, '\1'));
    ASSERT_EQ(refusal(whole), "");
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_NE(refusal(whole.substr(0, bytes)), "") << bytes << " of " << whole.size();
    }
  }
  expect_refusal(npy(1, header("<f4", "(2, 3)"), std::string(23, '\1')), "has 23 bytes of data");
  expect_refusal(npy(1, header("<f4", "(2, 3)"), std::string(25, '\1')), "has 25 bytes of data");
  expect_refusal(npy(2, header("<f4", "(1,)"), "abcd", 1000000000), "truncated in its header");
}

TEST_F(NpyTest, RefusesImpossibleShapesWithoutAllocating) {
  const std::string data(8, '\0');
  expect_refusal(npy(1, header("<f4", "(-1, 2)"), data), "negative extent");
  expect_refusal(npy(1, header("<f4", "(9223372036854775808,)"), data), "does not fit 63 bits");
  expect_refusal(npy(1, header("<f4", "(99999999999999999999999999,)"), data), "does not fit 63 bits");
  expect_refusal(npy(1, header("<f4", "(4294967296, 4294967296)"), data), "impossible");
  expect_refusal(npy(1, header("<f4", "(4611686018427387904, 4)"), data), "impossible");
  expect_refusal(npy(1, header("<f4", "(1000000000000,)"), data), "needs 4000000000000");
  std::string axes = "(";
  for (int i = 0; i < 33; ++i) axes += "1, ";
  expect_refusal(npy(1, header("<f4", axes + ")"), "abcd"), "more than 32 axes");
}

TEST_F(NpyTest, RefusesOtherElementTypes) {
  expect_refusal(npy(1, header(">f4", "(1,)"), "abcd"), "big endian");
  expect_refusal(npy(1, header(">f2", "(1,)"), "ab"), "big endian");
  expect_refusal(npy(1, header("<i4", "(1,)"), "abcd"), "'<i4'");
  expect_refusal(npy(1, header("|O", "(1,)"), "abcd"), "'|O'");
  expect_refusal(npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd"),
                 "no dictionary of plain values");
}

TEST_F(NpyTest, RefusesMalformedHeaders) {
  const std::vector<std::string> headers = {
      "",
      "\n",
      "{",
      "}",
      "{}",
      "[1, 2]",
      "'descr'",
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} and more",
      "{'descr': '<f4', 'fortran_order': False 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4",
  };
  for (const std::string& text : headers) {
    SCOPED_TRACE(text);
    expect_refusal(npy(1, text, "abcd"), "the .npy header");
  }
}

TEST_F(NpyTest, WritesWhatItReads) {
  const std::vector<relayout::f16> halves = {{0x3c00}, {0xc000}, {0x0001}, {0x7bff}, {0x8000}, {0x7c00}};
  std::ostringstream out;
  example::write_npy(out, relayout::TensorView(halves.data(), DType::f16, {1, 2, 3}));
  const std::string bytes = out.str();
  EXPECT_EQ((bytes.size() - 12) % 64, 0u);
  EXPECT_EQ(bytes[bytes.size() - 13], '\n');
  NpyFile file(store(bytes));
  EXPECT_EQ(file.dtype(), DType::f16);
  EXPECT_EQ(file.shape(), (Dims{1, 2, 3}));
  std::vector<relayout::f16> read(6);
  file.read(read.data());
  EXPECT_EQ(std::memcmp(read.data(), halves.data(), 12), 0);
}

TEST_F(NpyTest, WritesBf16AsFloats) {
  std::vector<relayout::bf16> values(70000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<std::uint16_t>(i);
  std::ostringstream out;
  example::write_npy(out, relayout::TensorView(values.data(), DType::bf16, {70000}));
  NpyFile file(store(out.str()));
  EXPECT_EQ(file.dtype(), DType::f32);
  std::vector<std::uint32_t> read(values.size());
  ASSERT_EQ(file.data_bytes(), read.size() * 4);
  file.read(read.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(read[i], std::uint32_t{values[i].bits} << 16) << i;
}

TEST_F(NpyTest, OutputFilesAppearOnCommitOnly) {
  const fs::path folder = fs::path(path()).parent_path();
  const auto write = [](std::ostream& out) { out << "whole"; };
  {
    example::OutputFiles files;
    files.add(path("a.npy"), write);
    EXPECT_FALSE(fs::exists(path("a.npy")));
  }
  EXPECT_TRUE(fs::is_empty(folder));
  {
    example::OutputFiles files;
    files.add(path("a.npy"), write);
    EXPECT_THROW(files.add(path("b.npy"), [](std::ostream& out) { out.setstate(std::ios::badbit); }),
                 InputError);
  }
  EXPECT_TRUE(fs::is_empty(folder));
  {
    example::OutputFiles files;
    files.add(path("a.npy"), write);
    files.add(path("b.npy"), write);
    files.commit();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  EXPECT_EQ(fs::file_size(path("a.npy")), 5u);
}

void store_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST_F(NpyTest, OutputPathsAreCheckedBeforehand) {
  EXPECT_NO_THROW(example::check_output_paths({path("new.npy"), path("other.npy")}));
  EXPECT_THROW(example::check_output_paths({path("missing/new.npy")}), InputError);
  EXPECT_THROW(example::check_output_paths({fs::path(path()).parent_path().string()}), InputError);
  EXPECT_THROW(example::check_output_paths({"/dev/full"}), InputError);
  fs::create_symlink("b.npy", path("a.npy"));
  fs::create_symlink("a.npy", path("b.npy"));
  EXPECT_THROW(example::check_output_paths({path("a.npy")}), InputError);
}

TEST_F(NpyTest, TwoNamesOfOneFileAreFound) {
  const fs::path folder = fs::path(path()).parent_path();
  EXPECT_THROW(example::check_output_paths({path("y.npy"), path("y.npy")}), InputError);
  EXPECT_THROW(example::check_output_paths({path("y.npy"), path("./y.npy")}), InputError);
  fs::create_directory(folder / "real");
  fs::create_directory_symlink("real", folder / "link");
  EXPECT_THROW(example::check_output_paths({path("real/y.npy"), path("link/y.npy")}), InputError);
  fs::create_symlink("y.npy", folder / "name.npy");  // y.npy does not exist
  EXPECT_THROW(example::check_output_paths({path("y.npy"), path("name.npy")}), InputError);
  store_text(path("z.npy"), "z");
  fs::create_hard_link(folder / "z.npy", folder / "same.npy");
  EXPECT_THROW(example::check_output_paths({path("z.npy"), path("same.npy")}), InputError);
}

TEST_F(NpyTest, OutputsOfOneNameInTwoFoldersKeepApart) {
  const fs::path folder = fs::path(path()).parent_path();
  fs::create_directory(folder / "a");
  fs::create_directory(folder / "b");
  example::OutputFiles files;
  files.add(path("a/y.npy"), [](std::ostream& out) { out << 1; });
  files.add(path("b/y.npy"), [](std::ostream& out) { out << 2; });
  files.commit();
  EXPECT_EQ(text_of(path("a/y.npy")) + text_of(path("b/y.npy")), "12");
}

TEST_F(NpyTest, AFailedCommitLeavesWhatWasThere) {
  const fs::path folder = fs::path(path()).parent_path();
  store_text(path("old.npy"), "old");
  {
    example::OutputFiles files;
    files.add(path("old.npy"), [](std::ostream& out) { out << "new"; });
    files.add(path("fresh.npy"), [](std::ostream& out) { out << "new"; });
    files.add(path("taken.npy"), [](std::ostream& out) { out << "new"; });
    fs::create_directory(folder / "taken.npy");
    EXPECT_THROW(files.commit(), InputError);
  }
  EXPECT_EQ(text_of(path("old.npy")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST_F(NpyTest, AReplacedFileKeepsItsModeAndItsLinks) {
  const fs::path folder = fs::path(path()).parent_path();
  store_text(path("y.npy"), "old");
  fs::permissions(folder / "y.npy", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("y.npy", folder / "link.npy");
  const std::string long_name(255, 'n');
  example::OutputFiles files;
  files.add(path("link.npy"), [](std::ostream& out) { out << "new"; });
  files.add(path(long_name), [](std::ostream& out) { out << "new"; });
  files.commit();
  EXPECT_TRUE(fs::is_symlink(folder / "link.npy"));
  EXPECT_EQ(text_of(path("y.npy")), "new");
  EXPECT_EQ(fs::status(folder / "y.npy").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(text_of(path(long_name)), "new");
}

TEST_F(NpyTest, ASignalLeavesNoPartialFile) {
  const fs::path folder = fs::path(path()).parent_path();
  store_text(path("y.npy"), "old");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          example::OutputFiles files;
          files.add(path("y.npy"), [](std::ostream& out) { out << "new"; });
          files.add(path("z.npy"), [number](std::ostream&) { std::raise(number); });
        },
        ::testing::KilledBySignal(number), "");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
    EXPECT_EQ(text_of(path("y.npy")), "old");
  }
}

}  // namespace
