// Work that can rest half-way and be taken up again: a coroutine that waits for other work as a
// function calls functions, and rests wherever the innermost of them does.
//
//   Work count_all() { for (...) { ...; co_await rest_if(tired); } }
//   Work all() { co_await count_all(); ... }
//
//   Work work = all();
//   while (!work.go_on()) ... something else ...
//
// What it throws goes to who waits for it, as with functions.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace xlog::incremental {

class Work {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    promise_type* root = this;          // of the work that is waited for by nobody
    std::coroutine_handle<> innermost;  // of the root: where to go on
    std::coroutine_handle<> caller;     // that waits for this
    std::exception_ptr thrown;

    Work get_return_object() {
      const Handle handle = Handle::from_promise(*this);
      innermost = handle;
      return Work(handle);
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    auto final_suspend() const noexcept {
      struct Return {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle done) const noexcept {
          promise_type& promise = done.promise();
          if (!promise.caller) return std::noop_coroutine();
          promise.root->innermost = promise.caller;
          return promise.caller;
        }
        void await_resume() const noexcept {}
      };
      return Return{};
    }
    void return_void() const {}
    void unhandled_exception() { thrown = std::current_exception(); }
    void throw_again() const {
      if (thrown) std::rethrow_exception(thrown);
    }
  };

  Work() = default;
  Work(Work&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Work& operator=(Work&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Work() {
    if (handle_) handle_.destroy();
  }

  // Until the next rest. True: it is done.
  bool go_on() {
    handle_.promise().innermost.resume();
    if (handle_.done()) handle_.promise().throw_again();
    return handle_.done();
  }

  // To wait for it in other work.
  auto operator co_await() const {
    struct Call {
      Handle called;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(Handle caller) const noexcept {
        promise_type& promise = called.promise();
        promise.root = caller.promise().root;
        promise.caller = caller;
        promise.root->innermost = called;
        return called;
      }
      void await_resume() const { called.promise().throw_again(); }
    };
    return Call{handle_};
  }

 private:
  explicit Work(Handle handle) : handle_(handle) {}

  Handle handle_;
};

struct Rest {
  bool go_on;
  bool await_ready() const noexcept { return go_on; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};
inline Rest rest_if(bool tired) { return {!tired}; }

}  // namespace xlog::incremental
