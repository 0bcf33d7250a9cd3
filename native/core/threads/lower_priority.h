// Lowers the priority of a thread that hashes below that of JavaScript.
#pragma once

namespace metainfo {

// Makes the calling thread give way to the other threads of the process when they wake. On Linux, it keeps
// its share of the processor beside other processes. A failure is ignored: the thread then competes as an
// equal.
void lower_priority() noexcept;

}  // namespace metainfo
