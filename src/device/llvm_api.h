// The part of LLVM's C interface that we use, opened at run time: xlog starts and runs without
// LLVM, and only a kernel that gets compiled needs it. Signatures follow llvm-c of LLVM 16.
//
//   Result<const LlvmApi*> llvm = llvm_api();
//   if (!llvm.ok()) return llvm.error();       // names the package to install
//   llvm::Context context = (*llvm)->ContextCreate();
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace xlog::device {

namespace llvm {

using Bool = int;
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Memory = struct OpaqueMemory*;
using Value = struct OpaqueValue*;
using Block = struct OpaqueBlock*;
using Diagnostic = struct OpaqueDiagnostic*;
using Target = struct OpaqueTarget*;
using Machine = struct OpaqueMachine*;
using Layout = struct OpaqueLayout*;
using PassOptions = struct OpaquePassOptions*;
using Failure = struct OpaqueFailure*;  // null: success
using Jit = struct OpaqueJit*;
using Dylib = struct OpaqueDylib*;
using Session = struct OpaqueSession*;
using Generator = struct OpaqueGenerator*;
using ErrorReporter = void (*)(void*, Failure);
using DiagnosticHandler = void (*)(Diagnostic, void*);

enum Severity : int { kError = 0 };
enum CodeLevel : int { kCodeNone = 0, kCodeDefault = 2, kCodeAggressive = 3 };
enum Reloc : int { kRelocPic = 2 };
enum CodeModel : int { kModelDefault = 0, kModelSmall = 3 };
enum FileKind : int { kAssembly = 0, kObject = 1 };
enum VerifierAction : int { kReturnStatus = 2 };

}  // namespace llvm

// XLOG_LLVM_FUNCTION(result, name without the prefix LLVM, parameters)
#define XLOG_LLVM_FUNCTIONS(F)                                                               \
  F(void, GetVersion, (unsigned*, unsigned*, unsigned*))                                     \
  F(llvm::Context, ContextCreate, ())                                                        \
  F(void, ContextDispose, (llvm::Context))                                                   \
  F(void, ContextSetDiagnosticHandler, (llvm::Context, llvm::DiagnosticHandler, void*))      \
  F(char*, GetDiagInfoDescription, (llvm::Diagnostic))                                       \
  F(llvm::Severity, GetDiagInfoSeverity, (llvm::Diagnostic))                                 \
  F(llvm::Memory, CreateMemoryBufferWithMemoryRangeCopy, (const char*, size_t, const char*)) \
  F(const char*, GetBufferStart, (llvm::Memory))                                             \
  F(size_t, GetBufferSize, (llvm::Memory))                                                   \
  F(void, DisposeMemoryBuffer, (llvm::Memory))                                               \
  F(llvm::Bool, ParseIRInContext, (llvm::Context, llvm::Memory, llvm::Module*, char**))      \
  F(llvm::Bool, VerifyModule, (llvm::Module, llvm::VerifierAction, char**))                  \
  F(llvm::Value, GetNamedFunction, (llvm::Module, const char*))                              \
  F(llvm::Block, GetFirstBasicBlock, (llvm::Value))                                          \
  F(llvm::Block, GetNextBasicBlock, (llvm::Block))                                           \
  F(llvm::Value, GetBasicBlockTerminator, (llvm::Block))                                     \
  F(unsigned, GetNumSuccessors, (llvm::Value))                                               \
  F(llvm::Block, GetSuccessor, (llvm::Value, unsigned))                                      \
  F(void, SetTarget, (llvm::Module, const char*))                                            \
  F(void, SetModuleDataLayout, (llvm::Module, llvm::Layout))                                 \
  F(void, DisposeModule, (llvm::Module))                                                     \
  F(void, DisposeMessage, (char*))                                                           \
  F(char*, GetDefaultTargetTriple, ())                                                       \
  F(char*, GetHostCPUName, ())                                                               \
  F(char*, GetHostCPUFeatures, ())                                                           \
  F(llvm::Bool, GetTargetFromTriple, (const char*, llvm::Target*, char**))                   \
  F(llvm::Machine, CreateTargetMachine,                                                      \
    (llvm::Target, const char*, const char*, const char*, llvm::CodeLevel, llvm::Reloc,      \
     llvm::CodeModel))                                                                       \
  F(void, DisposeTargetMachine, (llvm::Machine))                                             \
  F(llvm::Layout, CreateTargetDataLayout, (llvm::Machine))                                   \
  F(void, DisposeTargetData, (llvm::Layout))                                                 \
  F(llvm::Bool, TargetMachineEmitToMemoryBuffer,                                             \
    (llvm::Machine, llvm::Module, llvm::FileKind, char**, llvm::Memory*))                    \
  F(llvm::PassOptions, CreatePassBuilderOptions, ())                                         \
  F(void, DisposePassBuilderOptions, (llvm::PassOptions))                                    \
  F(llvm::Failure, RunPasses, (llvm::Module, const char*, llvm::Machine, llvm::PassOptions)) \
  F(char*, GetErrorMessage, (llvm::Failure))                                                 \
  F(void, DisposeErrorMessage, (char*))                                                      \
  F(llvm::Failure, OrcCreateLLJIT, (llvm::Jit*, void* builder))                              \
  F(llvm::Failure, OrcDisposeLLJIT, (llvm::Jit))                                             \
  F(llvm::Session, OrcLLJITGetExecutionSession, (llvm::Jit))                                 \
  F(void, OrcExecutionSessionSetErrorReporter, (llvm::Session, llvm::ErrorReporter, void*))  \
  F(llvm::Dylib, OrcLLJITGetMainJITDylib, (llvm::Jit))                                       \
  F(char, OrcLLJITGetGlobalPrefix, (llvm::Jit))                                              \
  F(llvm::Failure, OrcLLJITAddObjectFile, (llvm::Jit, llvm::Dylib, llvm::Memory))            \
  F(llvm::Failure, OrcLLJITLookup, (llvm::Jit, uint64_t*, const char*))                      \
  F(llvm::Failure, OrcCreateDynamicLibrarySearchGeneratorForProcess,                         \
    (llvm::Generator*, char, void* filter, void* filter_data))                               \
  F(void, OrcJITDylibAddGenerator, (llvm::Dylib, llvm::Generator))

struct LlvmApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a list of parameters
#define XLOG_LLVM_FUNCTION(result, name, parameters) result(*name) parameters = nullptr;
  XLOG_LLVM_FUNCTIONS(XLOG_LLVM_FUNCTION)
#undef XLOG_LLVM_FUNCTION
};

// Opened by the first call; stays open until the process ends. $XLOG_LLVM_LIBRARY names another
// file than the system's.
Result<const LlvmApi*> llvm_api();
// Whether that call was made and found LLVM.
bool llvm_is_open();
// The file that would be opened, its size and time: another version is another file. nullopt where
// only opening it tells which one it is.
std::optional<std::string> llvm_library_file();
// Opens a library by its file name and makes the host's and NVIDIA's targets known to LLVM.
Result<LlvmApi> open_llvm(const std::string& library);

}  // namespace xlog::device
