// Read before libpqxx where that was built as C++17: its headers then declare what is in the binary. The standard
// headers that ask for the same macro come first, so that they see its true value.
#pragma once

#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <version>

#undef __cpp_lib_source_location
