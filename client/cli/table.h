// Aligned text tables.
#ifndef GPUOS_CLIENT_CLI_TABLE_H_
#define GPUOS_CLIENT_CLI_TABLE_H_

#include <string>
#include <vector>

namespace gpuos::cli {

// Columns as wide as their widest cell, two spaces between, one line a row, nothing after the last
// cell. Widths count code points, so that "µ" takes one column. Thread-compatible.
class Table {
 public:
  struct Column {
    std::string title;
    // Numbers stand at the right.
    bool right = false;
  };

  explicit Table(std::vector<Column> columns);
  // One cell for each column; missing ones are empty.
  void AddRow(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // The first holds the titles.
};

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_TABLE_H_
