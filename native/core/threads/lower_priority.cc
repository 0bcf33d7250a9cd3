// Every system has a call of its own.
#include "core/threads/lower_priority.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__APPLE__)
#include <pthread.h>
#include <pthread/qos.h>
#elif defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace metainfo {

void lower_priority() noexcept {
#if defined(_WIN32)
  ::SetThreadPriority(::GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
#elif defined(__APPLE__)
  ::pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#elif defined(__linux__)
  // Not sched_setscheduler(), which musl does not have. A process may have been started with another policy,
  // such as SCHED_IDLE.
  int policy;
  sched_param parameters;
  if (::pthread_getschedparam(::pthread_self(), &policy, &parameters) == 0 && policy == SCHED_OTHER)
    ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &parameters);
#endif
}

}  // namespace metainfo
