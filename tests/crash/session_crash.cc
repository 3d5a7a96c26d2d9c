// Kills `xlog session --state` at random moments and looks what is there afterwards: every commit
// that was acknowledged, perhaps the one in flight, and nothing else. Between some kills the end of
// the log is torn, repeated or followed by garbage.
//
//   session_crash XLOG [KILLS [SEED]]       XLOG_CRASH_KILLS=300 for a long run
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Facts = std::map<std::string, int>;  // "p(1, a)" -> weight

std::mt19937 generator;

uint32_t below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(generator); }

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  std::exit(1);
}

// ---- A running xlog ----

class Process {
 public:
  explicit Process(const std::vector<std::string>& words) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(out[1], STDERR_FILENO);
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Process() {
    end(SIGKILL);
    close(out_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(in_, text.data() + done, text.size() - done);
      if (n <= 0) return;  // it has ended; what it said tells more
      done += static_cast<size_t>(n);
    }
  }
  void close_input() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }
  // Reads for at most so long; false at the end of the output.
  bool read_for(int milliseconds) {
    pollfd entry{out_, POLLIN, 0};
    if (poll(&entry, 1, milliseconds) <= 0) return true;
    char block[4096];
    const ssize_t n = read(out_, block, sizeof(block));
    if (n <= 0) return false;
    said_.append(block, static_cast<size_t>(n));
    return true;
  }
  void read_all() {
    while (read_for(60'000)) {
    }
  }
  int end(int signal) {
    if (pid_ <= 0) return status_;
    if (signal != 0) kill(pid_, signal);
    close_input();
    waitpid(pid_, &status_, 0);
    pid_ = -1;
    return status_;
  }
  const std::string& said() const { return said_; }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, status_ = 0;
  std::string said_;
};

// ---- The model ----

class Crasher {
 public:
  Crasher(std::string xlog, const std::string& folder)
      : xlog_(std::move(xlog)), program_(folder + "/p.xlog"), state_(folder + "/state") {
    std::ofstream(program_) << "pred p(u32, symbol).\np(0, start).\n?- p(X, Y).\n";
    history_.push_back({{"p(0, start)", 1}});
    batches_.push_back({});
  }

  uint64_t kept() const { return history_.size() - 1; }

  // How long a start takes here, so that kills come before, in and after it.
  void measure_start() {
    const auto begin = std::chrono::steady_clock::now();
    restart(0, 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    usual_microseconds_ = static_cast<uint32_t>(std::clamp(took.count(), 2e-3, 1.0) * 1e6);
  }

  // Commands for commits and checkpoints, and what they will have done.
  void feed_and_kill() {
    const std::vector<Facts> before_history = history_;
    const std::vector<Facts> before_batches = batches_;
    Process process(command());
    const uint32_t commands = 1 + below(30);
    for (uint32_t i = 0; i < commands; ++i) process.send(random_command());
    const auto begin = std::chrono::steady_clock::now();
    const auto wait = std::chrono::microseconds(below(3 * usual_microseconds_));
    while (std::chrono::steady_clock::now() - begin < wait) process.read_for(1);
    process.end(SIGKILL);
    process.read_all();
    const uint64_t acknowledged =
        std::max<uint64_t>(before_history.size() - 1, last_acknowledged(process.said()));
    const uint64_t found = restart(acknowledged, std::min<uint64_t>(acknowledged + 1, kept()));
    history_.resize(found + 1);
    batches_.resize(found + 1);
  }

  // One more commit whose record is then torn, or damaged: it counts as never acknowledged.
  void tear_last_record() {
    const uint64_t size = fs::file_size(log());
    {
      Process process(command());
      process.send("+p(77, torn). commit.\n");
      process.close_input();
      process.read_all();
      if (process.said().find("commit " + std::to_string(kept() + 1)) == std::string::npos) {
        fail("no commit: " + process.said());
      }
    }
    const uint64_t grown = fs::file_size(log());
    if (grown <= size) fail("the log did not grow");
    const auto record = static_cast<uint32_t>(grown - size);
    if (below(2) == 0) {
      fs::resize_file(log(), size + below(record));
    } else {
      std::fstream file(log(), std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(size + below(record));
      file.seekg(at);
      const char byte = static_cast<char>(file.get() ^ (1 << below(8)));
      file.seekp(at);
      file.put(byte);
    }
    restart(kept(), kept());
  }

  // Bytes behind the end that nobody acknowledged.
  void add_garbage() {
    std::ifstream in(log(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    in.close();
    std::string garbage;
    switch (below(3)) {
      case 0:
        garbage = bytes.substr(bytes.size() - 1 - below(static_cast<uint32_t>(bytes.size() - 1)));
        break;
      case 1:
        garbage.assign(1 + below(300), '\0');
        break;
      default:
        for (uint32_t i = 0; i < 1 + below(300); ++i) garbage += static_cast<char>(below(256));
    }
    std::ofstream(log(), std::ios::binary | std::ios::app) << garbage;
    restart(kept(), kept());
  }

  // Starts once more without killing; checks that between `least` and `most` commits are there, and
  // the facts of exactly those. Returns how many.
  uint64_t restart(uint64_t least, uint64_t most) {
    Process process(command());
    process.send("log.\nanswer.\n");
    process.close_input();
    process.read_all();
    const int status = process.end(0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("no restart: " + process.said());
    const uint64_t found = last_acknowledged(process.said());
    if (found < least || found > most) {
      fail("commits " + std::to_string(least) + " to " + std::to_string(most) +
           " may be there, but there are " + std::to_string(found) + ":\n" + process.said());
    }
    std::string expected = "X,Y\n";
    for (const std::string& row : rows(history_[found])) expected += row + "\n";
    if (!process.said().ends_with(expected)) {
      fail("after commit " + std::to_string(found) + " expected\n" + expected + "but there is\n" +
           process.said());
    }
    return found;
  }

 private:
  std::vector<std::string> command() const {
    return {xlog_,    "session",  program_, "--state",      state_,    "--device",
            "interp", "--format", "csv",    "--keep-going", "--color", "never"};
  }
  std::string log() const { return state_ + "/log"; }

  // Commits are acknowledged as `commit N: ...` or `commit N (undo of M): ...`; `log.` lists them
  // as `N,...`.
  static uint64_t last_acknowledged(const std::string& text) {
    uint64_t last = 0;
    size_t begin = 0;
    while (true) {
      const size_t end = text.find('\n', begin);
      if (end == std::string::npos) return last;
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      unsigned long number = 0, inserted = 0, retracted = 0;
      if (std::sscanf(line.c_str(), "commit %lu", &number) == 1 ||
          std::sscanf(line.c_str(), "%lu,%lu,%lu,", &number, &inserted, &retracted) == 3) {
        last = std::max<uint64_t>(last, number);
      }
    }
  }

  static std::vector<std::string> rows(const Facts& facts) {
    std::vector<std::pair<uint32_t, std::string>> sorted;
    for (const auto& [fact, weight] : facts) {
      const size_t comma = fact.find(", ");
      sorted.emplace_back(std::stoul(fact.substr(2, comma - 2)),
                          fact.substr(comma + 2, fact.size() - comma - 3));
    }
    std::ranges::sort(sorted);
    std::vector<std::string> out;
    for (const auto& [number, name] : sorted) out.push_back(std::to_string(number) + "," + name);
    return out;
  }

  std::string random_command() {
    const uint32_t what = below(12);
    if (what == 0) return "checkpoint.\n";
    if (what == 1) return "answer.\n";
    if (what == 2 && kept() > 0) {
      const uint32_t number = 1 + below(static_cast<uint32_t>(kept()));
      Facts inverse = batches_[number];
      for (auto& [fact, weight] : inverse) weight = -weight;
      commit(inverse);
      return "undo " + std::to_string(number) + ".\n";
    }
    std::string text;
    Facts batch;
    for (uint32_t i = 0; i <= below(3); ++i) {
      const std::string fact = "p(" + std::to_string(below(6)) + ", " +
                               (below(2) == 0 ? "a" : "name_" + std::to_string(below(4))) + ")";
      const auto found = history_.back().find(fact);
      const int there = (found == history_.back().end() ? 0 : found->second) + batch[fact];
      const int weight = there > 0 && below(2) == 0 ? -1 : 1;
      batch[fact] += weight;
      text += (weight > 0 ? "+" : "-") + fact + ". ";
    }
    commit(batch);
    return text + "commit.\n";
  }

  void commit(const Facts& batch) {
    Facts next = history_.back();
    Facts net;
    for (const auto& [fact, weight] : batch) {
      if (weight == 0) continue;
      net[fact] = weight;
      next[fact] += weight;
      if (next[fact] < 0) return;  // it will be refused
      if (next[fact] == 0) next.erase(fact);
    }
    if (net.empty()) return;
    history_.push_back(std::move(next));
    batches_.push_back(std::move(net));
  }

  std::string xlog_, program_, state_;
  uint32_t usual_microseconds_ = 10'000;
  std::vector<Facts> history_;  // after each commit
  std::vector<Facts> batches_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: session_crash XLOG [KILLS [SEED]]");
  std::signal(SIGPIPE, SIG_IGN);
  const char* wanted = std::getenv("XLOG_CRASH_KILLS");
  const int kills = argc > 2 ? std::atoi(argv[2]) : wanted != nullptr ? std::atoi(wanted) : 30;
  const uint32_t seed =
      argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : std::random_device()();
  std::printf("seed %u (moments of kills differ from run to run)\n", seed);
  std::fflush(stdout);
  generator.seed(seed);

  std::string folder = fs::temp_directory_path() / "xlog_crash_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) fail("no temporary folder");
  {
    Crasher crasher(argv[1], folder);
    crasher.measure_start();
    for (int i = 0; i < kills; ++i) {
      crasher.feed_and_kill();
      if (i % 5 == 1) crasher.tear_last_record();
      if (i % 5 == 3) crasher.add_garbage();
    }
    std::printf("%d kills, %lu commits\n", kills, static_cast<unsigned long>(crasher.kept()));
  }
  fs::remove_all(folder);
}
