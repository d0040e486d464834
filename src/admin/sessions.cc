#include "admin/sessions.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bounds_panel.h"
#include "base/text.h"

namespace pawl::admin {
namespace {

std::string hash_of(std::string_view text) {
  return to_hex(sha256(text));
}

// 256 bits that nobody can foresee.
std::string secret_text(Entropy& entropy) {
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    const Entropy16 more = entropy.next();
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
  }
  return hash_of(bytes);
}

// The value of our cookie; empty: there is none.
std::string_view shown_id(const server::Request& request) {
  const std::string name = cookie_name(request);
  std::string_view rest = request.header("Cookie");
  while (!rest.empty()) {
    std::string_view pair = trim_blanks(take_until(rest, ';'));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
  }
  return {};
}

}  // namespace

std::string cookie_name(const server::Request& request) {
  const std::string_view host = request.header("Host");
  const std::size_t colon = host.find(':', host.find(']') + 1);  // npos + 1 is 0
  const std::string_view port = colon == std::string_view::npos ? "" : host.substr(colon + 1);
  const bool digits = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return port.empty() || !digits ? "pawl_session" : "pawl_session_" + std::string(port);
}

std::string cookie_field(const server::Request& request, std::string_view id) {
  std::string out = "Set-Cookie: " + cookie_name(request) + "=" + std::string(id);
  out += "; Path=/; HttpOnly; SameSite=Strict; Max-Age=";
  out += std::to_string(id.empty() ? 0 : bounds::panel_session_age.seconds_up());
  return out + "\r\n";
}

Sessions::Opened Sessions::open(Entropy& entropy, const Secret<std::string>& token,
                                SteadyInstant now) {
  if (sessions_.size() >= bounds::panel_sessions_max) {
    sessions_.erase(
        std::ranges::min_element(sessions_, {}, [](const auto& each) { return each.second.used; }));
  }
  Opened opened{.id = secret_text(entropy), .csrf = secret_text(entropy)};
  sessions_.insert_or_assign(
      hash_of(opened.id),
      Session{.csrf = opened.csrf, .token = hash_of(token.reveal()), .opened = now, .used = now});
  return opened;
}

std::string Sessions::csrf_of(const server::Request& request, const Secret<std::string>& token,
                              SteadyInstant now) {
  const std::string_view id = shown_id(request);
  if (id.empty()) return {};
  const auto found = sessions_.find(hash_of(id));
  if (found == sessions_.end()) return {};
  Session& session = found->second;
  const bool is_over = now - session.used > bounds::panel_session_idle ||
                       now - session.opened > bounds::panel_session_age;
  if (is_over || session.token != hash_of(token.reveal())) {
    sessions_.erase(found);
    return {};
  }
  session.used = now;
  return session.csrf;
}

void Sessions::close(const server::Request& request) {
  if (const std::string_view id = shown_id(request); !id.empty()) sessions_.erase(hash_of(id));
}

}  // namespace pawl::admin
