#include "admin/panel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace pawl::admin {
namespace {

constexpr std::string_view page_fields =
    "Cache-Control: no-cache\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Vary: Accept-Encoding\r\n";

// Whether a list field names it, and not with a weight of nothing.
bool takes(std::string_view accepted, std::string_view coding) {
  while (!accepted.empty()) {
    std::string_view item = take_until(accepted, ',');
    const std::string_view name = trim_blanks(take_until(item, ';'));
    const std::string_view weight = trim_blanks(item);
    if (equal_ignoring_case(name, coding)) return weight != "q=0" && weight != "q=0.0";
  }
  return false;
}

server::Response response_of(const PanelAsset& asset, const server::Request& request) {
  const std::string tag = "\"" + std::string(asset.tag) + "\"";
  server::Response response{.status = 200, .content_type = std::string(asset.type)};
  response.extra_fields.append(page_fields).append("ETag: ").append(tag).append("\r\n");
  if (request.header("If-None-Match") == tag) {
    response.status = 304;
    return response;
  }
  const std::string_view accepted = request.header("Accept-Encoding");
  if (takes(accepted, "br")) {
    response.body = asset.brotli;
    response.extra_fields.append("Content-Encoding: br\r\n");
  } else if (takes(accepted, "gzip")) {
    response.body = asset.gzip;
    response.extra_fields.append("Content-Encoding: gzip\r\n");
  } else {
    response.body = asset.plain;
  }
  return response;
}

void tell(std::span<const PanelAsset> assets, Call call) {
  const std::string rest = call.text("file");
  const std::string name = rest.substr(0, rest.find('?'));
  const std::string_view wanted = name.empty() ? "index.html" : std::string_view(name);
  const auto found = std::ranges::find(assets, wanted, &PanelAsset::name);
  if (found == assets.end()) {
    return std::move(call).refuse(http::ProblemCode::not_found,
                                  "The panel has no such file. It begins at /panel/.");
  }
  server::Response response = response_of(*found, call.request());
  std::move(call).answer(std::move(response));
}

}  // namespace

Routes panel_routes(std::span<const PanelAsset> assets) {
  return {
      {.path = "/panel",
       .id = "panel_place",
       .summary = "Leads to the panel.",
       .access = Access::open,
       .answers = {{308, "To /panel/.", {}, "text/plain"}},
       .handle =
           [](Call call) {
             std::move(call).answer(server::Response{.status = 308,
                                                     .content_type = "text/plain",
                                                     .body = "/panel/\n",
                                                     .extra_fields = "Location: /panel/\r\n"});
           }},
      {.path = "/panel/{file}",
       .id = "panel",
       .summary = "The panel: what pawl does, and what to do about it. Begins at /panel/.",
       .access = Access::open,
       .parameters = {{"file", "Of the panel; without one the page.", schema::text(),
                       Parameter::In::path}},
       .answers = {{200, "The file.", {}, "text/html"},
                   {304, "It has not changed.", {}, "text/html"}},
       .problems = {404},
       .takes_rest = true,
       .handle = [assets](Call call) { tell(assets, std::move(call)); }},
  };
}

}  // namespace pawl::admin
