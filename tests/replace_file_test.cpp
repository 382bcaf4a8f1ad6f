// Files that are replaced whole or not at all: plan caches and the benchmarks' reports.
#include "host/api/replace_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "relayout/error.hpp"
#include "tests/support/files.hpp"

namespace relayout {
namespace {

namespace fs = std::filesystem;
using test::text_of;

class ReplaceFileTest : public ::testing::Test {
 protected:
  ReplaceFileTest() : folder_(fs::temp_directory_path() / ("replace_file_" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
  }
  ~ReplaceFileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

 private:
  fs::path folder_;
};

TEST_F(ReplaceFileTest, WritesAndReplaces) {
  replace_file(path("a"), "first");
  EXPECT_EQ(text_of(path("a")), "first");
  replace_file(path("a"), "second, and longer");
  EXPECT_EQ(text_of(path("a")), "second, and longer");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplaceFileTest, TheOldFileSurvivesAFailure) {
  replace_file(path("a"), "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_THROW(replace_file(path("a"), std::string(5000, 'x')), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(text_of(path("a")), "old");
  EXPECT_EQ(files(), 1);
  EXPECT_THROW(replace_file(path("missing/a"), "x"), Error);
  EXPECT_THROW(replace_file("", "x"), Error);
}

TEST_F(ReplaceFileTest, FollowsLinksAndKeepsTheMode) {
  replace_file(path("a"), "old");
  const fs::perms mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  fs::permissions(path("a"), mode);
  fs::create_symlink("a", path("link"));
  replace_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), mode);
  fs::create_symlink("not yet", path("dangling"));
  replace_file(path("dangling"), "made");
  EXPECT_EQ(text_of(path("not yet")), "made");
}

TEST_F(ReplaceFileTest, LinksThatLeadInACircleStay) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_THROW(replace_file(path("a"), "text"), Error);
  EXPECT_TRUE(fs::is_symlink(path("a")) && fs::is_symlink(path("b")));
  EXPECT_EQ(files(), 2);
}

TEST_F(ReplaceFileTest, FilesAreCheckedBeforehand) {
  replace_file(path("a"), "old");
  fs::create_symlink("a", path("link"));
  fs::create_symlink("new", path("dangling"));
  EXPECT_NO_THROW(check_files({path("a"), path("new"), "", ""}, {path("b"), ""}));
  EXPECT_NO_THROW(check_files({"/dev/null", "/dev/null"}, {"/dev/null"}));
  EXPECT_THROW(check_files({path("a")}, {path("b"), path("./a")}), Error);
  EXPECT_THROW(check_files({path("link")}, {path("a")}), Error);
  EXPECT_THROW(check_files({path("a"), path("link")}, {}), Error);
  EXPECT_THROW(check_files({path("new"), path("dangling")}, {}), Error);
  fs::create_hard_link(path("a"), path("same"));
  EXPECT_THROW(check_files({path("same")}, {path("a")}), Error);
  fs::create_directory(path("folder"));
  EXPECT_NO_THROW(check_files({path("new"), path("folder/new")}, {path("folder/a")}));
  EXPECT_THROW(check_files({path("folder")}, {}), Error);
  EXPECT_THROW(check_files({path("missing/a")}, {}), Error);
  EXPECT_THROW(check_files({path("")}, {}), Error);
}

TEST_F(ReplaceFileTest, WritesStraightToADevice) {
  EXPECT_NO_THROW(replace_file("/dev/null", "text"));
  EXPECT_THROW(replace_file("/dev/full", "text"), Error);
}

TEST_F(ReplaceFileTest, ManyMayWriteAtOnce) {
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c) {
    writers.emplace_back([this, c] {
      for (int i = 0; i < 20; ++i) replace_file(path("a"), std::string(3000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = text_of(path("a"));
  ASSERT_EQ(text.size(), 3000u);
  EXPECT_EQ(text, std::string(3000, text[0]));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace relayout
