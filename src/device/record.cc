#include "device/record.h"

#include <fmt/format.h>

#include <map>
#include <variant>
#include <vector>

#include "device/record_log.h"
#include "device/signature.h"
#include "kernel/text.h"

namespace xlog::device {

namespace {

struct NotedLaunch {
  KernelHandle kernel;
  std::vector<Argument> arguments;
};
struct NotedCopy {
  View to, from;
};
struct NotedFill {
  View to;
  std::byte value;
};
using NotedStep = std::variant<NotedLaunch, NotedCopy, NotedFill>;

class NotedSequence : public Sequence {
 public:
  std::vector<NotedStep> steps;
};

uint64_t size_of_view(const View& view) {
  return view.bytes == UINT64_MAX ? view.buffer->bytes - view.offset : view.bytes;
}

std::string place(const View& view) {
  return fmt::format("{}:{}:{}", view.buffer->id, view.offset, size_of_view(view));
}

class RecordingDevice : public Device {
 public:
  RecordingDevice(std::unique_ptr<Device> inner, LogWriter log, const RecordOptions& options)
      : inner_(std::move(inner)), log_(std::move(log)), options_(options) {}

  ~RecordingDevice() override {
    // A log without this line comes from a run that was broken off. It cannot be told here if the
    // disk is full; the replay will.
    (void)log_.add(fmt::format("end {}", launches_));
  }

  const DeviceInfo& info() const override { return inner_->info(); }

  Result<Buffer> allocate(uint64_t bytes) override {
    if (noted_ != nullptr) return refused("allocate");
    if (Status s = note_freed(); !s.ok()) return s.error();
    Result<Buffer> buffer = inner_->allocate(bytes);
    if (!buffer.ok()) return buffer;
    if (Status s = inner_->fill({*buffer}, std::byte{0}); !s.ok()) return s.error();
    live_.emplace((*buffer)->id, *buffer);
    if (Status s = log_.add(fmt::format("allocate {} {}", (*buffer)->id, bytes)); !s.ok()) {
      return s.error();
    }
    return buffer;
  }

  Status write(const View& to, std::span<const std::byte> bytes) override {
    if (noted_ != nullptr) return refused("write");
    if (Status s = inner_->write(to, bytes); !s.ok()) return s;
    View part{to.buffer, to.offset, bytes.size()};
    return log_.add(fmt::format("write {}", place(part)), bytes);
  }

  Status read(const View& from, std::span<std::byte> bytes) override {
    if (noted_ != nullptr) return refused("read");
    if (Status s = inner_->read(from, bytes); !s.ok()) return s;
    View part{from.buffer, from.offset, bytes.size()};
    return log_.add(fmt::format("read {} {}", place(part), digest_text(bytes)));
  }

  Status copy(const View& to, const View& from) override {
    if (noted_ != nullptr) {
      noted_->steps.push_back(NotedCopy{to, from});
      return Done{};
    }
    if (Status s = inner_->copy(to, from); !s.ok()) return s;
    return log_.add(fmt::format("copy {} {}", place(to), place(from)));
  }

  Status fill(const View& to, std::byte value) override {
    if (noted_ != nullptr) {
      noted_->steps.push_back(NotedFill{to, value});
      return Done{};
    }
    if (Status s = inner_->fill(to, value); !s.ok()) return s;
    return log_.add(fmt::format("fill {} {}", place(to), static_cast<unsigned>(value)));
  }

  Result<KernelHandle> compile(kernel::Graph& graph, kernel::Id kernel) override {
    if (noted_ != nullptr) return refused("compile");
    Result<KernelHandle> handle = inner_->compile(graph, kernel);
    if (!handle.ok()) return handle;
    auto [known, is_new] = kernels_.try_emplace(*handle);
    if (is_new) {
      known->second = {kernels_.size(), signature_of(graph, kernel)};
      std::string text = kernel::print(graph, kernel);
      Status s = log_.add(fmt::format("kernel {} {}", known->second.first, (*handle)->key),
                          std::as_bytes(std::span(text)));
      if (!s.ok()) return s.error();
    }
    return handle;
  }

  Status launch(const KernelHandle& kernel, std::span<const Argument> arguments) override {
    if (noted_ != nullptr) {
      noted_->steps.push_back(NotedLaunch{kernel, {arguments.begin(), arguments.end()}});
      return Done{};
    }
    auto known = kernels_.find(kernel);
    if (known == kernels_.end()) {
      return Error{"launch: the kernel was not compiled while recording", ""};
    }
    if (Status s = inner_->launch(kernel, arguments); !s.ok()) return s;
    const auto& [number, signature] = known->second;
    std::string words = fmt::format("launch {} {}", ++launches_, number);
    for (const Argument& argument : arguments) {
      if (const Scalar* scalar = std::get_if<Scalar>(&argument)) {
        words += fmt::format(" v:{}:{}", kernel::spelling(scalar->type), scalar->bits);
      } else {
        words += " b:" + place(std::get<View>(argument));
      }
    }
    if (Status s = log_.add(words); !s.ok()) return s;
    if (options_.level < RecordLevel::Digests) return Done{};
    for (size_t k = 0; k < arguments.size(); ++k) {
      kernel::Mode mode = signature.params[k].mode;
      if (mode == kernel::Mode::Val || mode == kernel::Mode::In) continue;
      if (Status s = note_result(k, std::get<View>(arguments[k])); !s.ok()) return s;
    }
    return Done{};
  }

  Status wait() override {
    if (noted_ != nullptr) return refused("wait");
    return inner_->wait();
  }

  Result<std::optional<CheckFailure>> checks() override {
    if (noted_ != nullptr) return refused("checks");
    Result<std::optional<CheckFailure>> failure = inner_->checks();
    if (!failure.ok()) return failure;
    std::string words = !failure->has_value()
                            ? "checks none"
                            : fmt::format("checks {} {}", (*failure)->code, (*failure)->instance);
    if (Status s = log_.add(words); !s.ok()) return s.error();
    return failure;
  }

  Status begin_sequence() override {
    if (noted_ != nullptr) return refused("begin_sequence");
    noted_ = std::make_shared<NotedSequence>();
    return Done{};
  }

  Result<SequenceHandle> end_sequence() override {
    if (noted_ == nullptr) return Error{"end_sequence: no sequence was begun", ""};
    return SequenceHandle(std::move(noted_));
  }

  Status run(const SequenceHandle& sequence) override {
    const auto* noted = dynamic_cast<const NotedSequence*>(sequence.get());
    if (noted == nullptr) return Error{"run: the sequence was not made by this device", ""};
    for (const NotedStep& step : noted->steps) {
      Status done = Done{};
      if (const auto* launched = std::get_if<NotedLaunch>(&step)) {
        done = launch(launched->kernel, launched->arguments);
      } else if (const auto* copied = std::get_if<NotedCopy>(&step)) {
        done = copy(copied->to, copied->from);
      } else {
        done = fill(std::get<NotedFill>(step).to, std::get<NotedFill>(step).value);
      }
      if (!done.ok()) return done;
    }
    return Done{};
  }

  Result<std::unique_ptr<Event>> record_event() override { return inner_->record_event(); }
  Result<double> seconds_between(const Event& from, const Event& to) override {
    return inner_->seconds_between(from, to);
  }

  // Without what recording itself reads.
  Counters counters() const override {
    Counters counters = inner_->counters();
    counters.bytes_from_device -= extra_bytes_;
    counters.waits -= extra_reads_;
    return counters;
  }
  std::string cache_note() const override { return inner_->cache_note(); }

 private:
  static Error refused(std::string_view call) {
    return Error{fmt::format("{}: not possible inside a sequence", call),
                 "call end_sequence() first"};
  }

  Status note_result(size_t parameter, const View& view) {
    uint64_t size = size_of_view(view);
    std::vector<std::byte> bytes(size);
    if (size != 0) {
      if (Status s = inner_->read(view, bytes); !s.ok()) return s;
      extra_bytes_ += size;
      ++extra_reads_;
    }
    std::string words =
        fmt::format("result {} {} {} {}", launches_, parameter, place(view), digest_text(bytes));
    bool keeps = options_.level >= RecordLevel::Bytes && size <= options_.keep_bytes;
    return log_.add(words,
                    keeps ? std::span<const std::byte>(bytes) : std::span<const std::byte>());
  }

  // So that a replay needs no more memory than the run.
  Status note_freed() {
    for (auto buffer = live_.begin(); buffer != live_.end();) {
      if (!buffer->second.expired()) {
        ++buffer;
        continue;
      }
      if (Status s = log_.add(fmt::format("free {}", buffer->first)); !s.ok()) return s;
      buffer = live_.erase(buffer);
    }
    return Done{};
  }

  std::unique_ptr<Device> inner_;
  LogWriter log_;
  RecordOptions options_;
  std::map<uint64_t, std::weak_ptr<BufferStorage>> live_;
  std::map<KernelHandle, std::pair<uint64_t, Signature>> kernels_;  // only looked up, never walked
  std::shared_ptr<NotedSequence> noted_;
  uint64_t launches_ = 0;
  uint64_t extra_bytes_ = 0;
  uint64_t extra_reads_ = 0;
};

}  // namespace

Result<std::unique_ptr<Device>> record_device(std::unique_ptr<Device> device,
                                              const RecordOptions& options) {
  Result<LogWriter> log = LogWriter::create(options.path);
  if (!log.ok()) return log.error();
  if (Status s = log->add(fmt::format("device {}", device->info().name)); !s.ok()) {
    return s.error();
  }
  return std::unique_ptr<Device>(
      std::make_unique<RecordingDevice>(std::move(device), std::move(*log), options));
}

}  // namespace xlog::device
