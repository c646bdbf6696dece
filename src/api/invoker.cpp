#include <exception>
#include <utility>

#include <pawl/control.hpp>
#include <pawl/detail/invoker.hpp>

#include "model/json_text.hpp"

namespace pawl::detail {

namespace {

HandlerDone lost_result(std::string why) { return {R"({"pawl": "result not encodable"})", std::move(why)}; }

}  // namespace

Invocation::~Invocation() = default;
Invoker::~Invoker() = default;

void throw_payload_error() {
    try {
        throw;
    } catch (const PayloadError&) {
        throw;
    } catch (...) {
        std::throw_with_nested(PayloadError("the payload cannot be decoded"));
    }
}

HandlerReply result_encoded(std::string result) {
    // A codec of the user's may give anything, and what jsonb refuses would fail at the settle, again and again.
    if (auto problem = model::check_json(result)) return lost_result("result" + problem->path + ' ' + problem->what);
    return HandlerDone{std::move(result), {}};
}

HandlerReply result_not_encodable() {
    try {
        throw;
    } catch (const std::exception& error) {
        return lost_result(error.what());
    } catch (...) {
        return lost_result("the codec threw something that is not a std::exception");
    }
}

}  // namespace pawl::detail
