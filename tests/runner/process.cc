#include "tests/runner/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace xlog::conformance {

namespace {

struct Pipe {
  int read_end = -1, write_end = -1;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
};

// Between fork and exec only calls that are safe there.
[[noreturn]] void become(const std::vector<char*>& argv, const std::string& folder, const Pipe& in,
                         const Pipe& out, const Pipe& err) {
  bool ready = dup2(in.read_end, 0) >= 0 && dup2(out.write_end, 1) >= 0 &&
               dup2(err.write_end, 2) >= 0 && (folder.empty() || chdir(folder.c_str()) == 0);
  if (ready) execv(argv[0], argv.data());
  _exit(127);
}

// Appends what is there; closes the end at end of file.
void drain(int& end, std::string& into) {
  std::array<char, 1 << 16> buffer;
  ssize_t n = read(end, buffer.data(), buffer.size());
  if (n > 0) into.append(buffer.data(), static_cast<size_t>(n));
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) Pipe::close_end(end);
}

// Writes what fits; closes the end when all is written or nobody reads.
void feed(int& end, const std::string& input, size_t& written) {
  ssize_t n = write(end, input.data() + written, input.size() - written);
  if (n > 0) written += static_cast<size_t>(n);
  bool failed = n < 0 && errno != EINTR && errno != EAGAIN;
  if (failed || written == input.size()) Pipe::close_end(end);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const std::string& input,
                          const std::string& folder, int timeout_seconds) {
  ProcessResult result;
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  Pipe in, out, err;
  if (!in.open() || !out.open() || !err.open()) {
    result.err = std::string("cannot make a pipe: ") + std::strerror(errno);
    return result;
  }
  pid_t child = fork();
  if (child < 0) {
    result.err = std::string("cannot fork: ") + std::strerror(errno);
    return result;
  }
  if (child == 0) become(arguments, folder, in, out, err);

  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  size_t written = 0;
  if (input.empty()) Pipe::close_end(in.write_end);

  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  while (out.read_end >= 0 || err.read_end >= 0) {
    std::array<pollfd, 3> ends{
        {{in.write_end, POLLOUT, 0}, {out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}}};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    deadline - std::chrono::steady_clock::now())
                    .count();
    if (left <= 0) {
      kill(child, SIGKILL);
      result.timed_out = true;
      break;
    }
    if (poll(ends.data(), ends.size(), static_cast<int>(left)) <= 0) continue;
    if (ends[0].revents != 0) feed(in.write_end, input, written);
    if (ends[1].revents != 0) drain(out.read_end, result.out);
    if (ends[2].revents != 0) drain(err.read_end, result.err);
  }

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.exit_code = 128 + WTERMSIG(status);
  return result;
}

}  // namespace xlog::conformance
