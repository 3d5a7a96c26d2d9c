#include "device/object_loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xlog::device {

namespace {

// `jmp [rip]` and the address that it goes to: code elsewhere in the process may lie too far away
// for a call.
constexpr std::array<uint8_t, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};
constexpr size_t kStubBytes = 16;

Error damaged(const std::string& what) {
  return {fmt::format("cannot load a kernel's object: {}", what),
          "remove the kernel cache (~/.cache/xlog)"};
}

// The parts of one object while it is mapped. All that is read from it is checked: it may come from
// a damaged cache.
class Mapping {
 public:
  explicit Mapping(std::span<const std::byte> object) : object_(object) {}

  Result<MappedObject> run(const char* entry) {
    if (Status s = read_tables(); !s.ok()) return s.error();
    if (Status s = lay_out(); !s.ok()) return s.error();
    if (Status s = resolve_symbols(); !s.ok()) return s.error();
    if (Status s = relocate(); !s.ok()) return s.error();
    if (mprotect(base_, bytes_, PROT_READ | PROT_EXEC) != 0) {
      return Error{"the system does not let code be made executable",
                   "use --device interp, which needs no machine code"};
    }
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].st_shndx == SHN_UNDEF || name_of(symbols_[i]) != entry) continue;
      return MappedObject{memory_, reinterpret_cast<void*>(addresses_[i])};
    }
    return damaged(fmt::format("it does not define {}", entry));
  }

 private:
  // `count` records from `offset` on, if they lie in the file.
  template <typename T>
  std::optional<std::vector<T>> records(uint64_t offset, uint64_t count) const {
    if (offset > object_.size() || count > (object_.size() - offset) / sizeof(T)) {
      return std::nullopt;
    }
    std::vector<T> made(count);
    if (count > 0) std::memcpy(made.data(), object_.data() + offset, count * sizeof(T));
    return made;
  }

  Status read_tables() {
    const auto header = records<Elf64_Ehdr>(0, 1);
    if (!header) return damaged("it is too short");
    auto sections = records<Elf64_Shdr>(header->front().e_shoff, header->front().e_shnum);
    if (!sections) return damaged("its sections lie behind its end");
    sections_ = std::move(*sections);
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      auto symbols = records<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
      if (!symbols || section.sh_link >= sections_.size()) return damaged("it has no symbols");
      const Elf64_Shdr& names = sections_[section.sh_link];
      auto text = records<char>(names.sh_offset, names.sh_size);
      if (!text) return damaged("its names lie behind its end");
      symbols_ = std::move(*symbols);
      names_ = std::move(*text);
      names_.push_back('\0');
    }
    return Done{};
  }

  std::string name_of(const Elf64_Sym& symbol) const {
    return symbol.st_name < names_.size() ? names_.data() + symbol.st_name : "";
  }

  // Sections that code needs, and behind them the jumps to what is outside.
  Status lay_out() {
    uint64_t end = 0;
    starts_.assign(sections_.size(), 0);
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if ((section.sh_flags & SHF_ALLOC) == 0) continue;
      const uint64_t alignment = std::max<uint64_t>(1, section.sh_addralign);
      const bool in_file = section.sh_type != SHT_NOBITS;
      if ((alignment & (alignment - 1)) != 0 || alignment > 4096 ||
          section.sh_size > object_.size() ||
          (in_file && !records<char>(section.sh_offset, section.sh_size))) {
        return damaged("a section lies behind its end");
      }
      starts_[i] = (end + alignment - 1) & ~(alignment - 1);
      end = starts_[i] + section.sh_size;
    }
    stubs_ = (end + kStubBytes - 1) & ~uint64_t{kStubBytes - 1};
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (stubs_ + symbols_.size() * kStubBytes + page) & ~(page - 1);
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return Error{"no memory for a kernel's code", "", ErrorKind::OutOfMemory};
    base_ = static_cast<std::byte*>(base);
    memory_ = std::shared_ptr<const void>(
        base, [bytes = bytes_](const void* at) { munmap(const_cast<void*>(at), bytes); });
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_type == SHT_NOBITS) continue;
      std::memcpy(base_ + starts_[i], object_.data() + section.sh_offset, section.sh_size);
    }
    return Done{};
  }

  // LLVM may call memset, memcpy and, on CPUs without the instruction, fma or floor.
  Status resolve_symbols() {
    for (size_t i = 0; i < symbols_.size(); ++i) {
      const Elf64_Sym& symbol = symbols_[i];
      uint64_t address = 0;
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0) {
        const std::string name = name_of(symbol);
        void* found = dlsym(RTLD_DEFAULT, name.c_str());
        if (found == nullptr) return damaged(fmt::format("nothing defines {}", name));
        std::byte* stub = base_ + stubs_ + i * kStubBytes;
        std::memcpy(stub, kJump.data(), kJump.size());
        std::memcpy(stub + kJump.size(), &found, sizeof(found));
        address = reinterpret_cast<uint64_t>(stub);
      } else if (symbol.st_shndx < sections_.size() && symbol.st_shndx != SHN_UNDEF) {
        if (symbol.st_value > sections_[symbol.st_shndx].sh_size) {
          return damaged("a symbol lies outside of its section");
        }
        address = reinterpret_cast<uint64_t>(base_) + starts_[symbol.st_shndx] + symbol.st_value;
      }
      addresses_.push_back(address);
    }
    return Done{};
  }

  Status relocate() {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_REL) return damaged("it has relocations of an unknown kind");
      if (section.sh_type != SHT_RELA) continue;
      const size_t target = section.sh_info;
      if (target >= sections_.size()) return damaged("relocations of no section");
      if ((sections_[target].sh_flags & SHF_ALLOC) == 0) continue;
      const auto entries =
          records<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela));
      if (!entries) return damaged("its relocations lie behind its end");
      for (const Elf64_Rela& entry : *entries) {
        if (Status s = relocate(entry, target); !s.ok()) return s;
      }
    }
    return Done{};
  }

  Status relocate(const Elf64_Rela& entry, size_t target) {
    const uint64_t kind = ELF64_R_TYPE(entry.r_info);
    const uint64_t symbol = ELF64_R_SYM(entry.r_info);
    const bool wide = kind == R_X86_64_64 || kind == R_X86_64_PC64;
    const uint64_t bytes = wide ? 8 : 4;
    const uint64_t room = sections_[target].sh_size;
    if (symbol >= addresses_.size() || entry.r_offset > room || room - entry.r_offset < bytes) {
      return damaged("a relocation lies outside of its section");
    }
    std::byte* place = base_ + starts_[target] + entry.r_offset;
    const uint64_t value = addresses_[symbol] + static_cast<uint64_t>(entry.r_addend);
    const uint64_t distance = value - reinterpret_cast<uint64_t>(place);
    switch (kind) {
      case R_X86_64_64:
        std::memcpy(place, &value, 8);
        return Done{};
      case R_X86_64_PC64:
        std::memcpy(place, &distance, 8);
        return Done{};
      case R_X86_64_PC32:
      case R_X86_64_PLT32: {
        const auto narrow = static_cast<int32_t>(distance);
        if (static_cast<uint64_t>(int64_t{narrow}) != distance)
          return damaged("a jump is too long");
        std::memcpy(place, &narrow, 4);
        return Done{};
      }
      default:
        return damaged(fmt::format("relocation {} is not known", kind));
    }
  }

  std::span<const std::byte> object_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<char> names_;
  std::vector<uint64_t> starts_;     // of sections, from base_
  std::vector<uint64_t> addresses_;  // of symbols
  std::byte* base_ = nullptr;
  std::shared_ptr<const void> memory_;
  uint64_t stubs_ = 0, bytes_ = 0;
};

}  // namespace

bool can_map_object(std::span<const std::byte> object) {
#if defined(__x86_64__)
  Elf64_Ehdr header;
  if (object.size() < sizeof(header)) return false;
  std::memcpy(&header, object.data(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL &&
         header.e_machine == EM_X86_64;
#else
  static_cast<void>(object);
  return false;
#endif
}

Result<MappedObject> map_object(std::span<const std::byte> object, const char* entry) {
  return Mapping(object).run(entry);
}

}  // namespace xlog::device
