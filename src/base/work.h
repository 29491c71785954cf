#pragma once

#include "anyshape/work.h"
#include "base/error.h"

namespace anyshape {

// What long work asks now and then, on the thread of the caller.
class Work {
 public:
  // Errors "work.cancelled" and "work.timeout" (kind system) once the caller wants the work to end.
  static Status check();
  // The same as a question, for places that cannot hand an error on.
  static bool stopped();
  // Time for proofs is over, or all work is: what is not known by now is unknown.
  static bool budget_spent();
  // What one run may take; 0: no limit.
  static int64_t max_bytes();

  // For work of this thread that another one watches over: the limits in force here, null where there are none. They
  // may be asked by any thread as long as the scope lives.
  static const WorkScope* scope();
  static Status check(const WorkScope* scope);
};

}  // namespace anyshape
