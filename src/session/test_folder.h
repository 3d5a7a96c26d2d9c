// A folder of its own for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace xlog::session {

class TestFolder {
 public:
  TestFolder() {
    // In memory where that is possible: thousands of syncs cost nothing there.
    std::error_code error;
    std::string name = std::filesystem::is_directory("/dev/shm", error)
                           ? "/dev/shm"
                           : std::filesystem::temp_directory_path().string();
    name += "/xlog_session_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace xlog::session
