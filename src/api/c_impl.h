#pragma once

#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "anyshape/c.h"
#include "anyshape/session.h"

// What the files behind c.h share.

struct anyshape_error {
  anyshape::Error error;
  std::string text;
};

struct anyshape_session {
  anyshape::Session session;
};

struct anyshape_cancel {
  std::atomic<bool> flag{false};
};

struct anyshape_text {
  std::string text;
};

namespace anyshape {

inline anyshape_error* failure(Error error) {
  std::string text = error.text();
  return new anyshape_error{std::move(error), std::move(text)};
}

inline anyshape_error* usage_failure(const char* code, std::string message) {
  return failure({Error::Kind::usage, code, {}, std::move(message), {}});
}

// No exception leaves the library.
template <class Work>
anyshape_error* guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return failure({Error::Kind::system, "system.memory", {}, "out of memory", {}});
  } catch (const std::exception& e) {
    return failure({Error::Kind::system, "internal", {}, std::string("a bug in anyshape: ") + e.what(), {}});
  }
}

// What the caller's version of a struct has; the rest is 0. False: it is none, or has what this version does not know.
template <class Struct>
bool read_struct(const Struct* given, Struct& out) {
  if (!given) return true;
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > sizeof(Struct)) return false;
  std::memcpy(&out, given, size);
  return true;
}

// nullptr: they are in `out`.
inline anyshape_error* read_options(const anyshape_session_options* options, SessionOptions& out) {
  anyshape_session_options given{};
  if (!read_struct(options, given)) return usage_failure("session.options", "size must be that of the struct");
  out.optimize = !given.reference;
  out.exact = given.exact != 0;
  out.strict = given.strict != 0;
  return nullptr;
}

inline anyshape_error* made(Result<Session> session, anyshape_session** out) {
  if (!session) return failure(std::move(session).error());
  *out = new anyshape_session{*std::move(session)};
  return nullptr;
}

}  // namespace anyshape
