#include "epistemic/picture.h"

#include <algorithm>
#include <unordered_map>

namespace xlog::epistemic {

using oracle::AtomId;

namespace {

constexpr size_t kMostParts = 24;
constexpr uint32_t kMostViews = 12;  // of a part
constexpr size_t kMostAtoms = 20;    // of a list
constexpr size_t kMostOthers = 6;

void add(SomeTexts& to, const std::string& text, size_t most) {
  if (to.texts.size() < most) {
    to.texts.push_back(text);
  } else {
    ++to.left_out;
  }
}

SomeTexts some(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  SomeTexts made;
  for (const std::string& text : texts) add(made, text, kMostAtoms);
  return made;
}

class Painter {
 public:
  explicit Painter(const Findings& findings)
      : findings_(findings), views_(findings.views()), units_(views_.units()) {}

  void paint(Picture& picture) const {
    std::unordered_map<std::string, size_t> by_key;  // parts
    for (uint32_t c = 0; c < units_.clusters(); ++c) {
      if (!views_.is_solved(c)) continue;
      const auto [it, is_new] = by_key.try_emplace(views_.key_of(c), picture.parts.size());
      if (!is_new) {
        if (it->second == SIZE_MAX) continue;
        PicturePart& part = picture.parts[it->second];
        ++part.equal;
        add(part.others, first_atom(c), kMostOthers);
      } else if (picture.parts.size() == kMostParts && views_.views_of(c) > 0) {
        it->second = SIZE_MAX;
        ++picture.parts_left_out;
      } else {
        picture.parts.push_back(part_of(c));
      }
    }
  }

 private:
  std::vector<AtomId> atoms_of(uint32_t cluster) const {
    std::vector<AtomId> atoms;
    for (const uint32_t unit : units_.units_of(cluster)) {
      std::ranges::copy_if(units_.atoms(unit), std::back_inserter(atoms),
                           [&](AtomId atom) { return findings_.is_shown(atom); });
    }
    return atoms;
  }

  std::string first_atom(uint32_t cluster) const {
    const std::vector<AtomId> atoms = atoms_of(cluster);
    return atoms.empty() ? "" : findings_.text(*std::ranges::min_element(atoms));
  }

  PicturePart part_of(uint32_t cluster) const {
    PicturePart part;
    part.views = views_.views_of(cluster);
    if (part.views == 0) {
      std::vector<std::string> texts;
      for (const AtomId atom : atoms_of(cluster)) texts.push_back(findings_.text(atom));
      part.atoms = some(std::move(texts));
    }
    for (uint32_t v = 0; v < std::min(part.views, kMostViews); ++v) {
      part.listed.push_back(view_of(cluster, v));
    }
    return part;
  }

  PictureView view_of(uint32_t cluster, uint32_t v) const {
    PictureView view;
    view.worlds = views_.worlds_of(cluster, v);
    std::vector<std::string> known;
    for (const AtomId atom : atoms_of(cluster)) {
      if (findings_.status(atom, v) == AtomStatus::Always) known.push_back(findings_.text(atom));
    }
    view.known = some(std::move(known));
    // An odometer over the worlds of the units.
    const std::span<const uint32_t> units = units_.units_of(cluster);
    std::vector<size_t> world(units.size(), 0);
    while (view.listed.size() < kPictureWorlds) {
      std::vector<std::string> open;
      for (size_t u = 0; u < units.size(); ++u) {
        const std::span<const AtomId> own = units_.atoms(units[u]);
        for (const AtomId place : views_.view(units[u], v).listed[world[u]]) {
          const AtomId atom = own[place];
          if (!findings_.is_shown(atom) || findings_.status(atom, v) == AtomStatus::Always)
            continue;
          open.push_back(findings_.text(atom));
        }
      }
      view.listed.push_back(some(std::move(open)));
      size_t u = units.size();
      for (; u > 0; --u) {
        if (++world[u - 1] < views_.view(units[u - 1], v).listed.size()) break;
        world[u - 1] = 0;
      }
      if (u == 0) break;
    }
    return view;
  }

  const Findings& findings_;
  const WorldViews& views_;
  const Units& units_;
};

}  // namespace

Picture picture_of(const Findings& findings) {
  Picture picture;
  picture.views = findings.view_count();
  if (picture.views > 0) picture.worlds = findings.views().world_counts();
  std::vector<std::string> certain;
  uint64_t more = 0;
  for (AtomId a = 0; a < findings.bounds().lower.size(); ++a) {
    if (!findings.bounds().lower[a] || !findings.is_shown(a)) continue;
    if (certain.size() < 10 * kMostAtoms) {
      certain.push_back(findings.text(a));
    } else {
      ++more;
    }
  }
  picture.certain = some(std::move(certain));
  picture.certain.left_out += more;
  if (findings.has_search()) Painter(findings).paint(picture);
  return picture;
}

}  // namespace xlog::epistemic
