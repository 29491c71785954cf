#pragma once

#include "anyshape/mql5.h"

// The types of the terminal that Expert Advisors name. Numbers that MQL5 does not tell are ours.

enum ENUM_TIMEFRAMES : int {
  PERIOD_CURRENT = 0,
  PERIOD_M1 = 1,
  PERIOD_M5 = 5,
  PERIOD_M15 = 15,
  PERIOD_M30 = 30,
  PERIOD_H1 = 16385,
  PERIOD_H4 = 16388,
  PERIOD_D1 = 16408,
  PERIOD_W1 = 32769,
};
enum ENUM_COPY_RATES : int {
  COPY_RATES_OPEN = 1,
  COPY_RATES_HIGH = 2,
  COPY_RATES_LOW = 4,
  COPY_RATES_CLOSE = 8,
  COPY_RATES_OHLC = 15,
  COPY_RATES_VOLUME_TICK = 32,
};
enum ENUM_SYMBOL_INFO_DOUBLE : int {
  SYMBOL_BID,
  SYMBOL_ASK,
  SYMBOL_LAST,
  SYMBOL_POINT,
  SYMBOL_TRADE_TICK_SIZE,
  SYMBOL_VOLUME_MIN,
  SYMBOL_VOLUME_MAX,
  SYMBOL_VOLUME_STEP,
};
enum ENUM_SYMBOL_INFO_INTEGER : int { SYMBOL_DIGITS, SYMBOL_SPREAD, SYMBOL_TRADE_STOPS_LEVEL };
enum ENUM_ORDER_TYPE : int { ORDER_TYPE_BUY, ORDER_TYPE_SELL };
enum ENUM_POSITION_TYPE : int { POSITION_TYPE_BUY, POSITION_TYPE_SELL };
enum ENUM_TRADE_REQUEST_ACTIONS : int { TRADE_ACTION_DEAL = 1 };
enum ENUM_ORDER_TYPE_FILLING : int { ORDER_FILLING_FOK, ORDER_FILLING_IOC, ORDER_FILLING_RETURN };
enum ENUM_POSITION_PROPERTY_INTEGER : int { POSITION_TYPE, POSITION_MAGIC, POSITION_TICKET, POSITION_TIME };
enum ENUM_POSITION_PROPERTY_DOUBLE : int {
  POSITION_VOLUME,
  POSITION_PRICE_OPEN,
  POSITION_PROFIT,
  POSITION_SL,
  POSITION_TP,
};
enum ENUM_MA_METHOD : int { MODE_SMA, MODE_EMA, MODE_SMMA, MODE_LWMA };
enum ENUM_APPLIED_PRICE : int { PRICE_CLOSE = 1, PRICE_OPEN, PRICE_HIGH, PRICE_LOW, PRICE_MEDIAN, PRICE_TYPICAL };
enum ENUM_TERMINAL_INFO_INTEGER : int { TERMINAL_CONNECTED, TERMINAL_TRADE_ALLOWED };
enum ENUM_MQL_INFO_STRING : int { MQL_PROGRAM_NAME };
enum ENUM_ACCOUNT_INFO_DOUBLE : int { ACCOUNT_BALANCE, ACCOUNT_EQUITY, ACCOUNT_MARGIN_FREE };
enum ENUM_POINTER_TYPE : int { POINTER_INVALID, POINTER_DYNAMIC, POINTER_AUTOMATIC };
enum ENUM_MQL_INFO_INTEGER : int { MQL_TESTER, MQL_OPTIMIZATION, MQL_VISUAL_MODE };
enum : int { REASON_PROGRAM, REASON_REMOVE, TRADE_RETCODE_DONE = 10009, TRADE_RETCODE_INVALID_VOLUME = 10014 };
enum : color { clrNONE = 0xffffffff, clrRed = 0x0000ff, clrGreen = 0x008000, clrBlue = 0xff0000, clrBlack = 0 };

struct MqlRates {
  datetime time = 0;
  double open = 0, high = 0, low = 0, close = 0;
  long tick_volume = 0;
  int spread = 0;
  long real_volume = 0;
};
struct MqlTick {
  datetime time = 0;
  double bid = 0, ask = 0, last = 0;
  ulong volume = 0;
  long time_msc = 0;
  uint flags = 0;
  double volume_real = 0;
};
struct MqlTradeRequest {
  ENUM_TRADE_REQUEST_ACTIONS action = TRADE_ACTION_DEAL;
  ulong magic = 0, order = 0;
  string symbol;
  double volume = 0, price = 0, stoplimit = 0, sl = 0, tp = 0;
  ulong deviation = 0;
  ENUM_ORDER_TYPE type = ORDER_TYPE_BUY;
  ENUM_ORDER_TYPE_FILLING type_filling = ORDER_FILLING_FOK;
  string comment;
  ulong position = 0;
};
struct MqlTradeResult {
  uint retcode = 0;
  ulong deal = 0, order = 0;
  double volume = 0, price = 0, bid = 0, ask = 0;
  string comment;
};
