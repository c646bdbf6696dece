#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <cxxabi.h>

#include "failure/decide.hpp"

namespace pawl::failure {

/// A sanitized line about what was thrown.
[[nodiscard]] std::string described(const std::exception_ptr& thrown);

/// Calls user code that has a say in a decision. None, and a note, when it throws anything.
template <class F>
[[nodiscard]] std::optional<std::invoke_result_t<F&>> contained(Notes& notes, std::string_view where, F&& call) {
    try {
        return call();
    } catch (abi::__forced_unwind&) {
        throw;  // The thread is being ended, which cannot be stopped here.
    } catch (...) {
        notes.misbehaving_policies.push_back({std::string(where), "threw " + described(std::current_exception())});
        return std::nullopt;
    }
}

}  // namespace pawl::failure
