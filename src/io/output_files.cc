#include "io/output_files.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

#include "io/file.h"
#include "io/sqlite_write.h"

namespace xlog::io {
namespace {

bool failed(Diagnostics& diagnostics, const std::string& path, const std::string& reason) {
  diagnostics.report(Code::CannotWriteFile, {}, fmt::format("cannot write `{}`: {}", path, reason));
  return false;
}

// The folders of a path that are not there yet: unless kept, they go again.
class NewFolders {
 public:
  explicit NewFolders(const std::filesystem::path& folder) {
    std::error_code error;
    for (std::filesystem::path path = folder; !path.empty(); path = path.parent_path()) {
      if (std::filesystem::exists(path, error)) break;
      missing_.push_back(path);
      if (path == path.parent_path()) break;
    }
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() {
    // What somebody else has put something into stays.
    for (const std::filesystem::path& path : missing_) (void)::rmdir(path.c_str());
  }
  void keep() { missing_.clear(); }

 private:
  std::vector<std::filesystem::path> missing_;  // the innermost first
};

// Everything but the last step, which makes it visible. Returns the reason when it cannot.
std::string prepare(AtomicFile& file, const std::string& path, Format format,
                    const Results& results) {
  if (!file.open(path)) return file.reason();
  if (format == Format::Sqlite) {
    std::string reason = reason_to_keep_sqlite(file.path());
    if (reason.empty()) reason = write_sqlite(file.temporary_path(), results);
    if (!reason.empty()) return reason;
  } else {
    Output out{.text = {}, .stream = file.stream()};
    write(format, results, out);
    out.flush();
  }
  return file.finish() ? "" : file.reason();
}

}  // namespace

bool check_output_file(const std::string& path, Format format, Diagnostics& diagnostics) {
  AtomicFile file;
  if (!file.open(path)) return failed(diagnostics, path, file.reason());
  const std::string reason = format == Format::Sqlite ? reason_to_keep_sqlite(file.path()) : "";
  return reason.empty() || failed(diagnostics, path, reason);
}

bool check_output_dir(const std::string& folder, Diagnostics& diagnostics) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return true;  // it will be made
  if (!std::filesystem::is_directory(folder, error)) {
    return failed(diagnostics, folder, "it is not a folder");
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return true;
  return failed(diagnostics, folder, std::strerror(errno));
}

bool write_output_file(const std::string& path, Format format, const Results& results,
                       Diagnostics& diagnostics, std::vector<std::string>& written) {
  AtomicFile file;
  const std::string reason = prepare(file, path, format, results);
  if (!reason.empty()) return failed(diagnostics, path, reason);
  if (!file.commit()) return failed(diagnostics, path, file.reason());
  written.push_back(path);
  return true;
}

bool write_output_dir(const std::string& folder, Format format, const Results& results,
                      Diagnostics& diagnostics, std::vector<std::string>& written) {
  NewFolders made(folder);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return failed(diagnostics, folder, error.message());
  if (!std::filesystem::is_directory(folder)) {
    return failed(diagnostics, folder, "it is not a folder");
  }

  // First everything under temporary names: a full disk leaves no half of an answer.
  std::deque<AtomicFile> files;
  for (const uint32_t query : results.queries) {
    const std::string name = fmt::format("query_{}{}", query + 1, file_ending(format));
    const std::string path = (std::filesystem::path(folder) / name).string();
    Results one = results;
    one.queries = {query};
    const Format file_format = format == Format::Table ? Format::Csv : format;
    const std::string reason = prepare(files.emplace_back(), path, file_format, one);
    if (!reason.empty()) return failed(diagnostics, path, reason);
    written.push_back(path);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].commit()) return failed(diagnostics, written[i], files[i].reason());
  }
  made.keep();
  return true;
}

}  // namespace xlog::io
