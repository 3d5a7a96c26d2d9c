#include "device/work_notes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace xlog::device {

WorkNotes::WorkNotes(std::string_view bytes) {
  if (bytes.size() % sizeof(Note) != 0 || bytes.size() > kMost * sizeof(Note)) return;
  notes_.resize(bytes.size() / sizeof(Note));
  if (!notes_.empty()) std::memcpy(notes_.data(), bytes.data(), bytes.size());
  std::erase_if(notes_, [](const Note& note) { return !(note.work >= 0 && note.work < INFINITY); });
}

double WorkNotes::work_of(const CacheKey& kernel) const {
  const auto found = std::ranges::find(notes_, kernel, &Note::kernel);
  return found == notes_.end() ? 0 : found->work;
}

void WorkNotes::add(const CacheKey& kernel, double work) {
  const double before = work_of(kernel);
  std::erase_if(notes_, [&](const Note& note) { return note.kernel == kernel; });
  notes_.push_back({kernel, before + work});
  if (notes_.size() > kMost) notes_.erase(notes_.begin());
}

std::string WorkNotes::bytes() const {
  static_assert(sizeof(Note) == 24, "no bytes between its parts");
  return {reinterpret_cast<const char*>(notes_.data()), notes_.size() * sizeof(Note)};
}

}  // namespace xlog::device
