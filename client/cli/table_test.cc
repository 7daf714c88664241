#include "client/cli/table.h"

#include <gtest/gtest.h>

namespace gpuos::cli {
namespace {

TEST(TableTest, AlignsColumnsAndLeavesNothingAtTheEndOfALine) {
  Table table({{"NAME"}, {"CALLS", true}, {"NOTE"}});
  table.AddRow({"add", "12", "adds"});
  table.AddRow({"softmax", "1,234", ""});
  table.AddRow({"x"});
  EXPECT_EQ(table.ToString(),
            "NAME     CALLS  NOTE\n"
            "add         12  adds\n"
            "softmax  1,234\n"
            "x\n");
}

TEST(TableTest, CountsCodePointsNotBytes) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"µs", "1"});
  table.AddRow({"ms", "2"});
  EXPECT_EQ(table.ToString(), "A   B\nµs  1\nms  2\n");
}

}  // namespace
}  // namespace gpuos::cli
