#include "emulator/core/s3_replies.h"

#include <algorithm>
#include <utility>

#include "base/xml.h"

namespace pawl::emulator {
namespace {

constexpr std::pair<std::string_view, int> statuses[] = {
    {"AccessDenied", 403},
    {"AuthorizationHeaderMalformed", 400},
    {"BadDigest", 400},
    {"BucketAlreadyOwnedByYou", 409},
    {"BucketNotEmpty", 409},
    {"ConditionalRequestConflict", 409},
    {"ExpiredToken", 400},
    {"InternalError", 500},
    {"InvalidAccessKeyId", 403},
    {"InvalidArgument", 400},
    {"InvalidBucketName", 400},
    {"InvalidDigest", 400},
    {"InvalidRange", 416},
    {"InvalidRequest", 400},
    {"InvalidToken", 400},
    {"InvalidURI", 400},
    {"KeyTooLongError", 400},
    {"MalformedXML", 400},
    {"MethodNotAllowed", 405},
    {"NoSuchBucket", 404},
    {"NoSuchKey", 404},
    {"NotImplemented", 501},
    {"OperationAborted", 409},
    {"PermanentRedirect", 301},
    {"PreconditionFailed", 412},
    {"RequestTimeTooSkewed", 403},
    {"RequestTimeout", 400},
    {"ServiceUnavailable", 503},
    {"SignatureDoesNotMatch", 403},
    {"SlowDown", 503},
    {"TooManyRequests", 429},
    {"XAmzContentSHA256Mismatch", 400},
};

}  // namespace

int s3_status(std::string_view code) {
  const auto* row = std::ranges::find(statuses, code, [](const auto& pair) { return pair.first; });
  return row == std::end(statuses) ? 500 : row->second;
}

Reply s3_xml(int status, std::string_view inside) {
  return {.status = status,
          .fields = {{.name = "Content-Type", .value = "application/xml"}},
          .body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + std::string(inside)};
}

Reply s3_refused(const S3Refusal& refusal, const Call& call) {
  Reply reply =
      s3_xml(s3_status(refusal.code),
             "<Error><Code>" + xml::escaped(refusal.code) + "</Code><Message>" +
                 xml::escaped(refusal.message) + "</Message><Resource>" + xml::escaped(call.path) +
                 "</Resource><RequestId>" + std::to_string(call.number) + "</RequestId></Error>");
  reply.note = refusal.note;
  return reply;
}

}  // namespace pawl::emulator
