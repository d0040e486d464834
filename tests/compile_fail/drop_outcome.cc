// expect: ignoring returned value of type 'pawl::Outcome'
// What became of an effect must be looked at.
#include "pawl/result.h"

pawl::Outcome send();

bool send_once() {
#ifndef PAWL_FIXED
  send();
#endif
  return pawl::may_send_again(send());
}
