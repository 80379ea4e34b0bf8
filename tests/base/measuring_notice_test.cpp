// Who measures learns who measures already.
#include "base/measuring_notice.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "tests/temp_dir.h"

namespace aoe {
namespace {

class MeasuringNoticeTest : public testing::Test {
 protected:
  Logger& log() { return *logger("tests"); }

  const tests::TempDir directory_;
  const std::filesystem::path file_ = directory_ / "notice";
};

TEST_F(MeasuringNoticeTest, TheSecondLearnsOfTheFirst) {
  const MeasuringNotice earlier(log(), file_);
  EXPECT_EQ(earlier.others(), "");
  const MeasuringNotice later(log(), file_);
  EXPECT_NE(later.others().find("process " + std::to_string(::getpid()) + ", since 20"),
            std::string::npos)
      << later.others();
}

TEST_F(MeasuringNoticeTest, WhoIsAloneAgainLearnsOfNobody) {
  { const MeasuringNotice earlier(log(), file_); }
  const MeasuringNotice later(log(), file_);
  EXPECT_EQ(later.others(), "");
}

TEST_F(MeasuringNoticeTest, TheThirdLearnsOfTheSecondWhenTheFirstHasEnded) {
  std::optional<MeasuringNotice> earlier(std::in_place, log(), file_);
  const MeasuringNotice later(log(), file_);
  earlier.reset();
  const MeasuringNotice latest(log(), file_);
  EXPECT_NE(latest.others(), "");
}

TEST_F(MeasuringNoticeTest, AProcessThatDiesMeasuresNoLonger) {
  const pid_t child = ::fork();
  if (child == 0) {
    const MeasuringNotice notice(log(), file_);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const MeasuringNotice notice(log(), file_);
  EXPECT_EQ(notice.others(), "");
}

TEST_F(MeasuringNoticeTest, AChildDoesNotMeasureWhenItsParentHasEnded) {
  std::optional<MeasuringNotice> earlier(std::in_place, log(), file_);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    ::close(ends[1]);
    ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
  }
  earlier.reset();
  EXPECT_EQ(MeasuringNotice(log(), file_).others(), "");
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
}

TEST_F(MeasuringNoticeTest, NoLinkIsFollowed) {
  std::ofstream(directory_ / "precious") << "kept";
  std::filesystem::create_symlink(directory_ / "precious", file_);
  const MeasuringNotice notice(log(), file_);
  std::string text;
  std::ifstream(directory_ / "precious") >> text;
  EXPECT_EQ(text, "kept");
}

TEST_F(MeasuringNoticeTest, WithoutAPlaceNobodyIsTold) {
  const MeasuringNotice earlier(log(), directory_ / "nowhere" / "notice");
  const MeasuringNotice later(log(), directory_ / "nowhere" / "notice");
  EXPECT_EQ(later.others(), "");
}

TEST_F(MeasuringNoticeTest, AFileOfOtherContentNamesNobodyWrong) {
  const MeasuringNotice earlier(log(), file_);
  std::ofstream(file_) << "no number, and 99999999 processes";
  EXPECT_EQ(MeasuringNotice(log(), file_).others(), "another program of this user");
}

}  // namespace
}  // namespace aoe
