#include "device/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <vector>

#include "device/record_log.h"
#include "device/signature.h"
#include "kernel/text.h"

namespace xlog::device {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct ReplayedKernel {
  KernelHandle handle;
  Signature signature;
};

class Replay {
 public:
  Replay(LogReader log, Device& device) : log_(std::move(log)), device_(device) {}

  Result<ReplayReport> run() {
    while (!report_.difference) {
      Result<std::optional<LogRecord>> record = log_.next();
      if (!record.ok()) return record.error();
      if (!record->has_value()) break;
      Status done = one(**record);
      if (!done.ok()) return done.error();
    }
    return report_;
  }

 private:
  Status one(const LogRecord& record) {
    struct Call {
      std::string_view word;
      size_t least;  // words in all
      Status (Replay::*act)(const LogRecord& record);
    };
    static constexpr Call kCalls[] = {
        {"device", 2, &Replay::on_device}, {"allocate", 3, &Replay::on_allocate},
        {"free", 2, &Replay::on_free},     {"write", 2, &Replay::on_write},
        {"read", 3, &Replay::on_read},     {"copy", 3, &Replay::on_copy},
        {"fill", 3, &Replay::on_fill},     {"kernel", 3, &Replay::on_kernel},
        {"launch", 3, &Replay::on_launch}, {"result", 5, &Replay::on_result},
        {"checks", 2, &Replay::on_checks}, {"end", 2, &Replay::on_end},
    };
    for (const Call& call : kCalls) {
      if (record.words[0] == call.word && record.words.size() >= call.least) {
        return (this->*call.act)(record);
      }
    }
    return unknown(record);
  }

  Status unknown(const LogRecord& record) const {
    return log_.damaged(fmt::format("`{}` is not understood", record.words[0]));
  }

  // "3:16:64" is bytes 16 .. 80 of buffer 3.
  std::optional<View> view(std::string_view text) const {
    std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() != 3) return std::nullopt;
    std::optional<uint64_t> id = number(parts[0]), offset = number(parts[1]),
                            bytes = number(parts[2]);
    if (!id || !offset || !bytes || !buffers_.contains(*id)) return std::nullopt;
    return View{buffers_.at(*id), *offset, *bytes};
  }

  std::optional<Argument> argument(std::string_view text) const {
    if (text.substr(0, 2) == "b:") return view(text.substr(2));
    std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() != 3 || parts[0] != "v") return std::nullopt;
    std::optional<kernel::Type> type = kernel::find_type(parts[1]);
    std::optional<uint64_t> bits = number(parts[2]);
    if (!type || !bits) return std::nullopt;
    return Scalar{*type, *bits};
  }

  Status on_device(const LogRecord& record) {
    report_.recorded_on = record.words[1];
    return Done{};
  }

  Status on_allocate(const LogRecord& record) {
    std::optional<uint64_t> id = number(record.words[1]), bytes = number(record.words[2]);
    if (!id || !bytes) return unknown(record);
    Result<Buffer> buffer = device_.allocate(*bytes);
    if (!buffer.ok()) return buffer.error();
    buffers_[*id] = *buffer;
    return device_.fill({*buffer}, std::byte{0});
  }

  Status on_free(const LogRecord& record) {
    std::optional<uint64_t> id = number(record.words[1]);
    if (!id || buffers_.erase(*id) == 0) return unknown(record);
    return Done{};
  }

  Status on_write(const LogRecord& record) {
    std::optional<View> to = view(record.words[1]);
    if (!to) return unknown(record);
    return device_.write(*to, record.bytes);
  }

  Status on_read(const LogRecord& record) {
    std::optional<View> from = view(record.words[1]);
    if (!from) return unknown(record);
    std::vector<std::byte> bytes(from->bytes);
    if (Status s = device_.read(*from, bytes); !s.ok()) return s;
    // After a kernel with a race the bytes may differ without a fault.
    if (report_.not_compared == 0 && digest_text(bytes) != record.words[2]) {
      differ({}, "other bytes", fmt::format("what was read of buffer {}", from->buffer->id));
    }
    return Done{};
  }

  Status on_copy(const LogRecord& record) {
    std::optional<View> to = view(record.words[1]), from = view(record.words[2]);
    if (!to || !from) return unknown(record);
    return device_.copy(*to, *from);
  }

  Status on_fill(const LogRecord& record) {
    std::optional<View> to = view(record.words[1]);
    std::optional<uint64_t> value = number(record.words[2]);
    if (!to || !value || *value > 255) return unknown(record);
    return device_.fill(*to, static_cast<std::byte>(*value));
  }

  Status on_kernel(const LogRecord& record) {
    std::optional<uint64_t> id = number(record.words[1]);
    if (!id) return unknown(record);
    kernel::Graph graph;
    std::string_view text(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    Result<std::vector<kernel::Id>> parsed =
        kernel::parse(graph, text, fmt::format("record {}", record.number));
    if (!parsed.ok()) return parsed.error();
    if (parsed->size() != 1) return unknown(record);
    Result<KernelHandle> handle = device_.compile(graph, parsed->front());
    if (!handle.ok()) return handle.error();
    kernels_[*id] = {*handle, signature_of(graph, parsed->front())};
    return Done{};
  }

  Status on_launch(const LogRecord& record) {
    std::optional<uint64_t> launch = number(record.words[1]), id = number(record.words[2]);
    if (!launch || !id || !kernels_.contains(*id)) return unknown(record);
    launch_ = *launch;
    kernel_ = &kernels_.at(*id);
    std::vector<Argument> arguments;
    for (size_t k = 3; k < record.words.size(); ++k) {
      std::optional<Argument> made = argument(record.words[k]);
      if (!made) return unknown(record);
      arguments.push_back(*made);
    }
    Status done = device_.launch(kernel_->handle, arguments);
    if (!done.ok()) {
      return Error{fmt::format("launch {}: {}", launch_, done.error().message), done.error().help};
    }
    ++report_.launches;
    return Done{};
  }

  Status on_result(const LogRecord& record) {
    std::optional<uint64_t> k = number(record.words[2]);
    std::optional<View> from = view(record.words[3]);
    if (!k || !from || kernel_ == nullptr || *k >= kernel_->signature.params.size()) {
      return unknown(record);
    }
    const Parameter& param = kernel_->signature.params[*k];
    if (param.mode == kernel::Mode::Race) {
      ++report_.not_compared;
      // What comes after it starts from the same rows as in the run.
      return record.bytes.empty() ? Status(Done{}) : device_.write(*from, record.bytes);
    }
    std::vector<std::byte> bytes(from->bytes);
    if (Status s = device_.read(*from, bytes); !s.ok()) return s;
    ++report_.compared;
    if (digest_text(bytes) == record.words[4]) return Done{};
    find_index(param, record.bytes, bytes);
    return Done{};
  }

  void find_index(const Parameter& param, std::span<const std::byte> recorded,
                  std::span<const std::byte> computed) {
    if (recorded.size() != computed.size()) {
      differ({}, "other bytes", param.name);
      return;
    }
    auto [a, b] = std::mismatch(recorded.begin(), recorded.end(), computed.begin());
    uint32_t size = kernel::size_of(param.type);
    uint64_t index = static_cast<uint64_t>(a - recorded.begin()) / size;
    if ((index + 1) * size > recorded.size()) {
      differ({}, "other bytes", param.name);
      return;
    }
    Difference found = here(param.name);
    found.index = index;
    found.expected = to_text(kernel::load_scalar(param.type, &recorded[index * size]));
    found.actual = to_text(kernel::load_scalar(param.type, &computed[index * size]));
    report_.difference = found;
  }

  Status on_checks(const LogRecord& record) {
    Result<std::optional<CheckFailure>> failure = device_.checks();
    if (!failure.ok()) return failure.error();
    std::string actual = !failure->has_value()
                             ? "none"
                             : fmt::format("{} {}", (*failure)->code, (*failure)->instance);
    std::string expected = record.words[1];
    if (record.words.size() > 2) expected += " " + record.words[2];
    if (actual != expected) differ(expected, actual, "the failed check");
    return Done{};
  }

  Status on_end(const LogRecord&) {
    report_.complete = true;
    return Done{};
  }

  Difference here(const std::string& parameter) const {
    Difference found;
    found.launch = launch_;
    found.kernel = kernel_ == nullptr ? "" : kernel_->signature.kernel;
    found.parameter = parameter;
    return found;
  }

  void differ(const std::string& expected, const std::string& actual, const std::string& what) {
    Difference found = here(what);
    found.expected = expected;
    found.actual = actual;
    report_.difference = found;
  }

  LogReader log_;
  Device& device_;
  ReplayReport report_;
  std::map<uint64_t, Buffer> buffers_;
  std::map<uint64_t, ReplayedKernel> kernels_;
  uint64_t launch_ = 0;
  const ReplayedKernel* kernel_ = nullptr;  // of the last launch
};

}  // namespace

std::string Difference::text() const {
  std::string place =
      launch == 0 ? "before the first launch" : fmt::format("launch {}, kernel {}", launch, kernel);
  if (index) {
    return fmt::format("{}, buffer {}[{}]: {} was recorded, {} is computed", place, parameter,
                       *index, expected, actual);
  }
  if (expected.empty()) {
    return fmt::format("{}: {} has {}; record with bytes to see the index", place, parameter,
                       actual);
  }
  return fmt::format("{}: {}: {} was recorded, {} is computed", place, parameter, expected, actual);
}

Result<ReplayReport> replay(const std::string& path, Device& device) {
  Result<LogReader> log = LogReader::open(path);
  if (!log.ok()) return log.error();
  return Replay(std::move(*log), device).run();
}

}  // namespace xlog::device
