#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "epistemic/picture.h"
#include "logic/explain.h"

namespace xlog::epistemic {

using Json = nlohmann::ordered_json;

namespace {

std::string number(const mpz_class& n, std::string_view noun) {
  return fmt::format("{} {}{}", logic::short_text(n), noun, n == 1 ? "" : "s");
}

std::string list(const SomeTexts& some) {
  std::string text = fmt::format("{}", fmt::join(some.texts, ", "));
  if (some.left_out > 0) text += fmt::format(", and {} more", some.left_out);
  return text;
}

std::string summary(const Picture& picture) {
  if (picture.views == 0) return "no world view";
  const logic::WorldCounts& worlds = picture.worlds;
  if (worlds.least == worlds.most) {
    return fmt::format("{} with {}{}", number(picture.views, "world view"),
                       number(worlds.most, "world"), picture.views == 1 ? "" : " each");
  }
  return fmt::format("{} with {} to {} each", number(picture.views, "world view"),
                     logic::short_text(worlds.least), number(worlds.most, "world"));
}

std::string part_heading(const PicturePart& part) {
  std::string text =
      part.views == 0 ? std::string("no world view") : number(mpz_class(part.views), "world view");
  if (part.equal > 1) {
    text += fmt::format("; {} equal parts", part.equal);
    const mpz_class views(part.views);
    if (part.views > 1) {
      mpz_class all;
      mpz_pow_ui(all.get_mpz_t(), views.get_mpz_t(), part.equal);
      text +=
          fmt::format(", {} ^ {} = {} world views", part.views, part.equal, logic::short_text(all));
    }
  }
  return text;
}

std::string left_out(const Picture& picture) {
  return fmt::format("{} more kinds of parts are left out", picture.parts_left_out);
}

Json texts_json(const SomeTexts& some) {
  return {{"atoms", some.texts}, {"left_out", some.left_out}};
}

}  // namespace

std::string picture_text(const Picture& picture) {
  std::string out = summary(picture) + "\n";
  if (!picture.certain.texts.empty()) out += "in every world: " + list(picture.certain) + "\n";
  for (size_t p = 0; p < picture.parts.size(); ++p) {
    const PicturePart& part = picture.parts[p];
    out += fmt::format("\npart {}: {}\n", p + 1, part_heading(part));
    if (!part.others.texts.empty()) out += "  like those of " + list(part.others) + "\n";
    if (part.views == 0) out += "  about " + list(part.atoms) + "\n";
    for (size_t v = 0; v < part.listed.size(); ++v) {
      const PictureView& view = part.listed[v];
      out += fmt::format("  view {} ({})\n", v + 1, number(view.worlds, "world"));
      if (!view.known.texts.empty()) out += "    known  " + list(view.known) + "\n";
      if (view.worlds == 1 && view.known.texts.empty()) out += "    nothing holds\n";
      if (view.worlds == 1) continue;
      for (const SomeTexts& world : view.listed) out += "    world  {" + list(world) + "}\n";
      if (view.worlds > view.listed.size()) {
        const mpz_class more = view.worlds - view.listed.size();
        out += fmt::format("    and {} more\n", logic::short_text(more));
      }
    }
    if (part.views > part.listed.size()) {
      out += fmt::format("  and {} more views\n", part.views - part.listed.size());
    }
  }
  if (picture.parts_left_out > 0) out += "\n" + left_out(picture) + "\n";
  return out;
}

std::string picture_json(const Picture& picture, Numbers numbers) {
  const auto count = [&](const mpz_class& n) {
    return numbers == Numbers::Exact ? n.get_str() : logic::short_text(n);
  };
  Json json;
  json["stage"] = "worldviews";
  json["summary"] = summary(picture);
  json["world_view_count"] = count(picture.views);
  json["world_count"] = count(picture.worlds.all);
  json["certain"] = texts_json(picture.certain);
  json["parts"] = Json::array();
  for (const PicturePart& part : picture.parts) {
    Json entry;
    entry["summary"] = part_heading(part);
    entry["equal_parts"] = part.equal;
    entry["others"] = texts_json(part.others);
    if (part.views == 0) entry["about"] = texts_json(part.atoms);
    entry["world_view_count"] = part.views;
    entry["world_views"] = Json::array();
    for (const PictureView& view : part.listed) {
      Json shown;
      shown["world_count"] = view.worlds.get_str();
      shown["known"] = texts_json(view.known);
      shown["worlds"] = Json::array();
      for (const SomeTexts& world : view.listed) shown["worlds"].push_back(texts_json(world));
      entry["world_views"].push_back(std::move(shown));
    }
    json["parts"].push_back(std::move(entry));
  }
  json["parts_left_out"] = picture.parts_left_out;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string picture_dot(const Picture& picture) {
  std::string out = fmt::format(
      "digraph worldviews {{\n  compound=true;\n  node [shape=box, style=rounded];\n  "
      "label=\"{}\";\n",
      logic::dot_text(summary(picture)));
  for (size_t p = 0; p < picture.parts.size(); ++p) {
    const PicturePart& part = picture.parts[p];
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", p,
                       logic::dot_text(part_heading(part)));
    if (part.views == 0) {
      out += fmt::format("    p{} [label=\"{}\"];\n", p, logic::dot_text(list(part.atoms)));
    }
    for (size_t v = 0; v < part.listed.size(); ++v) {
      const PictureView& view = part.listed[v];
      out += fmt::format("    subgraph cluster_{}_{} {{\n      label=\"view {}: {}\";\n", p, v,
                         v + 1, number(view.worlds, "world"));
      out += fmt::format(
          "      k{}_{} [shape=plaintext, fontname=\"Helvetica-Bold\", label=\"{}\"];\n", p, v,
          logic::dot_text(view.known.texts.empty() ? std::string("nothing is known")
                                                   : list(view.known)));
      for (size_t w = 0; w < view.listed.size() && view.worlds > 1; ++w) {
        out += fmt::format("      w{}_{}_{} [label=\"{}\"];\n", p, v, w,
                           logic::dot_text(list(view.listed[w])));
      }
      if (view.worlds > view.listed.size()) {
        const mpz_class more = view.worlds - view.listed.size();
        out += fmt::format("      m{}_{} [shape=plaintext, label=\"and {} more\"];\n", p, v,
                           logic::short_text(more));
      }
      out += "    }\n";
    }
    if (part.views > part.listed.size()) {
      out += fmt::format("    v{} [shape=plaintext, label=\"and {} more views\"];\n", p,
                         part.views - part.listed.size());
    }
    out += "  }\n";
  }
  if (picture.parts_left_out > 0) {
    out += fmt::format("  rest [shape=plaintext, label=\"{}\"];\n", left_out(picture));
  }
  return out + "}\n";
}

}  // namespace xlog::epistemic
