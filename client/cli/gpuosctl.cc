// gpuosctl: shows what gpuosd does.
#include <iostream>

#include "client/cli/run.h"

int main(int argc, char** argv) { return gpuos::cli::Run(argc, argv, std::cout, std::cerr); }
