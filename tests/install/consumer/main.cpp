#include <anyshape/error.h>
#include <anyshape/version.h>

#include <cstdio>

// Uses one function of src/api and one of the core, so both must be exported.
int main() {
  const anyshape::Error error{anyshape::Error::Kind::refused, "some.code", "model.onnx", "a sentence", {}};
  const bool ok = anyshape::version() == EXPECTED_VERSION && error.text().find("some.code") != std::string::npos;
  std::printf("anyshape %s: %s\n", anyshape::version().data(), ok ? "ok" : "wrong answer");
  return ok ? 0 : 1;
}
