#pragma once

#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Storing new jobs: one statement for at most `chunk` of them.
class EnqueueVerbs {
public:
    /// Rows and bytes of one statement at most; more are no faster.
    static constexpr std::size_t chunk_rows = 1000;
    static constexpr std::size_t chunk_bytes = std::size_t{8} << 20;

    explicit EnqueueVerbs(std::string_view schema);

    /// On a connection of ours: all of the jobs or none, however many statements that takes.
    [[nodiscard]] std::vector<JobId> enqueue(Connection& connection, const Enqueue& jobs) const;
    /// `known` are ids that are committed. The snapshot of a transaction above read committed may not show them, and
    /// could not store them either.
    [[nodiscard]] std::vector<JobId> enqueue(CallerTransaction& transaction, const Enqueue& jobs,
                                             const NameIds& known) const;
    /// **Throws** `ConfigError` for more jobs than one statement takes.
    [[nodiscard]] PlainStatement statement(const Enqueue& jobs) const;

private:
    Statement enqueue_;
};

}  // namespace pawl::store::pg
