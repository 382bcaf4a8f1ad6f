// main of a program that holds the tests of several files. A link to it has the name of one of the files, and
// runs the tests of that file; the program itself runs all.
#include <gtest/gtest.h>

#include <string>

namespace {

std::string stem(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.substr(0, name.find('.'));
}

bool has_tests_of(const testing::TestSuite& suite, const std::string& file) {
  for (int i = 0; i < suite.total_test_count(); ++i) {
    if (stem(suite.GetTestInfo(i)->file()) == file) return true;
  }
  return false;
}

// Patterns of GoogleTest's filter, for the suites that have tests of the file or for those that have none.
std::string suites(const std::string& file, bool of_the_file) {
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  std::string patterns;
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    if (has_tests_of(suite, file) == of_the_file) patterns += std::string(suite.name()) + ".*:";
  }
  return patterns;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = stem(argv[0]);
  testing::InitGoogleTest(&argc, argv);
  if (!suites(file, true).empty()) {
    std::string& filter = testing::GTEST_FLAG(filter);
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + suites(file, false);
  }
  return RUN_ALL_TESTS();
}
