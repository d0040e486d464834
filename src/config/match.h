// The fields of a bucket's match: which requests it counts.
#pragma once

#include "config/field.h"
#include "core/request/match.h"

namespace pawl::config {

const Fields<request::Match>& match_fields();

// Printed as nothing when it agrees with every request.
Type<request::Match> match();

}  // namespace pawl::config
