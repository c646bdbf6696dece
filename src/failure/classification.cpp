#include <pawl/classification.hpp>
#include <pawl/errors.hpp>

namespace pawl {

Classification& Classification::classify_codes(CodePredicate predicate) {
    if (!predicate) throw ConfigError("classify_codes", "has an empty predicate");
    codes_.push_back(std::move(predicate));
    return *this;
}

}  // namespace pawl
