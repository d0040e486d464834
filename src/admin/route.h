// Route: one call of the admin API: how it is asked, what it answers, and who answers it.
//
// Why:      the table of routes is what requests are dispatched by, what their parameters are
//           checked with, and what the OpenAPI document is made of: what is not in it is not
//           served, and what is served is in the document.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "admin/call.h"
#include "admin/schema.h"

namespace pawl::admin {

// Who may ask.
enum class Access : std::uint8_t {
  open,   // anybody: probes have no secrets
  token,  // who sends the token as `Authorization: Bearer`, or has signed in at the panel
  trade,  // the same; from a browser only where server.admin.panel.trading allows it
  // A proxy that passes a client's request on to be decided about: its Authorization, Host and
  // Origin are the client's, so the token comes as X-Pawl-Token.
  proxy,
};
inline constexpr std::string_view proxy_token_field = "X-Pawl-Token";

struct Parameter {
  enum class In : std::uint8_t { query, path };

  std::string_view name;
  std::string_view summary;
  Schema schema;
  In in = In::query;
};

struct Told {
  int status = 200;
  std::string_view summary;
  Schema schema = {};  // null: there is no body, or it is no JSON
  std::string_view content_type = "application/json";
};

struct Route {
  std::string_view method = "GET";  // GET stands for HEAD too; `*`: any
  std::string_view path = {};       // with {names} in place of segments
  std::string_view id = {};         // of the operation, in the document
  std::string_view summary = {};
  Access access = Access::token;
  std::vector<Parameter> parameters = {};
  Schema body = {};  // null: it takes none, or one that is no JSON
  // The content type of a body that is no JSON, which the handler reads by itself; empty: none.
  std::string_view takes = {};
  // Beside those that every call of its access may get; a bare status is a problem.
  std::vector<Told> answers = {};
  std::vector<int> problems = {};
  // The last name takes the rest of the target as it is, slashes, escapes and query included.
  bool takes_rest = false;
  // False: asked again with the same Idempotency-Key it is done again. It changes nothing, or what
  // it answers is for one alone.
  bool keeps_answer = true;
  std::function<void(Call)> handle = {};
};

using Routes = std::vector<Route>;

// Whether an Idempotency-Key means something: changes of ours. What a proxy passes on has its
// client's fields.
inline bool may_carry_key(const Route& route) {
  return (route.access == Access::token || route.access == Access::trade) &&
         route.method != "GET" && route.keeps_answer;
}

}  // namespace pawl::admin
