#include "model/error_json.hpp"

#include <nlohmann/json.hpp>

namespace pawl::model {
namespace {

using Json = nlohmann::json;

// The text was sanitized; replacing is the last line, because a state change must never fail for an error's text.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const std::vector<ErrorRecord::Cause>& causes) {
    Json list = Json::array();
    for (const ErrorRecord::Cause& cause : causes) list.push_back({{"type", cause.type}, {"message", cause.message}});
    return list;
}

std::string member(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

ErrorClass class_of(std::string_view word) {
    for (const ErrorClass known : {ErrorClass::transient, ErrorClass::permanent}) {
        if (word == to_string(known)) return known;
    }
    return ErrorClass::unknown;
}

}  // namespace

std::string error_json(const ErrorRecord& error) {
    return text_of({{"type", error.type},
                    {"message", error.message},
                    {"class", to_string(error.error_class)},
                    {"causes", to_json(error.causes)},
                    {"truncated", error.truncated}});
}

std::string causes_json(const std::vector<ErrorRecord::Cause>& causes) { return text_of(to_json(causes)); }

ErrorRecord error_from_json(std::string_view text) {
    ErrorRecord error;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return error;
    error.type = member(json, "type");
    error.message = member(json, "message");
    error.error_class = class_of(member(json, "class"));
    if (const auto causes = json.find("causes"); causes != json.end() && causes->is_array()) {
        for (const Json& cause : *causes) {
            if (cause.is_object()) error.causes.push_back({member(cause, "type"), member(cause, "message")});
        }
    }
    if (const auto truncated = json.find("truncated"); truncated != json.end() && truncated->is_boolean()) {
        error.truncated = truncated->get<bool>();
    }
    return error;
}

}  // namespace pawl::model
