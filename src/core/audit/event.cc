#include "core/audit/event.h"

namespace pawl::audit {

std::string_view to_string(EventType type) {
  switch (type) {
    case EventType::limit:
      return "limit";
    case EventType::pace:
      return "pace";
    case EventType::request:
      return "request";
    case EventType::config:
      return "config";
    case EventType::rejected:
      return "rejected";
  }
  __builtin_unreachable();
}

}  // namespace pawl::audit
