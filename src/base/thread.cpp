#include "base/thread.hpp"

#include <utility>

#if defined(__linux__)
#include <pthread.h>
#endif

#include "base/mutex.hpp"

namespace pawl::base {
namespace {

void name_current_thread([[maybe_unused]] std::string name) noexcept {
#if defined(__linux__)
    constexpr std::size_t system_limit = 15;
    if (name.size() > system_limit) name.resize(system_limit);
    pthread_setname_np(pthread_self(), name.c_str());
#endif
}

}  // namespace

struct Thread::Ended {
    Mutex mutex;
    CondVar changed;
    bool ended PAWL_GUARDED_BY(mutex) = false;
};

Thread::Thread(std::string name, Body body)
    : ended_(std::make_shared<Ended>()),
      thread_([name = std::move(name), body = std::move(body), ended = ended_]() mutable {
          // A guard and not a last line, since user code may end the thread by forced unwinding (pthread_exit).
          struct SayEnded {
              Ended& ended;
              ~SayEnded() {
                  const MutexLock lock{ended.mutex};
                  ended.ended = true;
                  ended.changed.notify_all();
              }
          } const say_ended{*ended};
          name_current_thread(std::move(name));
          // What the body owns is let go before the end is said, not at some time after it.
          const Body running = std::move(body);
          running();
      }) {}

Thread::~Thread() { end(); }

Thread& Thread::operator=(Thread&& other) noexcept {
    if (this == &other) return *this;
    end();
    ended_ = std::move(other.ended_);
    thread_ = std::move(other.thread_);
    return *this;
}

void Thread::end() noexcept {
    if (is_current()) abandon();
    join();
}

void Thread::join() {
    if (thread_.joinable() && !is_current()) thread_.join();
}

bool Thread::join_until(std::chrono::steady_clock::time_point until) {
    if (!thread_.joinable()) return true;
    if (is_current()) return false;
    {
        const MutexLock lock{ended_->mutex};
        while (!ended_->ended) {
            if (!ended_->changed.wait_until(ended_->mutex, until) && !ended_->ended) return false;
        }
    }
    thread_.join();
    return true;
}

void Thread::abandon() noexcept {
    if (thread_.joinable()) thread_.detach();
}

}  // namespace pawl::base
