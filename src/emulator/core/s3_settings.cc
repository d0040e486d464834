#include "emulator/core/s3_settings.h"

#include <utility>

#include "emulator/core/settings_reader.h"

namespace pawl::emulator {

Result<S3Settings> parse_s3_settings(const json::Value& settings) {
  S3Settings read;
  std::string secret = read.credentials.secret_key.reveal();
  std::string token;
  std::string conditions = "kept";
  std::string tags = "quoted";
  SettingsReader reader(settings);
  reader.read("authentication", read.authenticates);
  reader.read("access_key", read.credentials.access_key);
  reader.read("secret_key", secret);
  reader.read("session_token", token);
  reader.read("region", read.region);
  reader.read("clock_window", read.clock_window);
  reader.read("buckets", read.buckets);
  reader.read("conditions", conditions, {"kept", "ignored"});
  reader.read("tags", tags, {"quoted", "bare", "any"});
  PAWL_TRY(reader.finish());
  read.credentials.secret_key = Secret(std::move(secret));
  read.credentials.session_token = Secret(std::move(token));
  read.keeps_conditions = conditions == "kept";
  read.tags = tags == "quoted" ? S3Tags::quoted : tags == "bare" ? S3Tags::bare : S3Tags::any;
  return read;
}

}  // namespace pawl::emulator
