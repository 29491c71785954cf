#pragma once

#include <functional>
#include <vector>

#include "terminal_types.h"

// What a program of MQL5 expects of its terminal, for tests: one symbol, bars that the test feeds, orders that are
// filled at once and remembered.

// The terminal of the test.
struct TestTerminal {
  string symbol = "EURUSD";
  ENUM_TIMEFRAMES period = PERIOD_H1;
  int digits = 5;
  double point = 0.00001, spread = 0.0001;
  std::vector<MqlRates> bars;  // those the program sees, the oldest first
  std::vector<MqlTradeRequest> orders;
  double position = 0, position_price = 0, position_sl = 0, position_tp = 0;  // lots, negative for a sale
  datetime position_time = 0;
  ulong position_magic = 0;
  double balance = 10000;
  std::vector<string> indicators;  // their names, by handle
  // What CopyBuffer gives for one bar: it copies nothing where the test has set no function.
  std::function<double(const string& name, int buffer, int shift)> indicator;
  int failures = 0;  // of Expect()

  // The bar `shift` before the newest; one of zeros where there is none.
  MqlRates bar(int shift) const {
    return shift < 0 || static_cast<size_t>(shift) >= bars.size() ? MqlRates() : bars[bars.size() - 1 - shift];
  }
  double bid() const { return bar(0).close; }
  double ask() const { return bid() + spread; }
};

inline TestTerminal& test_terminal() {
  static TestTerminal terminal;
  return terminal;
}

// Prices that go up and down, the same on every machine.
inline std::vector<MqlRates> test_bars(int count) {
  std::vector<MqlRates> out;
  for (int i = 0; i < count; ++i) {
    const double close = 1.1 + ((i * 37) % 101 - 50) * 0.0001 + ((i * 11) % 23 - 11) * 0.00005;
    const double open = out.empty() ? close : out.back().close;
    out.push_back({1767225600L + 3600L * i, open, MathMax(open, close) + 0.0002, MathMin(open, close) - 0.0002, close,
                   100 + i % 7, 1, 0});
  }
  return out;
}

inline string Symbol() { return test_terminal().symbol; }
inline ENUM_TIMEFRAMES Period() { return test_terminal().period; }
inline int Digits() { return test_terminal().digits; }
inline double Point() { return test_terminal().point; }
#define _Symbol (Symbol())
#define _Period (Period())
#define _Digits (Digits())
#define _Point (Point())

inline int PeriodSeconds(ENUM_TIMEFRAMES period = PERIOD_CURRENT) {
  const int code = period == PERIOD_CURRENT ? Period() : period;
  return code < 16384 ? code * 60 : code < 32768 ? (code - 16384) * 3600 : (code - 32768) * 7 * 86400;
}
inline string EnumToString(ENUM_TIMEFRAMES period) {
  const int minutes = PeriodSeconds(period) / 60;
  if (minutes < 60) return "PERIOD_M" + IntegerToString(minutes);
  if (minutes < 1440) return "PERIOD_H" + IntegerToString(minutes / 60);
  return minutes == 1440 ? "PERIOD_D1" : "PERIOD_W1";
}

inline int Bars(const string&, int, datetime from, datetime to) {
  int count = 0;
  for (const MqlRates& bar : test_terminal().bars) count += bar.time >= from && bar.time <= to;
  return count;
}
inline int Bars(const string&, int) { return static_cast<int>(test_terminal().bars.size()); }
inline int iBars(const string&, int) { return static_cast<int>(test_terminal().bars.size()); }
inline datetime iTime(const string&, int, int shift) { return test_terminal().bar(shift).time; }
inline double iOpen(const string&, int, int shift) { return test_terminal().bar(shift).open; }
inline double iHigh(const string&, int, int shift) { return test_terminal().bar(shift).high; }
inline double iLow(const string&, int, int shift) { return test_terminal().bar(shift).low; }
inline double iClose(const string&, int, int shift) { return test_terminal().bar(shift).close; }

// The entries that `of` makes of `count` bars, the oldest first, the newest being `start` before the last; -1 where
// there are not so many.
template <class T, class F>
int test_copy(int start, int count, mql5_array<T>& to, F of) {
  if (start < 0 || count < 0 || static_cast<size_t>(start) + static_cast<size_t>(count) > test_terminal().bars.size())
    return -1;
  if (!to.is_fixed()) to.resize(static_cast<size_t>(count));
  if (to.size() < static_cast<size_t>(count)) return -1;
  for (int i = 0; i < count; ++i) to.data()[i] = of(test_terminal().bar(start + count - 1 - i));
  return count;
}
inline int CopyRates(const string&, int, int start, int count, mql5_array<MqlRates>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar; });
}
inline int CopyTime(const string&, int, int start, int count, mql5_array<datetime>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar.time; });
}
inline int CopyOpen(const string&, int, int start, int count, mql5_array<double>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar.open; });
}
inline int CopyHigh(const string&, int, int start, int count, mql5_array<double>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar.high; });
}
inline int CopyLow(const string&, int, int start, int count, mql5_array<double>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar.low; });
}
inline int CopyClose(const string&, int, int start, int count, mql5_array<double>& to) {
  return test_copy(start, count, to, [](const MqlRates& bar) { return bar.close; });
}

// Indicators: a handle for each, whatever its settings.
inline int test_indicator(const string& name) {
  test_terminal().indicators.push_back(name);
  return static_cast<int>(test_terminal().indicators.size()) - 1;
}
template <class... Settings>
int iMA(const string&, int, const Settings&...) {
  return test_indicator("iMA");
}
template <class... Settings>
int iATR(const string&, int, const Settings&...) {
  return test_indicator("iATR");
}
template <class... Settings>
int iRSI(const string&, int, const Settings&...) {
  return test_indicator("iRSI");
}
template <class... Settings>
int iADX(const string&, int, const Settings&...) {
  return test_indicator("iADX");
}
template <class... Settings>
int iMACD(const string&, int, const Settings&...) {
  return test_indicator("iMACD");
}
template <class... Settings>
int iBands(const string&, int, const Settings&...) {
  return test_indicator("iBands");
}
inline bool IndicatorRelease(int) { return true; }
inline int CopyBuffer(int handle, int buffer, int start, int count, mql5_array<double>& to) {
  const TestTerminal& terminal = test_terminal();
  if (!terminal.indicator || handle < 0 || static_cast<size_t>(handle) >= terminal.indicators.size()) return -1;
  int shift = start + count;
  return test_copy(start, count, to,
                   [&](const MqlRates&) { return terminal.indicator(terminal.indicators[handle], buffer, --shift); });
}

namespace anyshape::mql5 {

// vector.CopyRates takes one series, matrix.CopyRates gives each a row.
inline std::vector<double (*)(const MqlRates&)> copied_series(ulong mask) {
  std::vector<double (*)(const MqlRates&)> out;
  if (mask & COPY_RATES_OPEN) out.push_back([](const MqlRates& bar) { return bar.open; });
  if (mask & COPY_RATES_HIGH) out.push_back([](const MqlRates& bar) { return bar.high; });
  if (mask & COPY_RATES_LOW) out.push_back([](const MqlRates& bar) { return bar.low; });
  if (mask & COPY_RATES_CLOSE) out.push_back([](const MqlRates& bar) { return bar.close; });
  if (mask & COPY_RATES_VOLUME_TICK)
    out.push_back([](const MqlRates& bar) { return static_cast<double>(bar.tick_volume); });
  return out;
}
template <class T>
bool copy_rates(Matrix<T>& to, const string&, int, ulong mask, ulong start, ulong count) {
  const auto series = copied_series(mask);
  if (series.empty() || start + count > test_terminal().bars.size()) return false;
  to.Init(series.size(), count);
  for (ulong i = 0; i < series.size(); ++i)
    for (ulong j = 0; j < count; ++j)
      to[i][j] = static_cast<T>(series[i](test_terminal().bar(static_cast<int>(start + count - 1 - j))));
  return true;
}
template <class T>
bool copy_rates(Vector<T>& to, const string& symbol, int period, ulong mask, ulong start, ulong count) {
  Matrix<T> rows;
  if (copied_series(mask).size() != 1 || !copy_rates(rows, symbol, period, mask, start, count)) return false;
  to = rows.Row(0);
  return true;
}

}  // namespace anyshape::mql5

inline double SymbolInfoDouble(const string&, ENUM_SYMBOL_INFO_DOUBLE property) {
  const TestTerminal& terminal = test_terminal();
  switch (property) {
    case SYMBOL_BID:
    case SYMBOL_LAST:
      return terminal.bid();
    case SYMBOL_ASK:
      return terminal.ask();
    case SYMBOL_POINT:
    case SYMBOL_TRADE_TICK_SIZE:
      return terminal.point;
    case SYMBOL_VOLUME_MAX:
      return 100;
    default:
      return 0.01;
  }
}
inline bool SymbolInfoDouble(const string& symbol, ENUM_SYMBOL_INFO_DOUBLE property, double& value) {
  value = SymbolInfoDouble(symbol, property);
  return true;
}
inline long SymbolInfoInteger(const string&, ENUM_SYMBOL_INFO_INTEGER property) {
  return property == SYMBOL_DIGITS ? test_terminal().digits : property == SYMBOL_SPREAD ? 10 : 0;
}
inline bool SymbolInfoTick(const string&, MqlTick& tick) {
  tick = {test_terminal().bar(0).time, test_terminal().bid(), test_terminal().ask(), test_terminal().bid(), 1};
  return true;
}

inline bool SymbolSelect(const string&, bool) { return true; }
inline double AccountInfoDouble(ENUM_ACCOUNT_INFO_DOUBLE) { return test_terminal().balance; }

inline bool PositionSelect(const string&) { return test_terminal().position != 0; }
inline int PositionsTotal() { return test_terminal().position != 0; }
inline long PositionGetInteger(ENUM_POSITION_PROPERTY_INTEGER property) {
  if (property == POSITION_MAGIC) return static_cast<long>(test_terminal().position_magic);
  if (property == POSITION_TICKET) return 1;
  if (property == POSITION_TIME) return test_terminal().position_time;
  return test_terminal().position < 0 ? POSITION_TYPE_SELL : POSITION_TYPE_BUY;
}
inline double PositionGetDouble(ENUM_POSITION_PROPERTY_DOUBLE property) {
  const TestTerminal& terminal = test_terminal();
  if (property == POSITION_VOLUME) return MathAbs(terminal.position);
  if (property == POSITION_PRICE_OPEN) return terminal.position_price;
  if (property == POSITION_SL) return terminal.position_sl;
  if (property == POSITION_TP) return terminal.position_tp;
  return terminal.position * (terminal.bid() - terminal.position_price);
}

inline bool OrderSend(const MqlTradeRequest& request, MqlTradeResult& result) {
  TestTerminal& terminal = test_terminal();
  result.retcode = request.volume > 0 ? TRADE_RETCODE_DONE : TRADE_RETCODE_INVALID_VOLUME;
  if (request.volume <= 0) return false;
  terminal.orders.push_back(request);
  result.order = result.deal = terminal.orders.size();
  result.volume = request.volume;
  result.price = request.type == ORDER_TYPE_BUY ? terminal.ask() : terminal.bid();
  terminal.position += request.type == ORDER_TYPE_BUY ? request.volume : -request.volume;
  if (MathAbs(terminal.position) < 1e-9) terminal.position = 0;
  terminal.position_price = result.price;
  terminal.position_magic = request.magic;
  terminal.position_time = terminal.bar(0).time;
  terminal.position_sl = request.sl;
  terminal.position_tp = request.tp;
  return true;
}

class CTrade {
 public:
  void SetExpertMagicNumber(ulong magic) { magic_ = magic; }
  void SetDeviationInPoints(ulong) {}
  void SetTypeFilling(ENUM_ORDER_TYPE_FILLING) {}
  bool Buy(double volume, const string& symbol = NULL, double price = 0, double sl = 0, double tp = 0,
           const string& comment = "") {
    return PositionOpen(symbol, ORDER_TYPE_BUY, volume, price, sl, tp, comment);
  }
  bool Sell(double volume, const string& symbol = NULL, double price = 0, double sl = 0, double tp = 0,
            const string& comment = "") {
    return PositionOpen(symbol, ORDER_TYPE_SELL, volume, price, sl, tp, comment);
  }
  bool PositionOpen(const string& symbol, ENUM_ORDER_TYPE type, double volume, double price, double sl, double tp,
                    const string& comment = "") {
    MqlTradeRequest request;
    request.symbol = symbol == NULL ? Symbol() : symbol;
    request.type = type;
    request.volume = volume;
    request.price = price;
    request.sl = sl;
    request.tp = tp;
    request.magic = magic_;
    request.comment = comment;
    return OrderSend(request, result_);
  }
  bool PositionClose(const string& symbol, ulong = 0) {
    const double lots = test_terminal().position;
    return lots != 0 && PositionOpen(symbol, lots > 0 ? ORDER_TYPE_SELL : ORDER_TYPE_BUY, MathAbs(lots), 0, 0, 0);
  }
  bool PositionModify(const string&, double sl, double tp) {
    test_terminal().position_sl = sl;
    test_terminal().position_tp = tp;
    return test_terminal().position != 0;
  }
  uint ResultRetcode() const { return result_.retcode; }
  string ResultRetcodeDescription() const { return result_.retcode == TRADE_RETCODE_DONE ? "done" : "invalid volume"; }
  double ResultPrice() const { return result_.price; }

 private:
  ulong magic_ = 0;
  MqlTradeResult result_;
};

class CObject {
 public:
  virtual ~CObject() = default;
};

template <class T>
T* GetPointer(T& object) {
  return &object;
}
template <class T>
ENUM_POINTER_TYPE CheckPointer(T* pointer) {
  return pointer ? POINTER_DYNAMIC : POINTER_INVALID;
}

inline long MQLInfoInteger(ENUM_MQL_INFO_INTEGER property) { return property == MQL_TESTER; }
inline string MQLInfoString(ENUM_MQL_INFO_STRING) { return "program"; }
inline long TerminalInfoInteger(ENUM_TERMINAL_INFO_INTEGER) { return 1; }
inline void ExpertRemove() {}
inline bool EventSetTimer(int) { return true; }
inline void EventKillTimer() {}

// Of tests written in MQL5 itself: what does not hold is printed, and fails the test at its end.
inline void Expect(bool holds, const string& what) {
  if (holds) return;
  ++test_terminal().failures;
  Print("failed: ", what);
}

// The event functions of a program, null for those it has not.
struct mql5_events {
  int (*OnInit)() = nullptr;
  void (*OnDeinit)(int reason) = nullptr;
  void (*OnTick)() = nullptr;
  int (*OnStart)() = nullptr;
};
inline int mql5_result(int (*event)()) { return event(); }
inline int mql5_result(void (*event)()) {
  event();
  return 0;
}

// A script runs once. An Expert Advisor starts with 200 bars and sees 20 more, two ticks each. 0 where it started and
// nothing it expected failed.
inline int mql5_run(const mql5_events& events) {
  TestTerminal& terminal = test_terminal();
  const std::vector<MqlRates> bars = test_bars(220);
  if (terminal.bars.empty()) terminal.bars.assign(bars.begin(), bars.begin() + 200);
  if (events.OnStart && events.OnStart() != 0) return 1;
  if (events.OnInit && events.OnInit() != INIT_SUCCEEDED) return 1;
  for (size_t i = 200; events.OnTick && i < bars.size(); ++i) {
    terminal.bars.push_back(bars[i]);
    anyshape::mql5::set_time(bars[i].time);
    events.OnTick();
    events.OnTick();
  }
  if (events.OnDeinit) events.OnDeinit(REASON_PROGRAM);
  return terminal.failures ? 1 : 0;
}
