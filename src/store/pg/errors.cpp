#include "store/pg/errors.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "store/pg/compat.hpp"

namespace pawl::store::pg {

namespace {

/// The first line, without the severity in front of it, and the hint.
std::string kept(std::string_view message) {
    std::string result{message.substr(0, message.find('\n'))};
    for (const std::string_view severity : {"ERROR:  ", "FATAL:  ", "ERROR: ", "FATAL: "}) {
        if (result.starts_with(severity)) {
            result.erase(0, severity.size());
            break;
        }
    }
    constexpr std::string_view hint_mark = "\nHINT:  ";
    if (const auto at = message.find(hint_mark); at != std::string_view::npos) {
        const auto hint = message.substr(at + hint_mark.size());
        result += " (";
        result += hint.substr(0, hint.find('\n'));
        result += ')';
    }
    return result;
}

/// Whether waiting may help, by the SQLSTATE's class or by the code itself.
bool passes(std::string_view sqlstate) {
    constexpr std::array<std::string_view, 4> classes{
        "08",  // connection exception
        "40",  // transaction rollback: conflicts
        "53",  // insufficient resources
        "58",  // system error outside PostgreSQL
    };
    constexpr std::array<std::string_view, 9> codes{
        "25006",  // read-only transaction: a fail-over is under way
        "25P03",  // idle in transaction for too long
        "55006",  // object in use
        "55P03",  // lock not available: lock_timeout
        "57014",  // canceled: statement_timeout
        "57P01",  // admin shutdown
        "57P02",  // crash shutdown
        "57P03",  // cannot connect now: starting up
        "57P05",  // idle for too long
    };
    return std::ranges::find(classes, sqlstate.substr(0, 2)) != classes.end() ||
           std::ranges::find(codes, sqlstate) != codes.end();
}

StoreError lost(Sent sent, const std::string& message, std::string sqlstate) {
    const auto code = sent == Sent::maybe ? ErrorCode::in_doubt : ErrorCode::store_unavailable;
    return StoreError{code, message, {.transient = true, .sqlstate = std::move(sqlstate)}};
}

}  // namespace

StoreError classify(Sent sent, std::string_view doing) {
    try {
        throw;
    } catch (const StoreError& error) {
        return error;
    } catch (...) {
        auto [kind, sqlstate, text] = compat::current_failure();
        auto message = std::string{doing} + ": " + kept(text);
        if (!sqlstate.empty()) message += " [" + sqlstate + ']';

        switch (kind) {
            case compat::Kind::connection_lost:
                return lost(sent, message, std::move(sqlstate));
            case compat::Kind::commit_in_doubt:
                return lost(Sent::maybe, message, {});
            case compat::Kind::misuse:
                return StoreError{ErrorCode::internal, message};
            case compat::Kind::other:
                return StoreError{ErrorCode::internal, message};
            case compat::Kind::sql:
                break;
        }
        if (sqlstate == "40003") return lost(Sent::maybe, message, std::move(sqlstate));
        const bool transient = passes(sqlstate);
        // Refused for good, or undone and worth another try: either way nothing was written.
        const auto code = transient ? ErrorCode::store_unavailable : ErrorCode::store_rejected;
        return StoreError{code, message, {.transient = transient, .sqlstate = std::move(sqlstate)}};
    }
}

bool conflict(const StoreError& error) noexcept { return error.sqlstate() == "40001" || error.sqlstate() == "40P01"; }

bool session_ended(const StoreError& error) noexcept {
    const auto state = error.sqlstate();
    return state == "57P01" || state == "57P02" || state == "57P05" || state == "25P03" || state.starts_with("08") ||
           (state.empty() && error.transient());
}

}  // namespace pawl::store::pg
