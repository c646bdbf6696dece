#pragma once

#include <cstdint>
#include <string_view>

#include "failure/case.hpp"

namespace pawl::failure {

/// Which rows of the table a failure has to pass.
enum class Entry : std::uint8_t {
    threw,
    timed_out,    ///< not fatal: the handler did not end by it
    undecodable,  ///< the handler had not begun, so that running it is no repetition
    retry_after,  ///< the handler itself asked to be run again
};

/// Goes down the rows of the table, and the first that applies decides.
[[nodiscard]] model::Decision through(Entry entry, Case c);

/// What goes with every decision about a failure: the record, the rule, the notes. `row` is what decided.
[[nodiscard]] model::Decision finished(Case& c, model::Decision decision, std::string_view row);

/// Notes the callbacks that the decision owes to its kind.
void owe_hooks(const Case& c, const model::Decision& decision);

}  // namespace pawl::failure
