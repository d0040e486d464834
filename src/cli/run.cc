#include "cli/run.h"

#include <exception>
#include <utility>

#include "cli/app.h"
#include "cli/help.h"
#include "cli/output.h"

namespace pawl::cli {
namespace {

int perform(std::span<const Verb> verbs, std::span<const std::string> words) {
  const Result<Parsed> parsed = parse(verbs, words);
  if (!parsed) return fail(parsed.error());
  if (std::holds_alternative<VersionWanted>(*parsed)) {
    print("pawl " PAWL_VERSION "\n");
    return 0;
  }
  if (const auto* wanted = std::get_if<HelpWanted>(&*parsed)) {
    const std::string text = help(verbs, wanted->path);
    if (wanted->asked) {
      print(text);
      return 0;
    }
    complain(std::string_view(text).substr(0, text.size() - 1));
    return static_cast<int>(Code::usage);
  }
  const Call& call = std::get<Call>(*parsed);
  return call.verb->run(call.arguments);
}

int internal_error(std::string_view what) {
  return fail(Error(Code::internal, Outcome::unknown,
                    "internal error: " + std::string(what) +
                        "; this is a bug in pawl, please report it with what led to it"));
}

}  // namespace

int run(std::span<const Verb> verbs, std::span<const std::string> words) {
  try {
    return finish(perform(verbs, words));
  } catch (const std::exception& error) {
    return internal_error(error.what());
  } catch (...) {
    return internal_error("something was thrown that is no exception");
  }
}

}  // namespace pawl::cli
