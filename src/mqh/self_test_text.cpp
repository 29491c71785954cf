#include <fmt/format.h>

#include "mqh/fill.h"
#include "mqh/names.h"
#include "mqh/parts.h"
#include "tensor/dtype.h"

namespace anyshape::mqh {
namespace {

// Larger inputs are drawn again in MQL5.
constexpr size_t kWrittenEntries = 512;

constexpr std::string_view kDrawMembers = R"(
   // Of the stored pair: state=(1103515245*state+12345) mod 2^31, of which the lower 8 bits are left out.
   static ulong      Next(ulong &state)
     {
      state=(1103515245*state+12345)%2147483648;
      return(state/256);
     }
   // centre[k]+spread[k]*u with u from -1 up to 1, k=i/inner%size.
   template<typename T>
   void              DrawReal(ulong &state,const double &centre[],const double &spread[],const int inner,T &to[])
     {
      for(int i=0; i<ArraySize(to); i++)
        {
         const int K=i/inner%ArraySize(centre);
         to[i]=(T)(centre[K]+spread[K]*((double)(long)(Next(state)%2048)/1024.0-1.0));
        }
     }
   // 0 up to span-1.
   template<typename T>
   void              DrawWhole(ulong &state,const ulong span,T &to[])
     {
      for(int i=0; i<ArraySize(to); i++)
         to[i]=(T)(Next(state)%span);
     }
)";

constexpr std::string_view kTakeMember = R"(
   template<typename T>
   void              Take(const double &entries[],T &to[])
     {
      for(int i=0; i<ArraySize(to); i++)
         to[i]=(T)entries[i];
     }
)";

constexpr std::string_view kMembers =
    R"(   // Every step-th entry against the stored ones (EMPTY_VALUE stands for what is not finite), then the sum of
   // (1+i%7)*entry i divided by their number. Errors are parts of `scale`, the largest entry.
   template<typename T>
   bool              Agrees(const string name,const T &got[],const double &wanted[],const int step,const double scale,
                            const double weighted,const double tolerance)
     {
      double Worst=0,Sum=0;
      bool Same=true;
      for(int i=0; i<ArraySize(got); i++)
        {
         const double Entry=(double)got[i];
         const bool Valid=MathIsValidNumber(Entry);
         if(Valid)
            Sum+=(1+i%7)*Entry/ArraySize(got);
         if(i%step!=0)
            continue;
         const double Wanted=wanted[i/step];
         if(!Valid || Wanted==EMPTY_VALUE)
            Same=Same && !Valid && Wanted==EMPTY_VALUE;
         else
            Worst=MathMax(Worst,MathAbs(Entry-Wanted)/scale);
        }
      // Seven weights of 4 on average; the sum of whole numbers may round.
      Worst=MathMax(Worst,MathAbs(Sum-weighted)/(4*scale)-1e-12*MathAbs(weighted));
      Same=Same && Worst<=tolerance;
      PrintFormat("$CLASS: SelfTest of %s: largest error %.3g of %.6g, %.3g is allowed: %s",name,Worst,scale,tolerance,
                  Same ? "passed" : "FAILED");
      return(Same);
     }
   // Whether the embedded file is the one this class was made for.
   bool              SameModel(void)
     {
      uchar Key[],Hash[];
      string Text="";
      if(CryptEncode(CRYPT_HASH_SHA256,Ext$NAMEModel,Key,Hash)!=32)
        {
         Print("$CLASS: the terminal cannot compute SHA-256, the model is compared by its values only");
         return(true);
        }
      for(int i=0; i<32; i++)
         Text+=StringFormat("%02x",(int)Hash[i]);
      if(Text==ModelHash())
         return(true);
      return(Refused("$STEM.onnx has the SHA-256 "+Text+", $STEM.mqh was made for "+ModelHash()+": make it again"));
     }
)";

constexpr std::string_view kMethod = R"(
   // Runs the stored input and compares with the stored output. A program calls it in OnInit().
   bool              SelfTest(void)
     {
      if(!SameModel())
         return(false);
$KEEP$INPUTS$OUTPUTS      const bool Ran=Predict($ARGUMENTS);
$RESTORE      if(!Ran)
         return(false);
      bool Same=true;
$COMPARE      if(!Same)
         return(Refused("the model does not give the stored output"));
      return(true);
     }
)";

// All digits where numbers must be equal, else those that the tolerance can tell.
std::string number(double value, double tolerance = 0) {
  if (value == kNotFinite) return "EMPTY_VALUE";
  if (tolerance == 0) return fmt::format("{}", value);
  return fmt::format("{:.{}g}", value, tolerance < 1e-5 ? 10 : 7);
}

// In lines of 8 numbers.
std::string double_array(std::string_view name, const std::vector<double>& entries, double tolerance = 0) {
  std::string numbers;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) numbers += i % 8 == 0 ? ",\n         " : ",";
    numbers += number(entries[i], tolerance);
  }
  return fmt::format("      const double {}[]={{{}}};\n", name, numbers);
}

std::string drawn(const Port& port, const Recipe& recipe, size_t index) {
  if (!is_float(port.type))
    return fmt::format("      DrawWhole(State,{},In{});\n", port.type == DType::boolean ? 2 : recipe.span, index);
  return double_array(fmt::format("Centre{}", index), recipe.centre) +
         double_array(fmt::format("Spread{}", index), recipe.spread) +
         fmt::format("      DrawReal(State,Centre{},Spread{},{},In{});\n", index, index, recipe.inner, index);
}

bool is_written(const ClassDescription& described) {
  size_t all = 0;
  for (const InputSample& sample : described.sample_inputs) all += sample.entries.size();
  return all <= kWrittenEntries;
}

std::string input_lines(const Writer& w) {
  const bool written = is_written(w.described);
  std::string out = written ? "" : "      ulong State=1;\n";
  for (size_t i = 0; i < w.described.inputs.size(); ++i) {
    const Port& port = w.described.inputs[i];
    const InputSample& sample = w.described.sample_inputs[i];
    out += fmt::format("      {} In{}[];\n      ArrayResize(In{},{});\n", mql5_type(port.type), i, i,
                       sample.entries.size());
    out += written ? double_array(fmt::format("Entries{}", i), sample.entries) +
                         fmt::format("      Take(Entries{},In{});\n", i, i)
                   : drawn(port, sample.recipe, i);
  }
  return out;
}

std::string compare_lines(const Writer& w) {
  std::string out;
  for (size_t i = 0; i < w.described.outputs.size(); ++i) {
    const OutputSample& sample = w.described.sample_outputs[i];
    out += double_array(fmt::format("Wanted{}", i), sample.entries, sample.tolerance);
    out += fmt::format("      Same=Agrees({},Out{},Wanted{},{},{},{},{}) && Same;\n",
                       quoted(w.described.outputs[i].name), i, i, sample.step, number(sample.scale, sample.tolerance),
                       number(sample.weighted, sample.tolerance), sample.tolerance);
  }
  return out;
}

// The sizes of the program come back after the test.
std::pair<std::string, std::string> keep_lines(const Writer& w) {
  if (!w.is_dynamic()) return {};
  std::string keep = "      const bool Sized=m_sized;\n", kept, tested;
  for (size_t i = 0; i < w.described.sizes.size(); ++i) {
    const Size& size = w.described.sizes[i];
    keep += fmt::format("      const long Kept{}={};\n", i, w.members.at(size.symbol));
    kept += fmt::format("{}Kept{}", i ? "," : "", i);
    tested += fmt::format("{}{}", i ? "," : "", size.tested);
  }
  keep += fmt::format("      if(!SetSizes({}))\n         return(false);\n", tested);
  return {keep, fmt::format("      m_sized=Sized;\n      if(Sized && !SetSizes({}))\n         return(false);\n", kept)};
}

}  // namespace

std::string self_test_members(const Writer& w) {
  const std::string_view inputs = is_written(w.described) ? kTakeMember : kDrawMembers;
  return std::string(inputs) +
         fill(kMembers, {{"CLASS", w.class_name}, {"NAME", camel_case(w.described.stem)}, {"STEM", w.described.stem}});
}

std::string self_test_method(const Writer& w) {
  std::vector<std::string> arguments;
  std::string outputs;
  for (size_t i = 0; i < w.described.inputs.size(); ++i) arguments.push_back(fmt::format("In{}", i));
  for (size_t i = 0; i < w.described.outputs.size(); ++i) {
    arguments.push_back(fmt::format("Out{}", i));
    outputs += fmt::format("      {} Out{}[];\n", mql5_type(w.described.outputs[i].type), i);
  }
  const auto [keep, restore] = keep_lines(w);
  return fill(kMethod, {{"KEEP", keep},
                        {"INPUTS", input_lines(w)},
                        {"OUTPUTS", outputs},
                        {"ARGUMENTS", fmt::format("{}", fmt::join(arguments, ","))},
                        {"RESTORE", restore},
                        {"COMPARE", compare_lines(w)}});
}

}  // namespace anyshape::mqh
