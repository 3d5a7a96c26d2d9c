#include "cli/options.h"

#include <fmt/format.h>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include <charconv>
#include <cmath>

#include "base/memory.h"
#include "device/device.h"

namespace xlog::cli {
namespace {

// "name=value"; anything else is a usage error.
std::pair<std::string, std::string> split_pair(const std::string& text, const std::string& option,
                                               const std::string& form) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError(option, "`" + text + "` is not of the form " + form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

uint64_t parse_count(const std::string& text, const std::string& option) {
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || rest != end) {
    throw CLI::ValidationError(option, "`" + text + "` is not a whole number");
  }
  return count;
}

uint64_t parse_count_or_all(const std::string& text, const std::string& option) {
  return text == "all" ? UINT64_MAX : parse_count(text, option);
}

// An option whose text is one of `words`.
CLI::Option* add_choice(CLI::App& command, const std::string& name, const std::string& type,
                        std::vector<std::string> words, const std::string& help,
                        const std::function<void(const std::string&)>& set) {
  return command.add_option_function<std::string>(name, set, help)
      ->type_name(type)
      ->check(CLI::IsMember(std::move(words)));
}

void add_answer_options(CLI::App& command, RunOptions& options) {
  constexpr const char* kGroup = "Reasoning";
  PipelineOptions& pipeline = options.pipeline;
  add_choice(command, "--epistemic-mode", "MODE", mode_names(),
             "Which sets of worlds are world views, instead of the program's pragma",
             [&pipeline](const std::string& text) { pipeline.mode = find_mode(text); })
      ->group(kGroup);
  add_choice(command, "--semantics", "WHICH", {"stable", "wfs"},
             "Stable models (the default), or the three-valued well-founded model",
             [&pipeline](const std::string& text) { pipeline.well_founded = text == "wfs"; })
      ->group(kGroup);
  add_choice(
      command, "--engine", "ENGINE", {"auto", "reference"},
      "Which evaluator answers: the relational engine where it can (auto), or the slow and "
      "obvious reference evaluator alone",
      [&pipeline](const std::string& text) { pipeline.reference_only = text == "reference"; })
      ->group(kGroup);
  add_device_option(command, pipeline.device,
                    "Where the engine runs: auto, cpu, interp, opencl[:K], cuda[:K]; see `xlog "
                    "kernel devices`")
      ->group(kGroup);
}

void add_limit_options(CLI::App& command, RunOptions& options) {
  constexpr const char* kGroup = "Limits";
  logic::AnswerOptions& answer = options.pipeline.answer;
  command
      .add_option_function<double>(
          "--timeout",
          [&answer](const double seconds) {
            if (!std::isfinite(seconds) || seconds <= 0) {
              throw CLI::ValidationError("--timeout", "the number of seconds must be positive");
            }
            answer.timeout_seconds = seconds;
          },
          "Give up after so many seconds (exit code 4)")
      ->type_name("SECONDS")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--max-candidates",
          [&answer](const std::string& text) {
            answer.max_candidates = parse_count(text, "--max-candidates");
          },
          fmt::format("Give up after so many guesses (exit code 4; default {})",
                      answer.max_candidates))
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--max-rows",
          [&answer](const std::string& text) {
            answer.max_rows = parse_count(text, "--max-rows");
            if (answer.max_rows == 0) {
              throw CLI::ValidationError("--max-rows", "the number of rows must be positive");
            }
          },
          "Give up at so many derived rows (exit code 4; by default only where recursion makes new "
          "values, and in the reference evaluator)")
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--memory",
          [&answer](const std::string& text) {
            const std::optional<uint64_t> bytes = parse_size(text);
            if (!bytes || *bytes == 0) {
              throw CLI::ValidationError(
                  "--memory", "`" + text + "` is not a size such as 500M, 2G or a number of bytes");
            }
            answer.memory_limit = *bytes;
          },
          "Give up before the buffers on the device, or the process, take more (exit code 4); k, "
          "M, G, T are powers of 1024")
      ->type_name("SIZE")
      ->group(kGroup);
}

// A flag that is given alone or as NAME=json.
void add_report_flag(CLI::App& command, const std::string& name, std::string& form,
                     const std::string& what, const std::string& help) {
  command.add_flag(name, form, help)
      ->transform(CLI::Validator(
          [name, what](std::string& text) -> std::string {
            if (text == "true") text = "text";  // CLI11's word for a flag alone
            if (text == "text" || text == "json") return "";
            return fmt::format("`{}` is no form of {}: write {} or {}=json", text, what, name,
                               name);
          },
          ""))
      ->group("Output");
}

void add_print_options(CLI::App& command, RunOptions& options) {
  constexpr const char* kGroup = "Output";
  PrintOptions& print = options.print;
  logic::AnswerOptions& answer = options.pipeline.answer;
  std::string& about_views = options.pipeline.about_views;
  const std::optional<bool>& well_founded = options.pipeline.well_founded;
  const CLI::Option* format =
      add_choice(command, "--format", "FORMAT", io::format_names(), "How answers are printed",
                 [&print](const std::string& text) { print.format = *io::find_format(text); })
          ->group(kGroup);
  CLI::Option* file = command
                          .add_option("--output", print.output_file,
                                      "Write all answers into this file; without --format its "
                                      "ending tells the format")
                          ->type_name("FILE")
                          ->group(kGroup);
  CLI::Option* folder =
      command
          .add_option("--output-dir", print.output_dir, "Write one file a query into this folder")
          ->type_name("DIR")
          ->excludes(file)
          ->group(kGroup);
  const auto needs_text = [&answer, &print] {
    if (answer.ask == logic::Ask::Views) return;
    const char* const option = answer.ask == logic::Ask::Counts ? "--count" : "--over-views";
    if (print.format == io::Format::Sqlite) {
      throw CLI::ValidationError(option, "counts are not written into databases: take json or csv");
    }
  };
  command.parse_complete_callback([&print, &about_views, &well_founded, format, needs_text] {
    if (!about_views.empty() && well_founded.value_or(false)) {
      throw CLI::ValidationError(about_views, "there are no world views with `--semantics wfs`");
    }
    if (format->empty()) {
      print.format = io::format_of_file(print.output_file).value_or(print.format);
    }
    if (print.output_file == "-") {
      throw CLI::ValidationError("--output",
                                 "answers go to standard output where there is no --output");
    }
    if (print.format == io::Format::Sqlite && print.output_file.empty() &&
        print.output_dir.empty()) {
      throw CLI::ValidationError("--format", "sqlite needs a file: add --output FILE");
    }
    needs_text();
  });
  command
      .add_option_function<std::string>(
          "--world-views",
          [&answer, &about_views](const std::string& text) {
            answer.max_views = parse_count_or_all(text, about_views = "--world-views");
          },
          "How many world views to show (default 10)")
      ->type_name("N|all")
      ->group(kGroup);
  CLI::Option* find_views =
      command
          .add_option_function<std::string>(
              "--find-views",
              [&answer, &about_views](const std::string& text) {
                answer.enough_views = parse_count(text, about_views = "--find-views");
                if (answer.enough_views == 0) {
                  throw CLI::ValidationError("--find-views",
                                             "at least one world view must be wanted");
                }
              },
              "End the search once so many world views are found, without counting the others")
          ->type_name("N")
          ->group(kGroup);
  CLI::Option* worlds = command
                            .add_option_function<std::string>(
                                "--worlds",
                                [&answer, &print, &about_views](const std::string& text) {
                                  answer.max_worlds =
                                      parse_count_or_all(text, about_views = "--worlds");
                                  print.worlds = true;
                                },
                                "Also list so many worlds of each world view (table, json)")
                            ->type_name("N|all")
                            ->group(kGroup);
  CLI::Option* over_views =
      add_choice(
          command, "--over-views", "WHICH", {"cautious", "credulous", "all"},
          "Rows over all world views, each with the number of views in which it is known and "
          "possible: those known in every view, known in some, or possible in some",
          [&answer, &about_views](const std::string& text) {
            about_views = "--over-views";
            answer.ask = text == "cautious"    ? logic::Ask::Cautious
                         : text == "credulous" ? logic::Ask::Credulous
                                               : logic::Ask::Everything;
          })
          ->excludes(find_views)
          ->excludes(worlds)
          ->group(kGroup);
  command
      .add_flag_callback(
          "--count",
          [&answer, &about_views] {
            about_views = "--count";
            answer.ask = logic::Ask::Counts;
          },
          "Only count the world views and their worlds")
      ->excludes(find_views)
      ->excludes(worlds)
      ->excludes(over_views)
      ->excludes(folder)
      ->group(kGroup);
  add_report_flag(command, "--stats", print.stats, "statistics",
                  "Print to standard error where time, rows and memory went; --stats=json: all of "
                  "it as one JSON object");
  add_report_flag(command, "--trace", print.trace, "traces",
                  "Print to standard error how the worlds were found; --trace=json: as one JSON "
                  "object");
  command
      .add_option("--profile", print.profile_file,
                  "Write what was done when into this file, for chrome://tracing or Perfetto")
      ->type_name("FILE")
      ->group(kGroup);
}

}  // namespace

CLI::Option* add_device_option(CLI::App& command, std::string& device, const std::string& help) {
  const auto check = [](const std::string& name) -> std::string {
    const std::optional<Error> problem = device::device_name_problem(name);
    return problem ? fmt::format("{}; {}", problem->message, problem->help) : "";
  };
  return command.add_option("--device", device, help)
      ->type_name("DEVICE")
      ->check(CLI::Validator(check, ""));
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  constexpr const char* kGroup = "Messages";
  add_choice(command, "--diagnostics", "FORM", {"text", "json"},
             "How errors and warnings are written to standard error",
             [&options](const std::string& text) { options.json = text == "json"; })
      ->group(kGroup);
  add_choice(command, "--color", "WHEN", {"auto", "always", "never"},
             "Colours (auto: on a terminal, unless NO_COLOR is set)",
             [&options](const std::string& text) {
               options.color = text == "always"  ? ColorChoice::Always
                               : text == "never" ? ColorChoice::Never
                                                 : ColorChoice::Auto;
             })
      ->group(kGroup);
  command.add_flag("-q,--quiet", options.quiet, "No warnings")->group(kGroup);
}

void add_progress_option(CLI::App& command, ReportOptions& options) {
  command
      .add_flag("--no-progress", options.no_progress,
                "No line that shows on a terminal how far a long run is")
      ->group("Messages");
}

void add_load_options(CLI::App& command, lang::LoadOptions& options) {
  constexpr const char* kGroup = "Program";
  command
      .add_option_function<std::vector<std::string>>(
          "--module-path",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              for (const std::string& folder : CLI::detail::split(text, ':')) {
                if (!folder.empty()) options.module_path.push_back(folder);
              }
            }
          },
          "Where `use` looks for modules, after the importing file's folder (repeatable)")
      ->type_name("DIR[:DIR]")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_option_function<std::vector<std::string>>(
          "-D,--const",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              options.constants.push_back(split_pair(text, "-D", "NAME=VALUE"));
            }
          },
          "Set a constant that the program defines with #const (repeatable)")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
}

void read_standard_input_once(std::span<const io::Input> inputs, const std::string& other) {
  const auto count = std::ranges::count(inputs, "-", &io::Input::path) + (other == "-" ? 1 : 0);
  if (count > 1) {
    throw CLI::ValidationError("--input",
                               "standard input can be read only once: put the rest into files");
  }
}

void add_input_option(CLI::App& command, PipelineOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--input",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto [relation, path] = split_pair(text, "--input", "RELATION=FILE[:TABLE]");
              options.inputs.push_back(io::parse_input(std::move(relation), path));
            }
            read_standard_input_once(options.inputs);
          },
          "Load rows of a CSV, TSV or SQLite file into a relation (repeatable)")
      ->type_name("REL=FILE[:TABLE]")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Program");
}

void add_evaluation_options(CLI::App& command, RunOptions& options) {
  add_input_option(command, options.pipeline);
  add_load_options(command, options.pipeline.load);
  add_answer_options(command, options);
  add_limit_options(command, options);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("FILE", options.file, "The program; - reads standard input")
      ->required()
      ->type_name("");
  add_evaluation_options(command, options);
  add_print_options(command, options);
  add_report_options(command, options.report);
  add_progress_option(command, options.report);
}

}  // namespace xlog::cli
