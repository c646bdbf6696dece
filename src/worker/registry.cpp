#include "worker/registry.hpp"

#include <utility>

#include <fmt/format.h>

#include <pawl/errors.hpp>

#include "model/job_spec.hpp"
#include "model/shown.hpp"

namespace pawl::worker {

Entry& Registry::add(std::string_view kind, Entry entry) {
    model::validate_kind(kind);
    if (entry.payload_version < 0) throw ConfigError("payload_version", "must not be negative");
    if (sealed_.load(std::memory_order_acquire)) {
        throw ConfigError("kind",
                          fmt::format("\"{}\" comes after start(): register handlers before", model::shown(kind)));
    }
    const auto [place, added] = entries_.try_emplace(std::string(kind), std::move(entry));
    if (!added) {
        throw ConfigError("kind", fmt::format("\"{}\" has a handler already: give each type and task a kind of its own",
                                              model::shown(kind)));
    }
    return place->second;
}

const Entry* Registry::find(std::string_view kind) const noexcept {
    const auto place = entries_.find(kind);
    return place == entries_.end() ? nullptr : &place->second;
}

}  // namespace pawl::worker
