#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/statement.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// What every act on one job ($1) selects at its end, of a row source `moved` with (attempts): whether it moved the job, and
/// the place where find_job saw it in the same snapshot.
extern const std::string_view act_answer;

/// Repeats an act until it says something. `from` are the states in which it applies, `to` the one it leads to.
///
/// **Throws** `StoreError`.
[[nodiscard]] Acted until_answered(Connection& connection, const Statement& statement, const Params& params,
                                   std::initializer_list<State> from, State to);

}  // namespace pawl::store::pg
