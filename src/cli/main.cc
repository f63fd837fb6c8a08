#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  return muster::cli::run_cli(std::vector<std::string>(argv + 1, argv + argc));
}
