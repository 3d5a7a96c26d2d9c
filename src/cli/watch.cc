// xlog watch FILE: runs again whenever the program, a module it imports or a data file changes.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "cli/options.h"

namespace xlog::cli {
namespace {

namespace fs = std::filesystem;

struct WatchOptions {
  RunOptions run;
  uint32_t debounce_ms = 250;
  bool once = false;
};

// Folders are watched rather than files: editors replace a file by renaming another over it.
class FileWatcher {
 public:
  FileWatcher() : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}
  ~FileWatcher() {
    if (fd_ >= 0) close(fd_);
  }
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  bool ok() const { return fd_ >= 0; }

  void watch(const std::string& file) {
    std::error_code error;
    const fs::path path = fs::absolute(file, error).lexically_normal();
    if (!error && files_.insert(path.string()).second) watch_folder_of(path);
  }

  // Returns when something has changed and then nothing more for `quiet_ms`.
  void wait(uint32_t quiet_ms) {
    // A folder may have been removed and made anew since it was watched; watching it twice is
    // harmless.
    for (const std::string& file : files_) watch_folder_of(file);
    while (!(poll_events(-1) && drain())) {
    }
    while (poll_events(static_cast<int>(quiet_ms))) drain();
  }

 private:
  bool poll_events(int timeout_ms) const {
    pollfd entry{fd_, POLLIN, 0};
    return poll(&entry, 1, timeout_ms) > 0;
  }

  // The folder of a file, or the nearest one above it that exists.
  void watch_folder_of(const fs::path& file) {
    constexpr uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE |
                                  IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
    for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
      const int id = inotify_add_watch(fd_, folder.c_str(), kChanges);
      if (id >= 0) folders_[id] = {folder, folder == file.parent_path()};
      if (id >= 0 || folder == folder.parent_path()) return;
    }
  }

  // Reads what there is; whether any of it concerns us. A module that is still missing may be about
  // to appear, so programs count even when they were not read before.
  bool drain() {
    bool ours = false;
    alignas(inotify_event) std::array<char, 16 * 1024> buffer;
    for (ssize_t n; (n = read(fd_, buffer.data(), buffer.size())) > 0;) {
      for (const char* at = buffer.data(); at < buffer.data() + n;) {
        inotify_event event;
        std::memcpy(&event, at, sizeof(event));
        const std::string name = event.len > 0 ? std::string(at + sizeof(event)) : "";
        ours = ours || concerns_us(event, name);
        at += sizeof(event) + event.len;
      }
    }
    return ours;
  }

  bool concerns_us(const inotify_event& event, const std::string& name) const {
    constexpr uint32_t kFolderGone = IN_IGNORED | IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF;
    if ((event.mask & kFolderGone) != 0) return true;
    const auto found = folders_.find(event.wd);
    if (found == folders_.end()) return false;
    const Folder& folder = found->second;
    return !folder.holds_file || name.ends_with(".xlog") ||
           files_.contains((folder.path / name).string());
  }

  struct Folder {
    fs::path path;
    bool holds_file;  // else a missing folder below it is waited for
  };

  int fd_;
  std::set<std::string> files_;
  std::map<int, Folder> folders_;
};

void print_separator(const std::string& file) {
  const std::string title =
      fmt::format("── {:%H:%M:%S} {} ", fmt::localtime(std::time(nullptr)), file);
  std::string line;
  for (size_t i = title.size(); i < 78; ++i) line += "─";
  fmt::print(stderr, "{}{}\n", title, line);
}

int watch(const WatchOptions& options) {
  FileWatcher watcher;
  if (!watcher.ok()) {
    fmt::print(stderr, "xlog watch: cannot watch files: {}\n", std::strerror(errno));
    return kProgramError;
  }
  // Ctrl-C is how one leaves, also in the middle of a run.
  std::signal(SIGINT, [](int) { _exit(kAnswered); });
  // Before the first run, so that a change during it counts.
  watcher.watch(options.run.file);
  for (const io::Input& input : options.run.pipeline.inputs) watcher.watch(input.path);
  while (true) {
    if (!options.once) print_separator(options.run.file);
    Outcome outcome;
    run_and_print(options.run, outcome);
    if (options.once) return outcome.exit_code;
    for (const auto& file : outcome.session.sources.files()) {
      if (!file->path.empty()) watcher.watch(file->path);
    }
    watcher.wait(options.debounce_ms);
  }
}

}  // namespace

void add_watch(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("watch", "Run a program again whenever its files change");
  auto options = std::make_shared<WatchOptions>();
  add_run_options(*command, options->run);
  command
      ->add_option("--debounce-ms", options->debounce_ms,
                   "Wait until nothing has changed for so long (default 250)")
      ->type_name("MS")
      ->check(CLI::Range(0, 60'000));
  command->add_flag("--once", options->once, "Run once and leave");
  command->footer(
      R"(Watched are the program, the modules it imports and the --input files. Ctrl-C ends it.

Examples:
  xlog watch family.xlog
  xlog watch reach.xlog --input edge=edges.csv --debounce-ms 50)");
  command->callback([options, &exit_code] {
    if (options->run.file == "-") {
      throw CLI::ValidationError("FILE", "standard input cannot be watched");
    }
    exit_code = watch(*options);
  });
}

}  // namespace xlog::cli
