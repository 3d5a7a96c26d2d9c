#include "cli/explain_worlds.h"

#include <nlohmann/json.hpp>

#include "cli/search_worlds.h"
#include "cli/worldviews_page.h"
#include "epistemic/explain_units.h"
#include "epistemic/picture.h"
#include "logic/needed.h"

namespace xlog::cli {
namespace {

// Inside a script: no text of the program can end it.
std::string script_text(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string page(const epistemic::Picture& picture, const std::string& title) {
  std::string html(kWorldviewsPage);
  const auto put = [&](std::string_view mark, const std::string& text) {
    html.replace(html.find(mark), mark.size(), text);
  };
  const nlohmann::json name(title);
  put("/*TITLE*/null",
      script_text(name.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  put("/*DATA*/null", script_text(epistemic::picture_json(picture, epistemic::Numbers::Short)));
  return html;
}

std::string picture_as(const std::string& format, const epistemic::Picture& picture,
                       const std::string& title) {
  if (format == "html") return page(picture, title);
  if (format == "json") return epistemic::picture_json(picture);
  if (format == "dot") return epistemic::picture_dot(picture);
  return epistemic::picture_text(picture);
}

}  // namespace

std::optional<std::string> explain_worlds(const std::string& stage, const std::string& format,
                                          const PipelineOptions& options, Outcome& outcome) {
  const std::string title(
      outcome.session.sources.files().empty() ? "" : outcome.session.sources.files().front()->name);
  // A query joins what it mentions.
  logic::drop_queries(*outcome.program);
  outcome.analysis = logic::analyze(*outcome.program, outcome.session);
  logic::AnswerOptions answer = answer_options(options, outcome.program->pragmas);
  answer.well_founded = false;
  answer.max_worlds = epistemic::kPictureWorlds;
  const std::unique_ptr<device::Device> device = open_for_worlds(options, outcome.session);
  if (device == nullptr) return std::nullopt;
  std::optional<std::string> text;
  search_worlds(answer, *device, outcome, [&](epistemic::Findings& findings) {
    if (stage == "units") {
      const auto wanted = format == "json"  ? logic::ExplainFormat::Json
                          : format == "dot" ? logic::ExplainFormat::Dot
                                            : logic::ExplainFormat::Text;
      text = epistemic::explain_units(findings, wanted);
    } else {
      text = picture_as(format, epistemic::picture_of(findings), title);
    }
  });
  return text;
}

}  // namespace xlog::cli
