// Drives the Expert Advisor by hand: its inputs, its own functions and the orders it sends.
#include "terminal.h"
#include MQL5_PROGRAM

int main() {
  using namespace mql5_program;
  TestTerminal& terminal = test_terminal();
  terminal.bars = test_bars(130);
  Expect(OnInit() == INIT_SUCCEEDED, "it starts");

  mql5_array<float> closes;
  Expect(ReadCloses(closes) && ArraySize(closes) == 120, "120 closes");
  Expect(closes[119] == static_cast<float>(terminal.bars[128].close), "the last is that of the last whole bar");
  const float first = Predict(closes);
  const float scale = ExtRange[1] - ExtRange[0];
  for (int i = 0; i < 120; ++i) closes[i] = 2 * closes[i] + 1;
  Expect(MathAbs((Predict(closes) - (2 * first + 1)) / scale) < 1e-3, "the scale of the prices does not matter");

  OnTick();
  Expect(terminal.orders.empty(), "nothing moves so far as the threshold");
  Expect(ExtSignals[1] == 1, "one judgement");
  terminal.bars.resize(50);
  Expect(!ReadCloses(closes), "too few bars");
  ExtRuns = 20;
  ExtSignals[1] = 20;
  OnDeinit(REASON_PROGRAM);
  Expect(ExtHandle == INVALID_HANDLE, "the handle is gone");
  return terminal.failures ? 1 : 0;
}
