#include "store/pg/conninfo.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include <libpq-fe.h>

#include <pawl/errors.hpp>

namespace pawl::store::pg {

namespace {

struct FreeOptions {
    void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

Options parse(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) throw ConfigError("connection", "holds a NUL byte");
    char* problem = nullptr;
    Options options{PQconninfoParse(std::string{text}.c_str(), &problem)};
    PQfreemem(problem);  // it quotes the string, so it is not shown
    if (!options) {
        throw ConfigError("connection",
                          "is neither a PostgreSQL URI (postgresql://user:password@host:port/database, special "
                          "characters percent-encoded) nor key=value words with keys that libpq knows");
    }
    return options;
}

std::map<std::string, std::string> given(const Options& options) {
    std::map<std::string, std::string> values;
    for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) values.emplace(option->keyword, option->val);
    }
    return values;
}

bool said_by_environment(const PQconninfoOption& option) {
    const char* value = option.envvar != nullptr ? std::getenv(option.envvar) : nullptr;
    return value != nullptr && *value != '\0';
}

std::string quoted_value(std::string_view value) {
    std::string result{'\''};
    for (const char c : value) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    result += '\'';
    return result;
}

std::string shown(const std::map<std::string, std::string>& values) {
    std::string result;
    for (const char* keyword : {"host", "hostaddr", "port", "dbname", "user", "service"}) {
        const auto found = values.find(keyword);
        if (found == values.end()) continue;
        if (!result.empty()) result += ' ';
        result += found->first + '=' + found->second;
    }
    return result.empty() ? "libpq's defaults" : result;
}

}  // namespace

Conninfo::Conninfo(std::string_view text, std::string_view application_name) {
    const auto options = parse(text);
    auto values = given(options);

    // An unescaped @ in a URI's password makes the rest of the password the host, which every error would then show.
    if (const auto host = values.find("host"); host != values.end() && host->second.find('@') != std::string::npos &&
                                               !host->second.starts_with('@') && !host->second.starts_with('/')) {
        throw ConfigError("connection", "has an @ within the host: in a URI, write an @ of the password as %40");
    }
    // libpq expands a database name that is itself a connection string.
    if (const auto name = values.find("dbname");
        name != values.end() &&
        (name->second.find('=') != std::string::npos || name->second.find("://") != std::string::npos)) {
        throw ConfigError("connection", "has a database name that looks like a connection string");
    }

    redacted_ = shown(values);
    if (const auto password = values.find("password"); password != values.end()) password_ = password->second;

    const std::array<std::pair<std::string_view, std::string_view>, 7> defaults{{
        {"connect_timeout", "5"},
        {"keepalives", "1"},
        {"keepalives_idle", "10"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "15000"},
        {"application_name", application_name},
    }};
    // The options that this libpq knows, so that an older one is not asked for what it lacks.
    for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
        for (const auto& [keyword, value] : defaults) {
            if (keyword == option->keyword && !said_by_environment(*option)) values.emplace(keyword, value);
        }
    }
    values["client_encoding"] = "UTF8";

    for (const auto& [keyword, value] : values) {
        if (!text_.empty()) text_ += ' ';
        text_ += keyword + '=' + quoted_value(value);
    }
}

std::string Conninfo::masked(std::string message) const {
    constexpr std::string_view mask = "***REDACTED***";
    if (password_.empty()) return message;
    for (auto at = message.find(password_); at != std::string::npos; at = message.find(password_, at + mask.size())) {
        message.replace(at, password_.size(), mask);
    }
    return message;
}

std::string redacted(std::string_view conninfo) {
    try {
        return Conninfo{conninfo}.redacted();
    } catch (const ConfigError&) {
        return "a connection string that cannot be parsed";
    }
}

}  // namespace pawl::store::pg
