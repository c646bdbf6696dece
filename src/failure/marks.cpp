#include "failure/marks.hpp"

#include <mutex>

#include <pawl/do_not_retry.hpp>

namespace pawl {
namespace detail {

/// The list of all marks: the one piece of global state, filled by static initialization. It is a list of the marks
/// themselves, so that joining needs no memory and cannot fail.
class MarkList {
public:
    void join(Mark& mark) noexcept {
        const std::lock_guard lock(mutex_);
        mark.next_ = first_;
        if (first_ != nullptr) first_->previous_ = &mark;
        first_ = &mark;
    }

    void leave(Mark& mark) noexcept {
        const std::lock_guard lock(mutex_);
        (mark.previous_ != nullptr ? mark.previous_->next_ : first_) = mark.next_;
        if (mark.next_ != nullptr) mark.next_->previous_ = mark.previous_;
    }

    [[nodiscard]] std::optional<std::string> find(const std::type_info& type) {
        const std::lock_guard lock(mutex_);
        for (const Mark* mark = first_; mark != nullptr; mark = mark->next_) {
            if (mark->marks(type)) return std::string(mark->reason());
        }
        return std::nullopt;
    }

private:
    std::mutex mutex_;
    Mark* first_ = nullptr;
};

namespace {

// Constant-initialized and never destroyed: marks join before main, and leave after it.
union Eternal {
    constexpr Eternal() noexcept : list() {}
    ~Eternal() {}
    MarkList list;
};
constinit Eternal eternal;

}  // namespace

Mark::Mark(const std::type_info& type, const std::type_info* nested, std::string_view reason) noexcept
    : type_(&type), nested_(nested), reason_(reason) {
    eternal.list.join(*this);
}

Mark::~Mark() { eternal.list.leave(*this); }

}  // namespace detail

std::optional<std::string> failure::mark_on(const std::type_info& type) { return detail::eternal.list.find(type); }

}  // namespace pawl
