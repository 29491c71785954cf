#include "anyshape/mql5/functions.h"

#include <atomic>
#include <charconv>
#include <cstdio>

#include "anyshape/mqh.h"
#include "anyshape/mql5/onnx.h"
#include "convert.h"

namespace anyshape::mql5 {
namespace {

constexpr long kDay = 86400;

struct Date {
  long year;
  int month, day;
};

// Days since 1970 to a date of the Gregorian calendar and back, years beginning in March.
Date date_of(long days) {
  const long shifted = days + 719468;
  const long era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const long day_of_era = shifted - era * 146097;
  const long year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const long day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int month_from_march = static_cast<int>((5 * day_of_year + 2) / 153);
  const int day = static_cast<int>(day_of_year) - (153 * month_from_march + 2) / 5 + 1;
  const int month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {year_of_era + era * 400 + (month <= 2), month, day};
}

long days_of(const Date& date) {
  const long year = date.year - (date.month <= 2);
  const long era = (year >= 0 ? year : year - 399) / 400;
  const long year_of_era = year - era * 400;
  const long day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

constexpr datetime kStart = 1767225600;  // 2026.01.01 00:00
std::atomic<datetime> now = kStart;
thread_local uint32_t random_state = 1;

template <class T>
bool to_16_bits(mql5_array<ushort>& to, const mql5_array<T>& from, ENUM_FLOAT16_FORMAT format) {
  to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to.data()[i] = format == FLOAT_BFP16 ? bfloat_of(double{from.data()[i]}) : half_of(double{from.data()[i]});
  return true;
}

template <class T>
bool from_16_bits(mql5_array<T>& to, const mql5_array<ushort>& from, ENUM_FLOAT16_FORMAT format) {
  to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to.data()[i] = static_cast<T>(format == FLOAT_BFP16 ? from_bfloat(from.data()[i]) : from_half(from.data()[i]));
  return true;
}

}  // namespace

void set_time(datetime time) { now = time; }

}  // namespace anyshape::mql5

using namespace anyshape::mql5;

double NormalizeDouble(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  const double scaled = std::round(value * scale);
  return std::isfinite(scaled) ? scaled / scale : value;
}

// A linear congruence of 31 bits.
int MathRand() {
  random_state = (random_state * 1103515245u + 12345u) & 0x7fffffffu;
  return static_cast<int>(random_state >> 16);
}
void MathSrand(int seed) { random_state = static_cast<uint32_t>(seed) & 0x7fffffffu; }

datetime TimeCurrent() { return now; }
datetime TimeCurrent(MqlDateTime& parts) {
  TimeToStruct(now, parts);
  return now;
}
datetime TimeLocal() { return now; }
datetime TimeGMT() { return now; }
ulong GetTickCount64() { return static_cast<ulong>(now - kStart) * 1000; }
uint GetTickCount() { return static_cast<uint>(GetTickCount64()); }
ulong GetMicrosecondCount() { return GetTickCount64() * 1000; }

bool TimeToStruct(datetime time, MqlDateTime& parts) {
  const long second = (time % kDay + kDay) % kDay, days = (time - second) / kDay;
  const Date date = date_of(days);
  parts = {static_cast<int>(date.year),
           date.month,
           date.day,
           static_cast<int>(second / 3600),
           static_cast<int>(second / 60 % 60),
           static_cast<int>(second % 60)};
  parts.day_of_week = static_cast<int>(((days + 4) % 7 + 7) % 7);
  parts.day_of_year = static_cast<int>(days - days_of({date.year, 1, 1}));
  return true;
}

datetime StructToTime(const MqlDateTime& parts) {
  return days_of({parts.year, parts.mon, parts.day}) * kDay + parts.hour * 3600 + parts.min * 60 + parts.sec;
}

string TimeToString(datetime time, int parts) {
  MqlDateTime date;
  TimeToStruct(time, date);
  std::string out;
  if (parts & TIME_DATE) out = StringFormat("%04d.%02d.%02d", date.year, date.mon, date.day).text();
  if (!(parts & (TIME_MINUTES | TIME_SECONDS))) return out;
  if (!out.empty()) out += ' ';
  out += StringFormat("%02d:%02d", date.hour, date.min).text();
  return parts & TIME_SECONDS ? out + StringFormat(":%02d", date.sec).text() : out;
}

datetime StringToTime(const string& text) {
  Date date{};
  int hour = 0, minute = 0, second = 0;
  const int read = std::sscanf(text.text().c_str(), "%5ld.%2d.%2d %2d:%2d:%2d", &date.year, &date.month, &date.day,
                               &hour, &minute, &second);
  if (read < 3 || date.month < 1 || date.month > 12) return 0;
  return days_of(date) * kDay + hour * 3600 + minute * 60 + second;
}

int CryptEncode(ENUM_CRYPT_METHOD, const mql5_array<uchar>& data, const mql5_array<uchar>&, mql5_array<uchar>& result) {
  const std::string digits = anyshape::sha256(std::as_bytes(std::span(data.data(), data.size())));
  result.resize(digits.size() / 2);
  for (size_t i = 0; i < result.size(); ++i)
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, result.data()[i], 16);
  return ArraySize(result);
}

bool ArrayToFP16(mql5_array<ushort>& to, const mql5_array<float>& from, ENUM_FLOAT16_FORMAT format) {
  return to_16_bits(to, from, format);
}
bool ArrayToFP16(mql5_array<ushort>& to, const mql5_array<double>& from, ENUM_FLOAT16_FORMAT format) {
  return to_16_bits(to, from, format);
}
bool ArrayFromFP16(mql5_array<float>& to, const mql5_array<ushort>& from, ENUM_FLOAT16_FORMAT format) {
  return from_16_bits(to, from, format);
}
bool ArrayFromFP16(mql5_array<double>& to, const mql5_array<ushort>& from, ENUM_FLOAT16_FORMAT format) {
  return from_16_bits(to, from, format);
}
