#include "kernels/worker/worker_resources.h"

#include <regex>
#include <sstream>

namespace gpuos::worker {
namespace {

// The part of `text` from the line that holds `start` to the line that holds `end`, or to its end.
std::string Section(const std::string& text, const std::string& start, const std::string& end) {
  const std::size_t from = text.find(start);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from + start.size());
  return text.substr(from, to == std::string::npos ? to : to - from);
}

// Sets `name` to the sum of the numbers that `pattern` captures, if it matches.
void Take(const std::string& text, const std::string& pattern, const std::string& name,
          Resources& out) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return;
  long sum = 0;
  for (std::size_t i = 1; i < match.size(); ++i) sum += std::stol(match[i].str());
  out[name] = sum;
}

}  // namespace

std::optional<Resources> ParseBudget(const std::string& text) {
  Resources budget;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    long number = 0;
    std::string rest;
    if (!(words >> name >> number) || (words >> rest)) return std::nullopt;
    budget[name] = number;
  }
  return budget;
}

Resources ParseResources(const std::string& text) {
  Resources used;
  const std::string compiled = Section(text, "Function properties for gpuos_worker", "# ptxas");
  Take(compiled, "^[^\n]*\n[^\n]* (\\d+) bytes spill stores, (\\d+) bytes spill loads",
       "spill_bytes", used);
  const std::string linked =
      Section(Section(text, "# linked", "\n#"), "'gpuos_worker'", "Function");
  Take(linked, "used (\\d+) registers", "registers", used);
  Take(linked, "used (\\d+) barriers", "barriers", used);
  Take(linked, " (\\d+) stack", "stack_bytes", used);
  Take(linked, " (\\d+) bytes smem", "shared_bytes", used);
  return used;
}

std::vector<std::string> Excesses(const Resources& used, const Resources& budget) {
  std::vector<std::string> sentences;
  for (const auto& [name, limit] : budget) {
    const auto found = used.find(name);
    if (found == used.end()) {
      sentences.push_back("the tools did not say how much the worker uses of " + name);
      continue;
    }
    const bool exact = name == "registers";
    if (exact ? found->second == limit : found->second <= limit) continue;
    sentences.push_back("the worker uses " + std::to_string(found->second) + " " + name + "; " +
                        (exact ? "it must be exactly " : "the budget is ") + std::to_string(limit) +
                        " (kernels/worker/budget.txt says what depends on it)");
  }
  return sentences;
}

}  // namespace gpuos::worker
