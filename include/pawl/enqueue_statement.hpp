#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pawl {

/// A statement that enqueues, for a caller whose transaction is on raw libpq or on another driver.
///
/// It is complete: no setting of the connection and no `search_path` changes what it does. It returns one row with the ids
/// as an array.
struct EnqueueStatement {
    std::string sql;
    /// Text parameters for $1, $2, …; none stands for null. They are parameters, never to be pasted into the text.
    std::vector<std::optional<std::string>> params;
};

}  // namespace pawl
