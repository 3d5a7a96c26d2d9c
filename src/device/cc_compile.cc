#include "device/cc_compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

extern char** environ;

namespace xlog::device {

namespace {

constexpr std::string_view kCompiler = "cc";
constexpr std::string_view kGetCompiler =
    "install a C compiler as `cc` (Debian: apt install gcc), or choose another device";

// No contraction, wrapping integers: the semantics of op.def. Errno and traps are nobody's concern,
// and without them square roots and comparisons vectorise.
constexpr std::string_view kFlags[] = {"-std=gnu11",        "-O3",
                                       "-march=native",     "-fPIC",
                                       "-shared",           "-w",
                                       "-fwrapv",           "-fno-strict-aliasing",
                                       "-ffp-contract=off", "-fno-math-errno",
                                       "-fno-trapping-math"};

// A folder of its own, gone at the end of the scope with everything in it.
class TempFolder {
 public:
  TempFolder() {
    std::error_code ignored;
    std::string path = std::filesystem::temp_directory_path(ignored).string();
    if (path.empty()) path = "/tmp";
    path += "/xlog-cc-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  bool ok() const { return !path_.empty(); }
  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  std::string path_;
};

Error no_temp_folder() {
  return {fmt::format("cannot make a temporary folder: {}", std::strerror(errno)),
          "set TMPDIR to a folder that can be written"};
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write_bytes(const std::string& path, const char* data, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(data, static_cast<std::streamsize>(size));
  out.close();
  return out.good();
}

std::string first_lines(const std::string& text, int lines) {
  std::istringstream in(text);
  std::string found, line;
  for (int k = 0; k < lines && std::getline(in, line); ++k) found += "\n  " + line;
  return found;
}

// Runs the compiler with all it says in the file `log`; gives its exit status.
Result<int> run_compiler(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Error{fmt::format("cannot run the C compiler `{}`: {}", argv[0], std::strerror(failed)),
                 std::string(kGetCompiler)};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return Error{fmt::format("lost the C compiler: {}", std::strerror(errno)), ""};
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// -march=native means another thing on another processor.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, found;
  while (std::getline(in, line) && !line.empty()) {  // the first core
    if (line.starts_with("model name") || line.starts_with("flags") ||
        line.starts_with("Features") || line.starts_with("CPU part")) {
      found += line + '\n';
    }
  }
  return found;
}

}  // namespace

Result<std::string> c_compiler() {
  const TempFolder folder;
  if (!folder.ok()) return no_temp_folder();
  const std::string log = folder.file("version");
  Result<int> status = run_compiler({std::string(kCompiler), "--version"}, log);
  if (!status.ok()) return status.error();
  const std::string said = read_text(log);
  if (*status != 0) {
    return Error{fmt::format("`{} --version` failed:{}", kCompiler, first_lines(said, 5)),
                 std::string(kGetCompiler)};
  }
  std::string text = said.substr(0, said.find('\n')) + '\n';
  for (std::string_view flag : kFlags) text.append(flag).append(" ");
  return text + '\n' + processor();
}

Result<std::vector<std::byte>> compile_c(std::string_view source) {
  const TempFolder folder;
  if (!folder.ok()) return no_temp_folder();
  const std::string input = folder.file("kernel.c"), output = folder.file("kernel.so"),
                    log = folder.file("log");
  if (!write_bytes(input, source.data(), source.size())) {
    return Error{fmt::format("cannot write {}", input), "is the disk full?"};
  }
  std::vector<std::string> arguments = {std::string(kCompiler)};
  arguments.insert(arguments.end(), std::begin(kFlags), std::end(kFlags));
  // Fma is a function of libm on processors without the instruction.
  for (const std::string& last : {input, std::string("-o"), output, std::string("-lm")}) {
    arguments.push_back(last);
  }
  Result<int> status = run_compiler(arguments, log);
  if (!status.ok()) return status.error();
  if (*status != 0) {
    return Error{fmt::format("the C compiler `{}` failed with status {}:{}", kCompiler, *status,
                             first_lines(read_text(log), 8)),
                 ""};
  }
  const std::string object = read_text(output);
  const auto* bytes = reinterpret_cast<const std::byte*>(object.data());
  return std::vector<std::byte>(bytes, bytes + object.size());
}

Result<LoadedC> load_c(std::span<const std::byte> object, const std::string& entry_point) {
  const TempFolder folder;  // the library stays mapped when its file is gone
  if (!folder.ok()) return no_temp_folder();
  const std::string path = folder.file("kernel.so");
  if (!write_bytes(path, reinterpret_cast<const char*>(object.data()), object.size())) {
    return Error{fmt::format("cannot write {}", path), "is the disk full?"};
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{fmt::format("cannot load a compiled kernel: {}", dlerror()),
                 "if the temporary folder forbids programs (noexec), set TMPDIR to another"};
  }
  LoadedC loaded;
  loaded.library = std::shared_ptr<void>(handle, [](void* library) { dlclose(library); });
  loaded.entry = reinterpret_cast<RangeFunction>(dlsym(handle, entry_point.c_str()));
  if (loaded.entry == nullptr) {
    return Error{fmt::format("a compiled kernel has no function {}", entry_point), ""};
  }
  return loaded;
}

}  // namespace xlog::device
