#include "model/shown.hpp"

#include "base/utf8.hpp"

namespace pawl::model {

std::string shown(std::string_view name) {
    constexpr std::string_view hex = "0123456789abcdef";
    constexpr std::size_t longest = 64;
    std::string text;
    while (!name.empty()) {
        const std::size_t length = base::utf8_length(name);
        const bool printable = length > 0 && base::find_control(name.substr(0, length)) == std::string_view::npos;
        if (text.size() + (printable ? length : 4) > longest) return text + "...";
        if (printable) {
            text.append(name.substr(0, length));
            name.remove_prefix(length);
        } else {
            const auto byte = static_cast<unsigned char>(name.front());
            text += {'\\', 'x', hex[byte >> 4U], hex[byte & 15U]};
            name.remove_prefix(1);
        }
    }
    return text;
}

}  // namespace pawl::model
