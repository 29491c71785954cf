// A shared library for tests of loading one.
extern "C" __attribute__((visibility("default"))) int answer() { return 42; }
