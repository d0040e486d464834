// expect: is not a constant expression
// An event's name is written unescaped and remembered for good: it must come from the code.
#include "log/logger.h"

void tell(const pawl::log::Logger& logger, const char* input) {
#ifndef PAWL_FIXED
  logger.info(input);
#endif
  logger.info("request_refused", {{"reason", input}});
}
