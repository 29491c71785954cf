#include "base/os/signal_shield.h"

#include <pthread.h>

#include <initializer_list>

namespace anyshape::os {

SignalShield::SignalShield() {
  sigset_t blocked;
  ::sigfillset(&blocked);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    ::sigdelset(&blocked, number);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

SignalShield::~SignalShield() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace anyshape::os
