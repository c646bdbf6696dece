#include <pawl/health.hpp>

namespace pawl {

std::string_view to_string(HealthReason reason) noexcept {
    switch (reason) {
        case HealthReason::database_unreachable:
            return "database_unreachable";
        case HealthReason::not_claiming:
            return "not_claiming";
        case HealthReason::not_settling:
            return "not_settling";
        case HealthReason::heartbeat_late:
            return "heartbeat_late";
        case HealthReason::fenced:
            return "fenced";
        case HealthReason::listener_lost:
            return "listener_lost";
        case HealthReason::threads_abandoned:
            return "threads_abandoned";
        case HealthReason::queue_halted:
            return "queue_halted";
        case HealthReason::schema_mismatch:
            return "schema_mismatch";
        case HealthReason::stopping:
            return "stopping";
    }
    return "unknown";
}

bool degraded_only(HealthReason reason) noexcept {
    return reason == HealthReason::listener_lost || reason == HealthReason::queue_halted;
}

}  // namespace pawl
