#include <fmt/format.h>

#include "mqh/fill.h"
#include "mqh/names.h"
#include "mqh/parts.h"

namespace anyshape::mqh {
namespace {

constexpr std::string_view kHead =
    R"($HEAD//
$REPORT//
//   #include "$STEM.mqh"
//   $CLASS model;
//   if(!model.SelfTest()) return(INIT_FAILED);        // in OnInit()
$SIZES//   $DECLARED
//   if(!$CALLED) Print(model.Error());

#ifndef $GUARD
#define $GUARD

#resource "$STEM.onnx" as uchar Ext$NAMEModel[]

)";

constexpr std::string_view kBegin = R"(class $CLASS
  {
private:
   long              m_handle;
   string            m_error;
$MEMBERS
   bool              Refused(const string sentence)
     {
      m_error="$CLASS: "+sentence;
      Print(m_error);
      return(false);
     }
   bool              Failed(const string call)
     {
      const int Code=GetLastError();
      return(Refused(call+": error "+IntegerToString(Code)+" "+ErrorText(Code)));
     }
   bool              Fits(const string name,const long entries,const long wanted)
     {
      if(entries==wanted)
         return(true);
      return(Refused(name+" has "+IntegerToString(entries)+" entries, the model takes "+IntegerToString(wanted)));
     }
   // One row for each entry of the batch, or one for each entry of all axes but the last.
   bool              FitsMatrix(const string name,const ulong rows,const ulong cols,const long batch,const long last,const long wanted)
     {
      if((long)(rows*cols)==wanted && ((long)rows==batch || (long)cols==last))
         return(true);
      return(Refused(name+" is a matrix of "+IntegerToString((long)rows)+" x "+IntegerToString((long)cols)+", the model takes "+
                     IntegerToString(batch)+" x "+IntegerToString(wanted/batch)+" or "+IntegerToString(wanted/last)+" x "+IntegerToString(last)));
     }
   bool              Ready(void)
     {
      return($READY);
     }
)";

constexpr std::string_view kPublic = R"(
public:
                     $CLASS(void) : m_handle(INVALID_HANDLE),m_error("")$INIT {}
   // A copy loads the model for itself, so that no handle is released twice.
                     $CLASS(const $CLASS &other) : m_handle(INVALID_HANDLE),m_error("")$INIT {}
   void              operator=(const $CLASS &other) {}
                    ~$CLASS(void) { Release(); }

   // Loads the model; Predict() and SelfTest() do it where nobody did.
   bool              Create(const ulong flags=ONNX_DEFAULT)
     {
      Release();
      m_handle=OnnxCreateFromBuffer(Ext$NAMEModel,flags);
      if(m_handle==INVALID_HANDLE)
         return(Failed("OnnxCreateFromBuffer"));
      if(OnnxGetInputCount(m_handle)!=$INPUTS || OnnxGetOutputCount(m_handle)!=$OUTPUTS)
        {
         Release();
         return(Refused("the embedded model has other inputs or outputs: make $STEM.mqh again"));
        }
      if($SHAPED)
         return(true);
      const string Reason=m_error;
      Release();
      m_error=Reason;
      return(false);
     }
   void              Release(void)
     {
      if(m_handle!=INVALID_HANDLE)
         OnnxRelease(m_handle);
      m_handle=INVALID_HANDLE;
     }
   // Why the last call that gave false did so.
   string            Error(void) const { return(m_error); }
   // SHA-256 of the model this class was made for.
   static string     ModelHash(void) { return("$HASH"); }
   static string     ErrorText(const int code)
     {
      switch(code)
        {
         case 4024: return("ERR_INVALID_HANDLE: the model is not loaded");
         case 5800: return("ERR_ONNX_INTERNAL: the terminal cannot load or run the model; its log says why");
         case 5801: return("ERR_ONNX_NOT_INITIALIZED: the terminal has no ONNX Runtime: update it");
         case 5802: return("ERR_ONNX_NOT_SUPPORTED: a type or an operator that MQL5 does not take");
         case 5803: return("ERR_ONNX_RUN_FAILED: the run failed: an entry of an input is out of range, or memory is short");
         case 5804: return("ERR_ONNX_INVALID_PARAMETERS_COUNT: not one container for each input and output");
         case 5805: return("ERR_ONNX_INVALID_PARAMETER: a container is empty, or the shape of an output is not set");
         case 5806: return("ERR_ONNX_INVALID_PARAMETER_TYPE: an argument is no array, vector or matrix");
         case 5807: return("ERR_ONNX_INVALID_PARAMETER_SIZE: a container has another number of entries than the shape");
         case 5808: return("ERR_ONNX_WRONG_DIMENSION: a size is not set, or not one that the model takes");
        }
      return("a code that is none of ONNX");
     }
)";

constexpr std::string_view kEnd = R"(  };

#endif
)";

std::string head_text(const Writer& w) {
  const auto [declared, called] = example_call(w);
  const std::string head = fmt::format(
      "{}.mqh: written by `anyshape mql5`, not by hand. Make it again when the model changes.\n"
      "SHA-256 of {}.onnx: {}",
      w.described.stem, w.described.stem, w.described.hash);
  std::string sizes;
  for (const Size& size : w.described.sizes) sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size.tested);
  if (!sizes.empty()) sizes = fmt::format("//   if(!model.SetSizes({})) Print(model.Error());\n", sizes);
  const std::string name = camel_case(w.described.stem);
  return fill(kHead, {{"HEAD", commented(head)},
                      {"REPORT", commented(w.described.report)},
                      {"STEM", w.described.stem},
                      {"CLASS", w.class_name},
                      {"SIZES", sizes},
                      {"DECLARED", declared},
                      {"CALLED", called},
                      {"GUARD", "ANYSHAPE_" + name + "_MQH"},
                      {"NAME", name}});
}

std::string begin_text(const Writer& w) {
  std::string members;
  if (w.is_dynamic()) members += "   bool              m_sized;\n";
  for (const Size& size : w.described.sizes)
    members += fmt::format("   long              {};\n", w.members.at(size.symbol));
  const std::string loaded = "m_handle!=INVALID_HANDLE || Create()";
  const std::string sized = fmt::format("m_sized ? {} : Refused(\"call SetSizes() first\")", loaded);
  return fill(kBegin, {{"CLASS", w.class_name}, {"MEMBERS", members}, {"READY", w.is_dynamic() ? sized : loaded}});
}

std::string public_text(const Writer& w) {
  std::string init = w.is_dynamic() ? ",m_sized(false)" : "";
  for (const Size& size : w.described.sizes) init += fmt::format(",{}(0)", w.members.at(size.symbol));
  return fill(kPublic, {{"CLASS", w.class_name},
                        {"INIT", init},
                        {"INPUTS", fmt::format("{}", w.described.inputs.size())},
                        {"OUTPUTS", fmt::format("{}", w.described.outputs.size())},
                        {"STEM", w.described.stem},
                        {"NAME", camel_case(w.described.stem)},
                        {"SHAPED", w.is_dynamic() ? "!m_sized || SetShapes()" : "SetShapes()"},
                        {"HASH", w.described.hash}});
}

}  // namespace

std::string_view mql5_type(DType type) {
  switch (type) {
    case DType::f16:
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "char";
    case DType::u8:
      return "uchar";
    case DType::i16:
      return "short";
    case DType::u16:
      return "ushort";
    case DType::i32:
      return "int";
    case DType::u32:
      return "uint";
    case DType::i64:
      return "long";
    case DType::u64:
      return "ulong";
    default:
      return {};
  }
}

Writer writer_of(const ClassDescription& described) {
  Writer out{described, "C" + camel_case(described.stem), {}};
  for (const Size& size : described.sizes) out.members.emplace(size.symbol, "m_size_" + size.id);
  return out;
}

Status check_sizes(const Writer& w) {
  for (const Port& port : w.described.outputs)
    for (size_t i = 0; i < port.dims.size(); ++i) {
      if (mql5_expression(port.dims[i], w.members) && mql5_expression(product(port.dims), w.members)) continue;
      Error error =
          refuse("mql5.output-size",
                 "axis {} of the output {:?} is {}, which no program can compute from the sizes of the inputs", i,
                 port.name, print(port.dims[i]))
              .value();
      error.hint = fmt::format("a fixed size for {:?}, which is allowed to change", w.described.sizes.front().name);
      return tl::unexpected(std::move(error));
    }
  return {};
}

Result<std::string> class_text(const ClassDescription& described) {
  const Writer w = writer_of(described);
  TRY_OK(check_sizes(w));
  return head_text(w) + begin_text(w) + shape_members(w) + self_test_members(w) + public_text(w) + size_methods(w) +
         predict_methods(w) + self_test_method(w) + std::string(kEnd);
}

}  // namespace anyshape::mqh
