// Lstm120.mqh: written by `anyshape mql5`, not by hand. Make it again when the model changes.
// SHA-256 of Lstm120.onnx: efdd48b0a48c9890d6a05dfa7be4b99a64864c3d79918d12c633f70c149fd256
//
// Lstm120.onnx: opset 17, 10 nodes
//   in   closes    f32[1, 120, 1]
//   out  forecast  f32[1, 1]
// accepts exactly closes[1, 120, 1]
// exact: yes
//
//   #include "Lstm120.mqh"
//   CLstm120 model;
//   if(!model.SelfTest()) return(INIT_FAILED);        // in OnInit()
//   vectorf closes(120); vectorf forecast;
//   if(!model.Predict(closes,forecast)) Print(model.Error());

#ifndef ANYSHAPE_Lstm120_MQH
#define ANYSHAPE_Lstm120_MQH

#resource "Lstm120.onnx" as uchar ExtLstm120Model[]

class CLstm120
  {
private:
   long              m_handle;
   string            m_error;

   bool              Refused(const string sentence)
     {
      m_error="CLstm120: "+sentence;
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
      return(m_handle!=INVALID_HANDLE || Create());
     }
   bool              SetShapes(void)
     {
      const ulong Input0[]={1,120,1};
      if(!OnnxSetInputShape(m_handle,0,Input0))
         return(Failed("OnnxSetInputShape of closes"));
      const ulong Output0[]={1,1};
      if(!OnnxSetOutputShape(m_handle,0,Output0))
         return(Failed("OnnxSetOutputShape of forecast"));
      return(true);
     }

   template<typename T>
   void              Take(const double &entries[],T &to[])
     {
      for(int i=0; i<ArraySize(to); i++)
         to[i]=(T)entries[i];
     }
   // Every step-th entry against the stored ones (EMPTY_VALUE stands for what is not finite), then the sum of
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
      PrintFormat("CLstm120: SelfTest of %s: largest error %.3g of %.6g, %.3g is allowed: %s",name,Worst,scale,tolerance,
                  Same ? "passed" : "FAILED");
      return(Same);
     }
   // Whether the embedded file is the one this class was made for.
   bool              SameModel(void)
     {
      uchar Key[],Hash[];
      string Text="";
      if(CryptEncode(CRYPT_HASH_SHA256,ExtLstm120Model,Key,Hash)!=32)
        {
         Print("CLstm120: the terminal cannot compute SHA-256, the model is compared by its values only");
         return(true);
        }
      for(int i=0; i<32; i++)
         Text+=StringFormat("%02x",(int)Hash[i]);
      if(Text==ModelHash())
         return(true);
      return(Refused("Lstm120.onnx has the SHA-256 "+Text+", Lstm120.mqh was made for "+ModelHash()+": make it again"));
     }

public:
                     CLstm120(void) : m_handle(INVALID_HANDLE),m_error("") {}
   // A copy loads the model for itself, so that no handle is released twice.
                     CLstm120(const CLstm120 &other) : m_handle(INVALID_HANDLE),m_error("") {}
   void              operator=(const CLstm120 &other) {}
                    ~CLstm120(void) { Release(); }

   // Loads the model; Predict() and SelfTest() do it where nobody did.
   bool              Create(const ulong flags=ONNX_DEFAULT)
     {
      Release();
      m_handle=OnnxCreateFromBuffer(ExtLstm120Model,flags);
      if(m_handle==INVALID_HANDLE)
         return(Failed("OnnxCreateFromBuffer"));
      if(OnnxGetInputCount(m_handle)!=1 || OnnxGetOutputCount(m_handle)!=1)
        {
         Release();
         return(Refused("the embedded model has other inputs or outputs: make Lstm120.mqh again"));
        }
      if(SetShapes())
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
   static string     ModelHash(void) { return("efdd48b0a48c9890d6a05dfa7be4b99a64864c3d79918d12c633f70c149fd256"); }
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

   // Entries lie as in the file, the last axis first to change. Outputs are sized here; an array indexed as a
   // series is read in the order of memory.
   bool              Predict(const vectorf &closes,vectorf &forecast)
     {
      if(!Ready() || !Fits("closes",(long)closes.Size(),120))
         return(false);
      forecast.Resize(1);
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,forecast))
         return(Failed("OnnxRun"));
      return(true);
     }

   bool              Predict(const matrixf &closes,matrixf &forecast)
     {
      if(!Ready() || !FitsMatrix("closes",closes.Rows(),closes.Cols(),1,1,120))
         return(false);
      forecast.Resize(1,1);
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,forecast))
         return(Failed("OnnxRun"));
      return(true);
     }

   bool              Predict(const float &closes[],float &forecast[])
     {
      if(!Ready() || !Fits("closes",ArraySize(closes),120))
         return(false);
      ArrayResize(forecast,1);
      if(!Fits("forecast",ArraySize(forecast),1))
         return(false);
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,forecast))
         return(Failed("OnnxRun"));
      return(true);
     }

   bool              Predict(const vectorf &closes,float &forecast)
     {
      if(!Ready() || !Fits("closes",(long)closes.Size(),120))
         return(false);
      float Number0[1];
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,Number0))
         return(Failed("OnnxRun"));
      forecast=Number0[0];
      return(true);
     }

   bool              Predict(const matrixf &closes,float &forecast)
     {
      if(!Ready() || !FitsMatrix("closes",closes.Rows(),closes.Cols(),1,1,120))
         return(false);
      float Number0[1];
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,Number0))
         return(Failed("OnnxRun"));
      forecast=Number0[0];
      return(true);
     }

   bool              Predict(const float &closes[],float &forecast)
     {
      if(!Ready() || !Fits("closes",ArraySize(closes),120))
         return(false);
      float Number0[1];
      if(!OnnxRun(m_handle,ONNX_NO_CONVERSION,closes,Number0))
         return(Failed("OnnxRun"));
      forecast=Number0[0];
      return(true);
     }

   // Runs the stored input and compares with the stored output. A program calls it in OnInit().
   bool              SelfTest(void)
     {
      if(!SameModel())
         return(false);
      float In0[];
      ArrayResize(In0,120);
      const double Entries0[]={1.1022520065307617,1.1024267673492432,1.0981354713439941,1.0996695756912231,1.0999072790145874,1.0995333194732666,1.0988693237304688,1.099735975265503,
         1.1006795167922974,1.1025561094284058,1.1010918617248535,1.1035590171813965,1.1001414060592651,1.1008611917495728,1.097579836845398,1.103527545928955,
         1.0981110334396362,1.1032689809799194,1.0978769063949585,1.1025280952453613,1.1022311449050903,1.0986946821212769,1.103261947631836,1.103234052658081,
         1.1029335260391235,1.1026644706726074,1.1031466722488403,1.0973562002182007,1.098464012145996,1.096493124961853,1.100148320198059,1.0978490114212036,
         1.098484992980957,1.1024198532104492,1.0993375778198242,1.099561333656311,1.0990091562271118,1.1013085842132568,1.0975204706192017,1.0971046686172485,
         1.1003055572509766,1.1006340980529785,1.101105809211731,1.1027657985687256,1.1033109426498413,1.1022870540618896,1.101081371307373,1.0999876260757446,
         1.0988973379135132,1.098984718322754,1.0980480909347534,1.0970242023468018,1.1000784635543823,1.0993236303329468,1.0986422300338745,1.1019165515899658,
         1.1026434898376465,1.1027272939682007,1.0976532697677612,1.097429633140564,1.1030592918395996,1.1030348539352417,1.1030627489089966,1.1018850803375244,
         1.102038860321045,1.0992257595062256,1.0966852903366089,1.1011826992034912,1.1009626388549805,1.0990021228790283,1.10215425491333,1.102465271949768,
         1.0983136892318726,1.1008926630020142,1.1026294231414795,1.1019165515899658,1.1003894805908203,1.0978419780731201,1.1016196012496948,1.102653980255127,
         1.1034332513809204,1.1022485494613647,1.0979362726211548,1.096832036972046,1.0971955060958862,1.0994493961334229,1.1035834550857544,1.097859501838684,
         1.0971535444259644,1.101392388343811,1.0972514152526855,1.1010254621505737,1.0979818105697632,1.1001273393630981,1.099439024925232,1.101392388343811,
         1.0986037254333496,1.100001573562622,1.0973283052444458,1.0973842144012451,1.09861421585083,1.0997709035873413,1.0984605550765991,1.1015112400054932,
         1.1018537282943726,1.1033319234848022,1.098509430885315,1.1010115146636963,1.098526954650879,1.1018396615982056,1.0991978645324707,1.0972129106521606,
         1.0973981618881226,1.0987470149993896,1.0975449085235596,1.1019514799118042,1.1007459163665771,1.0990720987319946,1.096618890762329,1.098219394683838};
      Take(Entries0,In0);
      float Out0[];
      const bool Ran=Predict(In0,Out0);
      if(!Ran)
         return(false);
      bool Same=true;
      const double Wanted0[]={1.098207};
      Same=Agrees("forecast",Out0,Wanted0,1,1.098207,1.098207,0.0001) && Same;
      if(!Same)
         return(Refused("the model does not give the stored output"));
      return(true);
     }
  };

#endif
