#include "device/llvm_compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "device/llvm_api.h"
#include "device/object_loader.h"

namespace xlog::device {

namespace {

// The part of LLVM's O3 that pays on kernels, which come as one flat function without redundancy:
// as fast as O3 on bench_kernel_cpu for two thirds of its time. Loops are turned so that they test
// at the end, counters widened, then vectorised and unrolled.
constexpr const char* kEntry = "xlog_kernel";
constexpr const char* kCpuPasses =
    "function(early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm),simplifycfg,instcombine,"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa,loop-vectorize,instcombine,"
    "simplifycfg,loop-unroll,simplifycfg)";
// A large kernel takes long where LLVM looks at every instruction in its surroundings: that happens
// once, and before vectorising doubles the code. Where no loop is left inside the one over
// instances, it also goes without optimised code generation, which takes a third of the time. What
// that loses, it loses at the borders of blocks: 15% of the speed of a loop of 100 instructions, 3%
// from 150, and half or more of a short one.
constexpr const char* kLargeCpuPasses =
    "function(early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm),"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),instcombine,loop-vectorize,"
    "simplifycfg)";
constexpr ptrdiff_t kLargeLines = 150;  // of IR text, about one an instruction
constexpr const char* kPtxPasses = "default<O3>";
constexpr const char* kPtxTriple = "nvptx64-nvidia-cuda";

// A string that LLVM allocated.
std::string take(const LlvmApi& llvm, char* message) {
  if (message == nullptr) return "";
  std::string text = message;
  llvm.DisposeMessage(message);
  return text;
}

std::string take(const LlvmApi& llvm, llvm::Failure failure) {
  char* message = llvm.GetErrorMessage(failure);
  std::string text = message;
  llvm.DisposeErrorMessage(message);
  return text;
}

Error llvm_error(std::string_view what, const std::string& message) {
  return {fmt::format("LLVM {}: {}", what, message), ""};
}

// Keeps the first error that LLVM reports instead of printing it and leaving the process.
void keep_error(llvm::Diagnostic diagnostic, void* into) {
  const Result<const LlvmApi*> llvm = llvm_api();
  auto& first = *static_cast<std::string*>(into);
  if ((*llvm)->GetDiagInfoSeverity(diagnostic) != llvm::kError || !first.empty()) return;
  first = take(**llvm, (*llvm)->GetDiagInfoDescription(diagnostic));
}

struct MachineSpec {
  std::string triple, cpu, features;
  llvm::CodeModel model = llvm::kModelDefault;
};

// Whether a loop lies inside another in a function whose blocks come in order, heads before bodies:
// an edge back spans its loop.
bool has_nested_loops(const LlvmApi& llvm, llvm::Value function) {
  std::vector<llvm::Block> blocks;
  for (llvm::Block b = llvm.GetFirstBasicBlock(function); b != nullptr;
       b = llvm.GetNextBasicBlock(b)) {
    blocks.push_back(b);
  }
  ptrdiff_t end_of_last = -1;  // of the loops found so far: the last block of any
  for (ptrdiff_t at = 0; at < std::ssize(blocks); ++at) {
    llvm::Value leave = llvm.GetBasicBlockTerminator(blocks[at]);
    for (unsigned k = 0; k < llvm.GetNumSuccessors(leave); ++k) {
      const ptrdiff_t head =
          std::ranges::find(blocks, llvm.GetSuccessor(leave, k)) - blocks.begin();
      if (head > at) continue;
      if (head <= end_of_last) return true;
      end_of_last = at;
    }
  }
  return false;
}

// One compilation: a context with one module in it. Everything goes when it ends.
class Compilation {
 public:
  explicit Compilation(const LlvmApi& llvm) : llvm_(llvm), context_(llvm.ContextCreate()) {
    llvm_.ContextSetDiagnosticHandler(context_, keep_error, &reported_);
  }
  ~Compilation() {
    if (module_ != nullptr) llvm_.DisposeModule(module_);
    if (machine_ != nullptr) llvm_.DisposeTargetMachine(machine_);
    llvm_.ContextDispose(context_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  Result<std::vector<std::byte>> object(std::string_view ir, const MachineSpec& spec);
  Result<std::vector<std::byte>> ptx(std::string_view ir, const MachineSpec& spec);

 private:
  Status read(std::string_view ir);
  Status set_machine(const MachineSpec& spec, llvm::CodeLevel level);
  bool is_flat() const;
  Status optimise(const char* passes);
  Result<std::vector<std::byte>> emit(llvm::FileKind kind);

  const LlvmApi& llvm_;
  llvm::Context context_;
  llvm::Module module_ = nullptr;
  llvm::Machine machine_ = nullptr;
  std::string reported_;
};

Status Compilation::read(std::string_view ir) {
  llvm::Memory text =
      llvm_.CreateMemoryBufferWithMemoryRangeCopy(ir.data(), ir.size(), "xlog kernel");
  char* message = nullptr;
  // Takes the buffer, whatever comes of it.
  if (llvm_.ParseIRInContext(context_, text, &module_, &message) != 0) {
    module_ = nullptr;
    return llvm_error("cannot read the kernel", take(llvm_, message));
  }
  // LLVM aborts on malformed modules later on: what verifies here does not.
  if (llvm_.VerifyModule(module_, llvm::kReturnStatus, &message) != 0) {
    return llvm_error("rejects the kernel", take(llvm_, message));
  }
  llvm_.DisposeMessage(message);
  return Done{};
}

Status Compilation::set_machine(const MachineSpec& spec, llvm::CodeLevel level) {
  llvm::Target target = nullptr;
  char* message = nullptr;
  if (llvm_.GetTargetFromTriple(spec.triple.c_str(), &target, &message) != 0) {
    return llvm_error("does not know this machine", take(llvm_, message));
  }
  if (machine_ != nullptr) llvm_.DisposeTargetMachine(machine_);
  machine_ = llvm_.CreateTargetMachine(target, spec.triple.c_str(), spec.cpu.c_str(),
                                       spec.features.c_str(), level, llvm::kRelocPic, spec.model);
  if (machine_ == nullptr) return llvm_error("cannot make code for", spec.triple);
  llvm_.SetTarget(module_, spec.triple.c_str());
  llvm::Layout layout = llvm_.CreateTargetDataLayout(machine_);
  llvm_.SetModuleDataLayout(module_, layout);
  llvm_.DisposeTargetData(layout);
  return Done{};
}

Status Compilation::optimise(const char* passes) {
  llvm::PassOptions options = llvm_.CreatePassBuilderOptions();
  llvm::Failure failure = llvm_.RunPasses(module_, passes, machine_, options);
  llvm_.DisposePassBuilderOptions(options);
  if (failure != nullptr) return llvm_error("cannot optimise the kernel", take(llvm_, failure));
  return Done{};
}

Result<std::vector<std::byte>> Compilation::emit(llvm::FileKind kind) {
  llvm::Memory memory = nullptr;
  char* message = nullptr;
  if (llvm_.TargetMachineEmitToMemoryBuffer(machine_, module_, kind, &message, &memory) != 0) {
    return llvm_error("cannot make code", take(llvm_, message));
  }
  const auto* begin = reinterpret_cast<const std::byte*>(llvm_.GetBufferStart(memory));
  std::vector<std::byte> code(begin, begin + llvm_.GetBufferSize(memory));
  llvm_.DisposeMemoryBuffer(memory);
  if (!reported_.empty()) return llvm_error("cannot make code", reported_);
  return code;
}

// Whether the loop over instances has no loop inside.
bool Compilation::is_flat() const {
  llvm::Value instances = llvm_.GetNamedFunction(module_, "instances");
  return instances != nullptr && !has_nested_loops(llvm_, instances);
}

Result<std::vector<std::byte>> Compilation::object(std::string_view ir, const MachineSpec& spec) {
  const bool large = std::ranges::count(ir, '\n') >= kLargeLines;
  Status done = read(ir);
  if (done.ok()) done = set_machine(spec, llvm::kCodeDefault);
  if (done.ok()) done = optimise(large ? kLargeCpuPasses : kCpuPasses);
  if (done.ok() && large && is_flat()) done = set_machine(spec, llvm::kCodeNone);
  if (!done.ok()) return done.error();
  return emit(llvm::kObject);
}

Result<std::vector<std::byte>> Compilation::ptx(std::string_view ir, const MachineSpec& spec) {
  Status done = read(ir);
  if (done.ok()) done = set_machine(spec, llvm::kCodeDefault);
  if (done.ok()) done = optimise(kPtxPasses);
  if (!done.ok()) return done.error();
  return emit(llvm::kAssembly);
}

// Asking the CPU takes a while, and the answer does not change.
const MachineSpec& host(const LlvmApi& llvm) {
  static const MachineSpec spec = {
      .triple = take(llvm, llvm.GetDefaultTargetTriple()),
      .cpu = take(llvm, llvm.GetHostCPUName()),
      .features = take(llvm, llvm.GetHostCPUFeatures()),
      .model = llvm::kModelSmall,
  };
  return spec;
}

// The oldest PTX version that knows the GPU, so that old drivers take the text too.
struct PtxVersion {
  std::string_view sm, feature;
};
constexpr std::array<PtxVersion, 8> kPtxVersions = {{{"sm_70", "+ptx60"},
                                                     {"sm_72", "+ptx61"},
                                                     {"sm_75", "+ptx63"},
                                                     {"sm_80", "+ptx70"},
                                                     {"sm_86", "+ptx71"},
                                                     {"sm_87", "+ptx74"},
                                                     {"sm_89", "+ptx78"},
                                                     {"sm_90", "+ptx78"}}};

}  // namespace

Result<std::vector<std::byte>> llvm_to_object(std::string_view ir) {
  const Result<const LlvmApi*> llvm = llvm_api();
  if (!llvm.ok()) return llvm.error();
  return Compilation(**llvm).object(ir, host(**llvm));
}

namespace {

// LLVM 16 takes the lowest bits of a number that was shifted right with its sign for a field of
// bits, also where the field reaches beyond the number and its copies of the sign: `bfe` fills with
// zeros there. Of a shift without a sign no such field is made, so all that are found are wrong.
std::string with_signs_in_fields(const std::string& ptx) {
  std::string mended;
  size_t copied = 0;
  for (size_t at = ptx.find("bfe.u"); at != std::string::npos; at = ptx.find("bfe.u", at + 1)) {
    const size_t end = ptx.find(';', at);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(ptx).substr(at, end - at);
    // bfe.u64 \t%rd3, %rd2, 63, 32
    const int bits = line.starts_with("bfe.u64") ? 64 : 32;
    std::vector<std::string> operands;
    std::string rest(line.substr(7));
    std::erase_if(rest, [](char c) { return c == ' ' || c == '\t'; });
    for (size_t from = 0; from <= rest.size();) {
      const size_t comma = std::min(rest.find(',', from), rest.size());
      operands.push_back(rest.substr(from, comma - from));
      from = comma + 1;
    }
    const auto is_number = [](const std::string& text) {
      return !text.empty() &&
             std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (operands.size() != 4 || !is_number(operands[2]) || !is_number(operands[3])) continue;
    const int position = std::stoi(operands[2]), length = std::stoi(operands[3]);
    if (position + length <= bits || length >= bits) continue;
    mended += ptx.substr(copied, at - copied);
    mended += fmt::format("shr.s{0} \t{1}, {2}, {3};\n\tand.b{0} \t{1}, {1}, {4}", bits,
                          operands[0], operands[1], position, (uint64_t{1} << length) - 1);
    copied = end;
  }
  return mended + ptx.substr(copied);
}

}  // namespace

Result<std::string> llvm_to_ptx(std::string_view ir, std::string_view sm) {
  const auto* version = std::ranges::find(kPtxVersions, sm, &PtxVersion::sm);
  if (version == kPtxVersions.end()) {
    return Error{fmt::format("no PTX for the GPU architecture {}", sm),
                 "sm_70 to sm_90 are known; a newer GPU takes the text for sm_90"};
  }
  const Result<const LlvmApi*> llvm = llvm_api();
  if (!llvm.ok()) return llvm.error();
  const MachineSpec spec{kPtxTriple, std::string(sm), std::string(version->feature),
                         llvm::kModelDefault};
  Result<std::vector<std::byte>> code = Compilation(**llvm).ptx(ir, spec);
  if (!code.ok()) return code.error();
  return with_signs_in_fields(
      std::string(reinterpret_cast<const char*>(code->data()), code->size()));
}

namespace {

// Each object has a JIT of its own: all of them define the same entry point, and dropping the JIT
// is what frees the code.
struct JitCode {
  explicit JitCode(const LlvmApi& api) : llvm(api) {}
  ~JitCode() {
    if (jit == nullptr) return;
    // Nothing can be done about code that does not go away.
    if (llvm::Failure failure = llvm.OrcDisposeLLJIT(jit)) take(llvm, failure);
  }
  JitCode(const JitCode&) = delete;
  JitCode& operator=(const JitCode&) = delete;

  const LlvmApi& llvm;
  llvm::Jit jit = nullptr;
  std::string reported;  // what the JIT would have printed
};

}  // namespace

Result<LoadedObject> load_object_by_jit(std::span<const std::byte> object) {
  const Result<const LlvmApi*> api = llvm_api();
  if (!api.ok()) return api.error();
  const LlvmApi& llvm = **api;
  auto code = std::make_shared<JitCode>(llvm);
  if (llvm::Failure failure = llvm.OrcCreateLLJIT(&code->jit, nullptr)) {
    code->jit = nullptr;
    return llvm_error("cannot start its JIT", take(llvm, failure));
  }
  llvm.OrcExecutionSessionSetErrorReporter(
      llvm.OrcLLJITGetExecutionSession(code->jit),
      [](void* into, llvm::Failure failure) {
        auto& to = *static_cast<JitCode*>(into);
        to.reported += take(to.llvm, failure) + "; ";
      },
      code.get());
  // LLVM may call memset, memcpy and, on CPUs without the instruction, fma or floor.
  llvm::Dylib dylib = llvm.OrcLLJITGetMainJITDylib(code->jit);
  llvm::Generator process = nullptr;
  llvm::Failure failure = llvm.OrcCreateDynamicLibrarySearchGeneratorForProcess(
      &process, llvm.OrcLLJITGetGlobalPrefix(code->jit), nullptr, nullptr);
  if (failure == nullptr) {
    llvm.OrcJITDylibAddGenerator(dylib, process);
    llvm::Memory memory = llvm.CreateMemoryBufferWithMemoryRangeCopy(
        reinterpret_cast<const char*>(object.data()), object.size(), "xlog kernel");
    failure = llvm.OrcLLJITAddObjectFile(code->jit, dylib, memory);
  }
  uint64_t address = 0;
  if (failure == nullptr) failure = llvm.OrcLLJITLookup(code->jit, &address, kEntry);
  if (failure != nullptr) {
    const std::string message = take(llvm, failure);
    return llvm_error("cannot load the kernel", code->reported + message);
  }
  if (address == 0) return llvm_error("cannot load the kernel", "its entry has no address");
  return LoadedObject(reinterpret_cast<LoadedObject::Entry>(address), std::move(code));
}

Result<LoadedObject> load_object(std::span<const std::byte> object) {
  if (!can_map_object(object)) return load_object_by_jit(object);
  Result<MappedObject> mapped = map_object(object, kEntry);
  if (!mapped.ok()) return mapped.error();
  return LoadedObject(reinterpret_cast<LoadedObject::Entry>(mapped->entry),
                      std::move(mapped->memory));
}

namespace {

// What the CPU is and can do, as it says itself; nullopt where that is not known.
std::optional<std::string> cpu_identity() {
#if defined(__x86_64__)
  std::string text;
  struct Leaf {
    uint32_t leaf, part;
    std::array<bool, 4> registers;  // eax to edx: those that are the same on all cores
  };
  constexpr Leaf kLeaves[] = {{1, 0, {true, false, true, true}},
                              {7, 0, {true, true, true, true}},
                              {7, 1, {true, true, true, true}},
                              {0x80000001u, 0, {true, true, true, true}}};
  for (const Leaf& leaf : kLeaves) {
    std::array<uint32_t, 4> found{};
    __get_cpuid_count(leaf.leaf, leaf.part, &found[0], &found[1], &found[2], &found[3]);
    for (size_t r = 0; r < 4; ++r) text += fmt::format("{:x}.", leaf.registers[r] ? found[r] : 0);
  }
  // Which registers the system saves: AVX-512 may be there and not be usable.
  const bool avx = __builtin_cpu_supports("avx") != 0;
  text += fmt::format("{}.{}", avx, __builtin_cpu_supports("avx512f") != 0);
  return text;
#else
  return std::nullopt;
#endif
}

std::string passes() {
  return fmt::format("{} {} from {} {}", kCpuPasses, kLargeCpuPasses, kLargeLines, kPtxPasses);
}

}  // namespace

Result<std::string> llvm_version_for_cache() {
  const Result<const LlvmApi*> llvm = llvm_api();
  if (!llvm.ok()) return llvm.error();
  const MachineSpec& spec = host(**llvm);
  unsigned major = 0, minor = 0, patch = 0;
  (*llvm)->GetVersion(&major, &minor, &patch);
  return fmt::format("LLVM {}.{}.{} {} {} {} {}", major, minor, patch, passes(), spec.triple,
                     spec.cpu, spec.features);
}

std::optional<std::string> host_version_without_llvm() {
  const std::optional<std::string> library = llvm_library_file();
  const std::optional<std::string> cpu = cpu_identity();
  if (!library || !cpu) return std::nullopt;
  return fmt::format("LLVM of {} {} {}", *library, passes(), *cpu);
}

Result<std::string> host_version_for_cache() {
  if (std::optional<std::string> found = host_version_without_llvm()) return *found;
  return llvm_version_for_cache();
}

}  // namespace xlog::device
