#include <cstdint>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include <pawl/control.hpp>
#include <pawl/finished_job.hpp>

#include "model/error_json.hpp"
#include "model/names.hpp"

namespace pawl {
namespace {

using Json = nlohmann::json;

/// Past a value, or the key of a member, in a text that is known to be JSON: at what separates it from the next.
std::size_t past_value(std::string_view text, std::size_t at) {
    int open = 0;
    for (; at < text.size(); ++at) {
        switch (text[at]) {
            case '"':
                while (text[++at] != '"') {
                    if (text[at] == '\\') ++at;
                }
                break;
            case '{':
            case '[':
                ++open;
                break;
            case '}':
            case ']':
                if (open-- == 0) return at;
                break;
            case ',':
            case ':':
                if (open == 0) return at;
                break;
            default:
                break;
        }
    }
    return at;
}

/// One member of an object as it stands in its text: parsed and printed again, a number could become another one.
std::optional<std::string> raw_member(std::string_view object, std::string_view name) {
    const std::string quoted = '"' + std::string(name) + '"';
    std::size_t key = object.find('"');
    while (key != std::string_view::npos) {
        const std::size_t colon = past_value(object, key);
        const std::size_t begin = object.find_first_not_of(" \t\r\n", colon + 1);
        const std::size_t end = past_value(object, begin);
        if (object.substr(key).starts_with(quoted)) {
            const std::string_view member = object.substr(begin, end - begin);
            return std::string(member.substr(0, member.find_last_not_of(" \t\r\n") + 1));
        }
        key = object.find('"', end);
    }
    return std::nullopt;
}

Time time_of(const Json& json, const char* name) {
    return Time{std::chrono::microseconds(json.value(name, std::int64_t{}))};
}

FinishedJob read(std::string_view text) {
    const Json json = Json::parse(text);
    FinishedJob job;
    job.id = json.value("id", JobId{});
    job.kind = json.value("kind", "");
    job.queue = json.value("queue", "");
    job.priority = model::parse_priority(json.value("priority", "")).value_or(Priority::normal);
    job.state = model::parse_state(json.value("state", "")).value_or(State::succeeded);
    job.attempts = json.value("attempts", 0);
    job.reason = model::parse_reason(json.value("reason", "")).value_or(Reason::none);
    job.discarded = json.value("discarded", false);
    job.detail = json.value("detail", "");
    if (const auto error = raw_member(text, "error")) job.error = model::error_from_json(*error);
    if (auto payload = raw_member(text, "payload")) job.payload = std::move(*payload);
    job.payload_left_out = json.value("payload_left_out", false);
    job.result = raw_member(text, "result");
    job.tags = json.value("tags", std::vector<std::string>{});
    job.params = json.value("params", std::map<std::string, std::string>{});
    job.created_at = time_of(json, "created_at");
    job.finished_at = time_of(json, "finished_at");
    return job;
}

}  // namespace

std::string Codec<FinishedJob>::encode(const FinishedJob& job) {
    Json json{{"id", job.id},
              {"kind", job.kind},
              {"queue", job.queue},
              {"priority", to_string(job.priority)},
              {"state", to_string(job.state)},
              {"attempts", job.attempts},
              {"tags", job.tags},
              {"params", job.params},
              {"created_at", job.created_at.time_since_epoch().count()}};
    if (job.reason != Reason::none) json["reason"] = to_string(job.reason);
    if (job.discarded) json["discarded"] = true;
    if (!job.detail.empty()) json["detail"] = job.detail;
    if (job.payload_left_out) json["payload_left_out"] = true;
    if (job.finished_at != Time{}) json["finished_at"] = job.finished_at.time_since_epoch().count();

    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.pop_back();
    if (job.error) text += ",\"error\":" + model::error_json(*job.error);
    if (!job.payload.empty()) text += ",\"payload\":" + job.payload;
    if (job.result) text += ",\"result\":" + *job.result;
    return text + '}';
}

FinishedJob Codec<FinishedJob>::decode(std::string_view text) {
    try {
        return read(text);
    } catch (const Json::exception&) {
        std::throw_with_nested(PayloadError("the payload is not the record of a finished job"));
    }
}

}  // namespace pawl
