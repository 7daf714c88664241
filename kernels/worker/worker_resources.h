// Test only: what the GPU's worker uses, as the CUDA tools say it, against the budget.
#ifndef GPUOS_KERNELS_WORKER_WORKER_RESOURCES_H_
#define GPUOS_KERNELS_WORKER_WORKER_RESOURCES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuos::worker {

// Numbers by the names that budget.txt has for them.
using Resources = std::map<std::string, long>;

// Reads lines "name number"; '#' begins a comment line. nullopt if a line is neither.
std::optional<Resources> ParseBudget(const std::string& text);

// Reads a NAME.resources.txt of build_defs/cuda.bzl: spills of gpuos_worker as ptxas compiled it,
// the rest as nvlink linked it. A number that the text does not have is missing in the result.
Resources ParseResources(const std::string& text);

// A sentence for each number that is missing, over its budget, or, for registers, not equal to it.
std::vector<std::string> Excesses(const Resources& used, const Resources& budget);

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_WORKER_RESOURCES_H_
