// Call: one request to the admin API, its parameters checked, and the way to answer it.
//
// Contract: answered once; every answer gets the fields that keep browsers from doing harm. A Call
//           is moved to whoever will answer, and ends on the admin listener's thread.
// Threads:  those of the admin listener's loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "admin/answers.h"
#include "base/json.h"
#include "core/http/problem.h"
#include "pawl/result.h"
#include "server/responder.h"

namespace pawl::admin {

using Values = std::map<std::string, json::Value, std::less<>>;

class Call {
 public:
  struct Asked {
    Values values = {};     // of path and query
    json::Value body = {};  // as the route's schema has it; null: the route takes none
  };

  Call(server::Request request, Asked asked, server::Reply reply)
      : request_(std::move(request)), asked_(std::move(asked)), reply_(std::move(reply)) {}
  // Its answer is kept, for whoever asks for the same again.
  void keep_answer(std::unique_ptr<Answers::Tap> tap) { tap_ = std::move(tap); }

  const server::Request& request() const { return request_; }
  // Parameters of path and query, by name; what was not given is `otherwise`.
  std::string text(std::string_view name) const;
  std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  bool truth(std::string_view name) const;
  const json::Value& body() const { return asked_.body; }
  // A text of the body; empty when it was not given.
  std::string member(std::string_view name) const;

  // False: whoever asked has left.
  bool is_open() const { return reply_.is_open(); }

  void answer(server::Response response) &&;
  void answer(const json::Value& body) &&;
  void refuse(http::ProblemCode code, std::string detail) &&;
  // With the status that goes with its code.
  void fail(const Error& error) &&;
  server::ReplyStream stream(server::Response head) &&;

 private:
  server::Request request_;
  Asked asked_;
  server::Reply reply_;
  std::unique_ptr<Answers::Tap> tap_;  // nullptr: nobody can ask again
};

server::Response json_response(int status, const json::Value& body);
server::Response problem(http::ProblemCode code, std::string detail, std::string fields = "");
// The problem that goes with an error of a store or of what was asked.
http::ProblemCode problem_code(Code code);
// Adds what every answer of the admin listener carries.
server::Response guarded(server::Response response);

}  // namespace pawl::admin
