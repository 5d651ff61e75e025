// The value of a result of ExecuTorch's runtime; an error ends the program, with its reason.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

[[noreturn]] inline void die(const std::string &reason) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    std::exit(3);
}

inline void require(executorch::runtime::Error error, const std::string &object) {
    if (error != executorch::runtime::Error::Ok) {
        die(object + ": error " + std::to_string(static_cast<int>(error)));
    }
}

template <typename T>
T require(executorch::runtime::Result<T> &&result, const std::string &object) {
    require(result.error(), object);
    return std::move(result.get());
}
