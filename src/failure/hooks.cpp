#include <pawl/classification.hpp>

#include "failure/capture.hpp"
#include "failure/contain.hpp"
#include "failure/decide.hpp"
#include "failure/sanitize.hpp"

namespace pawl::failure {

std::string described(const std::exception_ptr& thrown) {
    const auto failure = capture(thrown, nullptr, {}, Classification());
    const ErrorRecord record = sanitize(DefaultErrorSanitizer(), *failure);
    return record.message.empty() ? record.type : record.type + ": " + record.message;
}

void run_hooks(Notes& notes) {
    for (const OwedHook& hook : notes.hooks) {
        try {
            hook.call(hook.failure);
        } catch (abi::__forced_unwind&) {
            throw;
        } catch (...) {  // User code: one that throws does not stop the others.
            notes.misbehaving_hooks.push_back({hook.where, "threw " + described(std::current_exception())});
        }
    }
    notes.hooks.clear();
}

}  // namespace pawl::failure
