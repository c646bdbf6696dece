#include "model/backoff_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include <pawl/errors.hpp>

namespace pawl::model {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t length;
};
// The largest first, which is the order in which printing tries them.
constexpr std::array<Unit, 6> units{
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"min", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

std::string print(Duration duration) {
    const std::int64_t count = duration.count();
    if (count == 0) return "0s";
    for (const Unit& unit : units) {
        if (count % unit.length == 0) return std::to_string(count / unit.length).append(unit.name);
    }
    return std::to_string(count) + "us";
}

std::string print(double number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return {digits.data(), end.ptr};
}

std::string print(Jitter jitter) {
    switch (jitter.law()) {
        case Jitter::Law::none:
            return "no_jitter";
        case Jitter::Law::full:
            return "full";
        case Jitter::Law::equal:
            return "equal";
        case Jitter::Law::up_to:
            return "up_to " + print(jitter.high());
        case Jitter::Law::scaled:
            return "scaled " + print(jitter.low()) + " " + print(jitter.high());
    }
    return {};
}

/// Reads the notation word by word.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) { advance(); }

    [[nodiscard]] bool at_end() const { return word_.empty(); }

    [[nodiscard]] bool take(std::string_view word) {
        if (word_ != word) return false;
        advance();
        return true;
    }

    [[nodiscard]] std::optional<Duration> try_duration() {
        std::int64_t count{};
        const auto [end, error] = std::from_chars(word_.data(), word_.data() + word_.size(), count);
        if (error != std::errc{} || count < 0) return std::nullopt;
        const std::string_view name(end, static_cast<std::size_t>(word_.data() + word_.size() - end));
        for (const Unit& unit : units) {
            if (unit.name != name) continue;
            if (count > std::numeric_limits<std::int64_t>::max() / unit.length) return std::nullopt;
            advance();
            return std::chrono::microseconds(count * unit.length);
        }
        return std::nullopt;
    }

    [[nodiscard]] Duration duration() {
        if (const auto read = try_duration()) return *read;
        refuse();
    }

    [[nodiscard]] double number() {
        double value{};
        const auto [end, error] = std::from_chars(word_.data(), word_.data() + word_.size(), value);
        if (error != std::errc{} || end != word_.data() + word_.size()) refuse();
        advance();
        return value;
    }

    [[noreturn]] void refuse() const {
        throw ConfigError("backoff",
                          "cannot be read; write it like \"exponential 2s capped 10min equal\", \"fixed 5s\", "
                          "\"list 1s 30s 5min\", \"polynomial\" or \"none\"");
    }

private:
    void advance() {
        const auto start = rest_.find_first_not_of(' ');
        if (start == std::string_view::npos) {
            word_ = rest_ = {};
            return;
        }
        const auto end = std::min(rest_.find(' ', start), rest_.size());
        word_ = rest_.substr(start, end - start);
        rest_.remove_prefix(end);
    }

    std::string_view rest_;
    std::string_view word_;
};

Backoff read_law(Reader& reader) {
    if (reader.take("none")) return Backoff::none();
    if (reader.take("fixed")) return Backoff::fixed(reader.duration());
    if (reader.take("exponential")) return Backoff::exponential(reader.duration());
    if (reader.take("polynomial")) return Backoff::polynomial();
    if (reader.take("list")) {
        std::vector<Duration> waits;
        while (const auto wait = reader.try_duration()) waits.push_back(*wait);
        return Backoff::list(std::move(waits));
    }
    reader.refuse();
}

Backoff read_jitter(Reader& reader, const Backoff& backoff) {
    if (reader.take("no_jitter")) return backoff.jittered(Jitter::none());
    if (reader.take("full")) return backoff.jittered(Jitter::full());
    if (reader.take("equal")) return backoff.jittered(Jitter::equal());
    if (reader.take("up_to")) return backoff.jittered(Jitter::up_to(reader.number()));
    if (reader.take("scaled")) {
        const double low = reader.number();
        return backoff.jittered(Jitter::scaled(low, reader.number()));
    }
    return backoff;
}

}  // namespace

std::string to_text(const Backoff& backoff) {
    std::string text;
    switch (backoff.law()) {
        case Backoff::Law::none:
            return "none";
        case Backoff::Law::fixed:
            text = "fixed";
            break;
        case Backoff::Law::exponential:
            text = "exponential";
            break;
        case Backoff::Law::polynomial:
            text = "polynomial";
            break;
        case Backoff::Law::list:
            text = "list";
            break;
        case Backoff::Law::custom:
            throw ConfigError(
                "backoff", "is a custom function, which cannot be stored with a job; use it as a default, or a list");
    }
    for (const Duration wait : backoff.waits()) text.append(" ").append(print(wait));
    return text.append(" capped ").append(print(backoff.cap())).append(" ").append(print(backoff.jitter()));
}

Backoff parse_backoff(std::string_view text) {
    Reader reader(text);
    Backoff backoff = read_law(reader);
    if (reader.take("capped")) backoff = backoff.capped(reader.duration());
    backoff = read_jitter(reader, backoff);
    if (!reader.at_end()) reader.refuse();
    return backoff;
}

}  // namespace pawl::model
