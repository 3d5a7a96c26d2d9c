#include "device/host_code.h"

#include "base/check.h"
#include "device/cc_compile.h"
#include "device/llvm_compile.h"
#include "render/renderer.h"

namespace xlog::device {

namespace {

class NativeCode : public HostCode {
 public:
  NativeCode(RangeFunction entry, std::shared_ptr<const void> library)
      : entry_(entry), library_(std::move(library)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    entry_(lo, hi, arguments);
  }

 private:
  RangeFunction entry_;
  std::shared_ptr<const void> library_;  // where the entry lies
};

constexpr NativeCompiler kLlvm = {
    .device = "native",
    .software = "machine code through LLVM, which is opened for the first kernel",
    .renderer = "llvm",
    .version = host_version_for_cache,
    .compile = llvm_to_object,
    .load = [](std::span<const std::byte> object) -> Result<CodeHandle> {
      Result<LoadedObject> loaded = load_object(object);
      if (!loaded.ok()) return loaded.error();
      return CodeHandle(
          std::make_shared<NativeCode>(loaded->entry(), std::make_shared<LoadedObject>(*loaded)));
    },
};

constexpr NativeCompiler kSystemC = {
    .device = "c",
    .software = "machine code through the system's C compiler",
    .renderer = "c",
    .version = c_compiler,
    .compile = compile_c,
    .load = [](std::span<const std::byte> object) -> Result<CodeHandle> {
      Result<LoadedC> loaded = load_c(object);
      if (!loaded.ok()) return loaded.error();
      return CodeHandle(std::make_shared<NativeCode>(loaded->entry, loaded->library));
    },
};

const render::Renderer& renderer_of(const NativeCompiler& compiler) {
  const render::Renderer* found = render::find_renderer(compiler.renderer);
  XLOG_CHECK(found != nullptr, "there is a renderer for the host");
  return *found;
}

}  // namespace

const NativeCompiler& llvm_compiler() { return kLlvm; }
const NativeCompiler& system_c_compiler() { return kSystemC; }

const kernel::Target& NativeCompiler::target() const { return renderer_of(*this).target; }

Result<std::string> NativeCompiler::build(const kernel::Graph& graph,
                                          const kernel::Lowered& lowered) const {
  Result<std::vector<std::byte>> object = compile(renderer_of(*this).render(graph, lowered));
  if (!object.ok()) return object.error();
  return std::string(reinterpret_cast<const char*>(object->data()), object->size());
}

Result<CodeHandle> NativeCompiler::load_bytes(const std::string& object) const {
  return load(std::as_bytes(std::span(object.data(), object.size())));
}

}  // namespace xlog::device
