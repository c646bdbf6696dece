#include <string>
#include <string_view>

#include <pawl/pawl.hpp>

void good(const std::string& path, int width, std::string_view format, pawl::JobContext& context);
void changes(int& value);
void moves(std::string&& text);
void points(const char* text);
void context_first(pawl::JobContext& context, int value);
void context_copied(const pawl::JobContext& context);
void several(int);
void several(double);

inline constexpr pawl::Task good_task{"good", &good};

struct NoCodec {
    int id{};
};
void takes_no_codec(NoCodec value);

void cases(pawl::Scheduler& scheduler) {
    scheduler.on(good_task);

#ifdef CASE_TASK_THAT_CHANGES_ITS_ARGUMENT  // error: a task cannot take a T& or T&&
    static_cast<void>(pawl::Task{"changes", &changes});
#endif
#ifdef CASE_TASK_OF_AN_RVALUE  // error: a task cannot take a T& or T&&
    static_cast<void>(pawl::Task{"moves", &moves});
#endif
#ifdef CASE_TASK_OF_A_POINTER  // error: a task cannot take a pointer
    static_cast<void>(pawl::Task{"points", &points});
#endif
#ifdef CASE_TASK_WITH_THE_CONTEXT_FIRST  // error: a task takes the context as pawl::JobContext&, as its last parameter
    static_cast<void>(pawl::Task{"context_first", &context_first});
#endif
#ifdef CASE_TASK_OF_A_CONST_CONTEXT  // error: a task takes the context as pawl::JobContext&, as its last parameter
    static_cast<void>(pawl::Task{"context_copied", &context_copied});
#endif
#ifdef CASE_TASK_OF_AN_OVERLOADED_FUNCTION  // error: deduction | no viable | no matching
    static_cast<void>(pawl::Task{"several", &several});
#endif
#ifdef CASE_TASK_OF_A_LAMBDA  // error: deduction | no viable | no matching
    static_cast<void>(pawl::Task{"lambda", [](int) {}});
#endif
#ifdef CASE_TASK_OF_AN_ARGUMENT_WITHOUT_CODEC  // error: get<pawl | to_json_value | no matching | Codec
    constexpr pawl::Task task{"no_codec", &takes_no_codec};
    static_cast<void>(scheduler.enqueue(task, NoCodec{}));
#endif
}
