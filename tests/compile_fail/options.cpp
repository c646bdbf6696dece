#include <iostream>

#include <pawl/options.hpp>

void cases(const pawl::Options& options) {
    static_cast<void>(options);

#ifdef CASE_OPTIONS_PRINTED  // error: no match for | invalid operands
    std::cout << options;
#endif
#ifdef CASE_DURATION_WITHOUT_UNIT  // error: could not convert | no viable conversion | cannot convert
    const pawl::Options wrong{.heartbeat = 5};
#endif
}
