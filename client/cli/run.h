// gpuosctl as a function.
#ifndef GPUOS_CLIENT_CLI_RUN_H_
#define GPUOS_CLIENT_CLI_RUN_H_

#include <ostream>

namespace gpuos::cli {

// How gpuosctl ends.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  // The daemon was not reached or said no.
  kUsage = 2,   // The command line is wrong.
};

// Parses the command line, asks the daemon and writes the answer to `out`, or one sentence to
// `err`. Returns the exit code. Blocks as Admin does.
int Run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_RUN_H_
