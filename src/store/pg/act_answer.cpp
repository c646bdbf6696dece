#include "store/pg/act_answer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include <pawl/errors.hpp>

#include "model/names.hpp"

namespace pawl::store::pg {

const std::string_view act_answer = R"(
select exists (select from moved), f.state::text, f.kind, f.queue, coalesce((select attempts from moved), f.attempts, 0)@also@
from (select) as always
left join @schema@.find_job($1) f on true)";

namespace {

/// Between two looks at a job in the middle of a move, which ends with a commit.
constexpr std::chrono::milliseconds first_wait{1};
constexpr std::chrono::milliseconds longest_wait{50};
constexpr std::chrono::seconds patience{30};

}  // namespace

Acted until_answered(Connection& connection, const Statement& statement, const Params& params,
                     std::initializer_list<State> from, State to) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    for (auto wait = first_wait;; wait = std::min(wait * 2, longest_wait)) {
        const Result rows = connection.run(statement, params);
        Acted acted;
        acted.done = rows.boolean(0, 0);
        if (const auto state = rows.optional_text(0, 1)) acted.state = model::parse_state(*state);
        const bool known = !rows.is_null(0, 2);
        acted.kind = rows.optional_string(0, 2).value_or(std::string{});
        acted.queue = rows.optional_string(0, 3).value_or(std::string{});
        acted.attempts = rows.int32(0, 4);
        if (acted.done) {
            acted.state = to;
            return acted;
        }
        const bool stands_elsewhere = acted.state && std::find(from.begin(), from.end(), *acted.state) == from.end();
        if (!known || stands_elsewhere) return acted;
        if (std::chrono::steady_clock::now() >= give_up) {
            throw StoreError(ErrorCode::store_unavailable,
                             "the job was in the middle of a move at every look for 30 seconds",
                             {.transient = true, .sqlstate = {}});
        }
        std::this_thread::sleep_for(wait);
    }
}

}  // namespace pawl::store::pg
