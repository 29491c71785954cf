#include <anyshape/mql5.h>

// The model code of an Expert Advisor, without a model.
int main() {
  const bool ok = OnnxCreate("no such model", ONNX_DEFAULT) == INVALID_HANDLE && GetLastError() == ERR_FILE_NOT_EXIST;
  Print("anyshape::mql5: ", ok ? "ok" : "wrong answer");
  return ok ? 0 : 1;
}
