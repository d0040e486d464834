// All of pawl's public interface.
#pragma once

#include "pawl/clock.h"
#include "pawl/limiter.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "pawl/version.h"
