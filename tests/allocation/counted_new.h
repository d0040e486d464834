// Counts what is asked of operator new, which this program replaces by one that counts; so it is a
// program of its own, and does not blunt the sanitizers' look at other tests.
#pragma once

namespace pawl {

extern thread_local int allocations;

// Of so many calls.
template <class Call>
int allocations_of(int times, Call call) {
  const int before = allocations;
  for (int i = 0; i < times; ++i) call();
  return allocations - before;
}

}  // namespace pawl
