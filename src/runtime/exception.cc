#include "runtime/exception.h"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <typeinfo>

namespace pawl {
namespace {

std::string name_of(const std::type_info* type) {
  if (type == nullptr) return "exception";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type->name();
}

}  // namespace

AttemptEnd end_of_exception() {
  AttemptEnd end{.seen = {retry::Failure::unknown, Outcome::unknown, true},
                 .type = name_of(abi::__cxa_current_exception_type())};
  try {
    throw;
  } catch (const std::exception& exception) {
    end.message = exception.what();
  } catch (...) {
    end.message = "it threw something that is no std::exception";
  }
  return end;
}

}  // namespace pawl
