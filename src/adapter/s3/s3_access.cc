#include "adapter/s3/s3_access.h"

#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr std::string_view usual_region = "us-east-1";

std::string value_of(const Environment& environment, const std::string& name) {
  return environment(name).value_or("");
}

// What stands below [profile]; none when there is no such line.
std::optional<std::map<std::string, std::string>> read_profile(std::string_view text,
                                                               std::string_view profile) {
  std::optional<std::map<std::string, std::string>> found;
  bool is_inside = false;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trim_blanks(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      is_inside = line.ends_with(']') && trim_blanks(line.substr(1, line.size() - 2)) == profile;
      if (is_inside && !found) found.emplace();
      continue;
    }
    if (!is_inside || line.find('=') == line.npos) continue;
    const std::string_view name = trim_blanks(take_until(line, '='));
    found->insert_or_assign(std::string(name), std::string(trim_blanks(line)));
  }
  return found;
}

struct Place {
  std::string path;
  std::string profile;
};

Place place_of(const Environment& environment) {
  Place place{.path = value_of(environment, "AWS_SHARED_CREDENTIALS_FILE"),
              .profile = value_of(environment, "AWS_PROFILE")};
  const std::string home = value_of(environment, "HOME");
  if (place.path.empty() && !home.empty()) place.path = home + "/.aws/credentials";
  if (place.profile.empty()) place.profile = "default";
  return place;
}

Result<S3Access> read_file(const Environment& environment) {
  const Place place = place_of(environment);
  std::ifstream stream(place.path, std::ios::binary);
  if (place.path.empty() || !stream) {
    return failure(Code::invalid,
                   "there are no keys for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                   "write them into " +
                       (place.path.empty() ? "the credentials file" : place.path));
  }
  std::string text(bounds::config_bytes_max, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const auto profile = read_profile(text, place.profile);
  if (!profile) {
    return failure(Code::invalid, place.path + " has no profile [" + place.profile +
                                      "]: add it, or name another one in AWS_PROFILE");
  }
  const auto value = [&](const char* name) {
    const auto found = profile->find(name);
    return found == profile->end() ? std::string() : found->second;
  };
  return S3Access{.credentials = {.access_key = value("aws_access_key_id"),
                                  .secret_key = Secret<std::string>(value("aws_secret_access_key")),
                                  .session_token = Secret<std::string>(value("aws_session_token"))},
                  .region = value("region")};
}

Result<S3Access> keys_of(const Environment& environment) {
  S3Access access{
      .credentials = {
          .access_key = value_of(environment, "AWS_ACCESS_KEY_ID"),
          .secret_key = Secret<std::string>(value_of(environment, "AWS_SECRET_ACCESS_KEY")),
          .session_token = Secret<std::string>(value_of(environment, "AWS_SESSION_TOKEN"))}};
  const std::string where =
      access.credentials.access_key.empty() ? "the credentials file has" : "the environment has";
  if (access.credentials.access_key.empty()) access = PAWL_TRY(read_file(environment));
  const aws::Credentials& keys = access.credentials;
  // A blank or a line's end in a key is a mistake in copying it, and would break the call's head.
  const bool is_whole = is_visible(keys.access_key) && is_visible(keys.secret_key.reveal()) &&
                        is_visible(keys.session_token.reveal());
  if (keys.access_key.empty() || keys.secret_key.empty() || !is_whole) {
    return failure(Code::invalid, where +
                                      " no whole pair of keys for S3: an access key and a secret "
                                      "key, without blanks");
  }
  return access;
}

}  // namespace

Result<S3Access> find_s3_access(const S3Url& url, const Environment& environment) {
  S3Access access = PAWL_TRY(keys_of(environment));
  const std::string of_file = std::exchange(access.region, url.region);
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (access.region.empty()) access.region = value_of(environment, name);
  }
  if (access.region.empty()) access.region = of_file;
  // Stores that are not AWS have one region, and most call it so.
  if (access.region.empty() && !url.endpoint.empty()) access.region = usual_region;
  if (access.region.empty()) {
    return failure(Code::invalid, "the region of the bucket " + url.bucket +
                                      " is not known: write ?region=us-east-1 into the URL, or "
                                      "set AWS_REGION");
  }
  return access;
}

}  // namespace pawl
