#include "cli/cli.h"

int main(int argc, char** argv) { return xlog::cli::run_cli(argc, argv); }
