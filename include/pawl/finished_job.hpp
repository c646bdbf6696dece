#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/codec.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// How a job ended: the payload of its follow-up, written in the same commit as the end itself.
///
/// It was `succeeded`, or `failed` (a dead letter, or discarded). Texts are sanitized, but for payload, result, tags and
/// params, which stand here as they were stored.
struct FinishedJob {
    JobId id{};
    std::string kind;
    /// Where the job stood last: rules and handlers may have moved it.
    std::string queue;
    Priority priority{Priority::normal};
    State state{State::succeeded};
    /// Failed runs that were counted.
    int attempts{};
    /// Why it failed; `none` for a job that succeeded.
    Reason reason{Reason::none};
    bool discarded{};
    /// The text that goes with the reason: of a mark, or what the handler gave.
    std::string detail;
    /// Of a failed job.
    std::optional<ErrorRecord> error;
    /// JSON text as PostgreSQL's jsonb prints it. Empty when it was left out.
    std::string payload;
    /// The text is longer than `Options::max_payload` of the node that ended the job: look it up by `id`.
    bool payload_left_out{};
    /// JSON text of what the handler returned.
    std::optional<std::string> result;
    std::vector<std::string> tags;
    std::map<std::string, std::string> params;
    Time created_at{};
    /// By the database's clock.
    Time finished_at{};

    /// The payload as the type it was enqueued as, which must own all that it holds.
    ///
    /// **Throws** what the codec of that type throws; a payload that was left out is no JSON.
    template <class T>
    [[nodiscard]] T payload_as() const {
        return Codec<T>::decode(payload);
    }

    friend bool operator==(const FinishedJob&, const FinishedJob&) = default;
};

/// As one JSON object: payload and result as they are, times as microseconds since 1970 in UTC. What is missing is left at
/// its default, so that a follow-up of another release can be read.
template <>
struct Codec<FinishedJob> {
    [[nodiscard]] PAWL_EXPORT static std::string encode(const FinishedJob& job);
    /// **Throws** `PayloadError` for what is no JSON object.
    [[nodiscard]] PAWL_EXPORT static FinishedJob decode(std::string_view text);
};

}  // namespace pawl
