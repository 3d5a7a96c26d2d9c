// A main for fuzz targets where libFuzzer is not there (g++ builds): runs the target once over
// each file given, and each file below each folder given. Replays seeds and regressions in ctest.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

// The files to run, sorted within each folder so that two runs do the same work in the same order.
std::vector<fs::path> files_below(const fs::path& start) {
  if (!fs::is_directory(start)) return {start};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(start)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool run_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot read it\n", file.c_str());
    return false;
  }
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  // Named before the run: if the target crashes, this is the last line.
  std::fprintf(stderr, "%s: %zu bytes\n", file.c_str(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  size_t runs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : files_below(argv[i])) {
      if (!run_file(file)) return 1;
      ++runs;
    }
  }
  if (runs == 0) {
    std::fprintf(stderr, "usage: %s FILE-OR-FOLDER...  (no input found)\n", argv[0]);
    return 2;
  }
  std::fprintf(stderr, "%zu inputs, all fine\n", runs);
  return 0;
}
