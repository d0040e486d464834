#include "base/local_url.h"

#include "base/address.h"
#include "base/text.h"

namespace pawl {

bool is_local_url(std::string_view url) {
  const auto scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?"));
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.rfind(':'));
  }
  if (equal_ignoring_case(host, "localhost")) return true;
  const auto ip = parse_ip(host);
  return ip && ip->is_loopback();
}

}  // namespace pawl
