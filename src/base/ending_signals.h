// What must happen before a signal ends the process (SIGHUP, SIGINT, SIGTERM, and those that end it
// where nobody handles them: SIGPIPE, SIGQUIT, SIGALRM, SIGUSR1, SIGXCPU and their like), and the
// signal of a file that gets too large, which need not end it.
#pragma once

namespace xlog {

// `act` is called in the signal's handler, before what the signal did until then: usually the end
// of the process. It may do only what a handler may: no locks, no heap, no stdio. An ignored signal
// stays ignored. Asking twice for the same is asking once; there is room for a handful.
void before_ending_signal(void (*act)());

// The same for a signal's handler that ends the process in a way of its own.
void act_before_end();

// A file that reaches the limit of `ulimit -f` is from now on an error like a full disk, where it
// would have ended the process.
void let_large_files_fail();

}  // namespace xlog
