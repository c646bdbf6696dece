// Repairing and cutting texts of any bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "failure/utf8.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string repaired = pawl::failure::repair_utf8(text);
    require(pawl::base::find_invalid_utf8(repaired) == std::string_view::npos);
    require(pawl::failure::repair_utf8(repaired) == repaired);
    for (std::size_t most = 3; most < 40; most += 7) {
        const std::string cut = pawl::failure::cut(repaired, most);
        require(cut.size() <= most);
        require(pawl::base::find_invalid_utf8(cut) == std::string_view::npos);
        require(repaired.size() > most || cut == repaired);
    }
    return 0;
}
