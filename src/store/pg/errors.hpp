#pragma once

#include <string_view>

#include <pawl/errors.hpp>

namespace pawl::store::pg {

/// Whether the server may have received what we wanted of it.
enum class Sent : bool { no, maybe };

/// Turns the libpqxx exception being handled into ours; an error that is ours already stays as it is. Call it in a
/// catch block. `doing` begins the text ("claim: …"). Of the server's text the first line and its hint are kept: the
/// other lines quote rows and statements.
[[nodiscard]] StoreError classify(Sent sent, std::string_view doing);

/// True for what undid the statement because of other sessions (a deadlock, a serialization failure).
[[nodiscard]] bool conflict(const StoreError& error) noexcept;

/// True when the server ended the session or is about to.
[[nodiscard]] bool session_ended(const StoreError& error) noexcept;

/// Calls `f`, again after a conflict, three times at most. Only for what stands in a transaction of its own.
///
/// No wait between: the server found the deadlock by waiting, and the other session holds its locks now, so that the
/// next call queues behind it.
template <class F>
auto repeat_on_conflict(F&& f) {
    constexpr int attempts = 3;
    for (int attempt = 1;; ++attempt) {
        try {
            return f();
        } catch (const StoreError& error) {
            if (attempt == attempts || !conflict(error)) throw;
        }
    }
}

}  // namespace pawl::store::pg
