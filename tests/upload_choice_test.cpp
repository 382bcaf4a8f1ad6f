// How an upload is chosen from made-up rates.
#include <gtest/gtest.h>

#include <string>

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// Choices from made-up rates, in bytes per second.
class UploadChoiceTest : public ::testing::Test {
 protected:
  UploadChoiceTest() {
    problem_.batch = 8;
    problem_.in_channels = 2048;
    problem_.length = 8192;
    problem_.window.taps = 4;
    problem_.pad.left = 3;
    rates_.pinned_link = rates_.input_link = 50e9;
    rates_.device = 4000e9;
    rates_.cast = 200e9;
    rates_.cast_transpose = 40e9;
    rates_.stage = 150e9;
    rates_.seconds_per_chunk = 10e-6;
  }
  /// The elements are not looked at.
  Conv1dChoice choose(bool pinned = true) const {
    const TensorView input(this, DType::f32, {problem_.batch, problem_.in_channels, problem_.length});
    OverlapOptions options;
    options.pinned_input = pinned;
    return choose_upload(problem_, input, rates_, options);
  }

  Conv1d problem_;
  Conv1dRates rates_;
};

TEST_F(UploadChoiceTest, AFastCastHalvesWhatTheLinkCarries) {
  const Conv1dChoice choice = choose();
  EXPECT_EQ(choice.upload, Upload::overlap);
  EXPECT_EQ(choice.overlap.host_work, HostWork::cast);
  EXPECT_TRUE(choice.overlap.pinned_input);
  // 268 MB at 50 GB/s, and a 64th of the rest.
  EXPECT_NEAR(choice.estimates[0].link, 5.37e-3, 0.01e-3);
  EXPECT_GT(choice.estimates[0].seconds, choice.estimates[0].link);
  EXPECT_LT(choice.estimates[0].seconds, 1.05 * choice.estimates[0].link);
  const std::string text = choice.explain();
  for (const char* word : {"overlap with cast", "200.0 GB/s", "40.0 GB/s", "50.0 GB/s", "device", "host"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST_F(UploadChoiceTest, ASlowCastIsNotWorthItFromPinnedMemory) {
  rates_.cast = 0.9 * rates_.pinned_link;
  EXPECT_EQ(choose().estimates[0].name(), "overlap without host work");
  rates_.cast = 1.2 * rates_.pinned_link;
  EXPECT_EQ(choose().estimates[0].name(), "overlap with cast");
}

TEST_F(UploadChoiceTest, FromPageableMemoryEvenASlowCastBeatsStaging) {
  rates_.input_link = 8e9;
  rates_.cast = 30e9;
  rates_.cast_transpose = 10e9;
  rates_.stage = 25e9;
  EXPECT_EQ(choose(false).estimates[0].name(), "overlap with cast");
  rates_.stage = 35e9;
  EXPECT_EQ(choose(false).estimates[0].name(), "overlap without host work");
}

TEST_F(UploadChoiceTest, TransposingOnTheHostPaysOnlyWhereItIsFree) {
  rates_.cast_transpose = 2 * rates_.cast;  // as if the host were faster so
  rates_.cast = 60e9;
  EXPECT_EQ(choose().estimates[0].name(), "overlap with cast-transpose");
}

TEST_F(UploadChoiceTest, ASmallInputGoesAtOnce) {
  problem_.batch = 1;
  problem_.in_channels = 64;
  problem_.length = 2048;
  EXPECT_EQ(choose().upload, Upload::device);
  rates_.seconds_per_chunk = 0;
  rates_.input_link = 5e9;
  EXPECT_NE(choose(false).upload, Upload::device);
}

TEST_F(UploadChoiceTest, WhatIsDoneInTurnTakesTheSum) {
  rates_.concurrent = false;
  for (const Conv1dEstimate& estimate : choose().estimates) {
    EXPECT_DOUBLE_EQ(estimate.seconds, estimate.host + estimate.link + estimate.device);
  }
  rates_.concurrent = true;
  for (const Conv1dEstimate& estimate : choose().estimates) {
    if (estimate.upload == Upload::overlap) continue;
    EXPECT_DOUBLE_EQ(estimate.seconds, estimate.host + estimate.link + estimate.device);
  }
}

}  // namespace
}  // namespace relayout::test
