#include "io/output_dir.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>

#include "io/file.h"

namespace xlog::io {

bool write_output_dir(const std::string& folder, Format format, const Results& results,
                      Diagnostics& diagnostics, std::vector<std::string>& written) {
  const auto failed = [&](const std::string& path, const std::string& reason) {
    diagnostics.report(Code::CannotWriteFile, {},
                       fmt::format("cannot write `{}`: {}", path, reason));
    return false;
  };
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return failed(folder, error.message());
  if (!std::filesystem::is_directory(folder)) return failed(folder, "it is not a folder");

  // First everything under temporary names: a full disk leaves no half of an answer.
  std::deque<AtomicFile> files;
  for (const uint32_t query : results.queries) {
    const std::string name = fmt::format("query_{}{}", query + 1, file_ending(format));
    const std::string path = (std::filesystem::path(folder) / name).string();
    AtomicFile& file = files.emplace_back();
    if (!file.open(path)) return failed(path, file.reason());
    Results one = results;
    one.queries = {query};
    Output out{.text = {}, .stream = file.stream()};
    write(format == Format::Table ? Format::Csv : format, one, out);
    out.flush();
    if (!file.finish()) return failed(path, file.reason());
    written.push_back(path);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].commit()) return failed(written[i], files[i].reason());
  }
  return true;
}

}  // namespace xlog::io
