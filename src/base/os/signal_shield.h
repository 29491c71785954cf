#pragma once

#include <csignal>

namespace anyshape::os {

// While it lives, this thread takes no signal that is sent to the process, and threads started meanwhile never do: the
// handlers of a program run in its own threads, one after the other. Faults of a thread and SIGPROF come as ever.
class SignalShield {
 public:
  SignalShield();
  ~SignalShield();
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;

 private:
  sigset_t before_;
};

}  // namespace anyshape::os
