// S3Access: by which keys, and for which region, calls to S3 are signed; found where AWS's own
// tools look.
//
//   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN       first
//   AWS_SHARED_CREDENTIALS_FILE, or ~/.aws/credentials                else; the profile AWS_PROFILE
//   region= of the URL, AWS_REGION, AWS_DEFAULT_REGION, the profile's region
//
// Contract: errors name what is missing and where it may be put, and repeat nothing that was read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/s3_url.h"
#include "base/sign_v4.h"
#include "pawl/result.h"

namespace pawl {

struct S3Access {
  aws::Credentials credentials = {};
  std::string region = {};
};

// A variable of the environment; none when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Reads the credentials file, if it must.
Result<S3Access> find_s3_access(const S3Url& url, const Environment& environment);

}  // namespace pawl
