#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.hpp"
#include "worker/executor.hpp"

namespace pawl::runtime {

/// What this node runs: its kinds with all that has a say about them, and the ids under which they are interned.
///
/// **Threads**: filled before the threads start, and fixed then.
class Kinds {
public:
    struct Kind {
        KindSetup setup;
        int id{};
    };

    void add(KindSetup setup, int id) {
        std::string name = setup.name;
        kinds_.emplace(std::move(name), Kind{std::move(setup), id});
    }

    /// None for a kind that has no handler here.
    [[nodiscard]] const Kind* find(std::string_view name) const {
        const auto found = kinds_.find(name);
        return found == kinds_.end() ? nullptr : &found->second;
    }

    [[nodiscard]] std::vector<int> ids() const {
        std::vector<int> ids;
        ids.reserve(kinds_.size());
        for (const auto& [name, kind] : kinds_) ids.push_back(kind.id);
        return ids;
    }

    [[nodiscard]] const std::map<std::string, Kind, std::less<>>& all() const noexcept { return kinds_; }

private:
    std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace pawl::runtime
