// The Expert Advisor of examples/mql5: it starts, forecasts within the range of prices, trades, and survives mistakes.
#include "terminal.h"
#include MQL5_PROGRAM

namespace {

// The waves that the model was trained on, without noise.
double wave(int hour) {
  const double turn = 2 * 3.141592653589793;
  return 1.1 + 0.003 * MathSin(hour / 24.0 * turn) + 0.004 * MathSin(hour / 101.0 * turn);
}

MqlRates bar(int hour) {
  const double close = wave(hour);
  return {1767225600L + 3600L * hour, close, close, close, close, 100, 1, 0};
}

}  // namespace

int main() {
  using namespace mql5_program;
  TestTerminal& terminal = test_terminal();
  for (int hour = 0; hour < 60; ++hour) terminal.bars.push_back(bar(hour));
  Expect(OnInit() == INIT_SUCCEEDED, "it starts");
  OnTick();
  Expect(terminal.orders.empty(), "60 bars are too few");

  int right = 0, judged = 0;
  for (int hour = 60; hour < 400; ++hour) {
    terminal.bars.push_back(bar(hour));
    OnTick();
    const size_t orders = terminal.orders.size();
    OnTick();
    Expect(terminal.orders.size() == orders, "one judgement for each bar");
    vectorf closes;
    float forecast = 0;
    if (!closes.CopyRates(_Symbol, _Period, COPY_RATES_CLOSE, 1, 120)) continue;
    Expect(ExtModel.Predict(closes, forecast) && MathAbs(forecast - 1.1) < 0.012, "a forecast is a price");
    right += (forecast > closes[119]) == (wave(hour) > closes[119]);
    ++judged;
  }
  Expect(judged == 280, StringFormat("%d bars with 120 closes before them", judged));
  Expect(right > judged * 8 / 10, StringFormat("%d of %d directions are right", right, judged));
  Expect(terminal.orders.size() > 10, "it trades");

  vectorf few(7);
  float nothing = 0;
  Expect(!ExtModel.Predict(few, nothing), "7 closes are refused");
  OnDeinit(REASON_PROGRAM);
  PrintFormat("%d of %d directions are right, %d orders", right, judged, int(terminal.orders.size()));
  return terminal.failures ? 1 : 0;
}
