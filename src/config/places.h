// The values that say where something is: services, stores and files. As in values.h, each takes
// exactly what its `allowed` says.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

// A service, without a path.
Type<Upstream> upstream();
// "https://shop.internal:9000"
std::string to_string(const Upstream& upstream);
// Where something is sent to, with its path.
Type<std::string> web_url();
Type<std::string> web_url_or_none();
// What a Host or Origin field may say, but for the port.
Type<std::string> host();

Type<std::string> file_path();
Type<std::string> file_path_or_none();
// What is asked of a service.
Type<std::string> request_path_or_none();

// Where counts may be kept.
Type<StoreSetting> limit_store();
// Where calendar buckets may be kept apart from the others.
Type<StoreSetting> calendar_store();
// Where records of intents may be kept.
Type<StoreSetting> record_store();
// Where audit events may be written.
Type<StoreSetting> sink();

// A URL as it is shown: its password as hidden_secret.
std::string without_password(std::string_view url);

}  // namespace pawl::config
