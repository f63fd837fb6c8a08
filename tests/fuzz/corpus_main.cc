// Runs a fuzz target over a corpus as an ordinary test: every file of each given directory is fed
// to the target once, in the order of the names. A crash, a failed check or a sanitizer report is
// the failure.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool read_file(const std::filesystem::path& path, std::vector<char>& out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  out.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return !in.bad();
}

// The number of files fed, or -1.
int run_directory(const char* directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->is_regular_file()) files.push_back(it->path());
  }
  if (error) {
    std::fprintf(stderr, "cannot list corpus %s: %s\n", directory, error.message().c_str());
    return -1;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::vector<char> bytes;
    if (!read_file(file, bytes)) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return -1;
    }
    std::printf("%s (%zu bytes)\n", file.filename().c_str(), bytes.size());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return static_cast<int>(files.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY...\n", argv[0]);
    return 2;
  }
  int total = 0;
  for (int i = 1; i < argc; ++i) {
    const int count = run_directory(argv[i]);
    if (count < 0) return 1;
    total += count;
  }
  std::printf("%d inputs\n", total);
  // An empty corpus would let the test pass without testing anything.
  return total > 0 ? 0 : 1;
}
