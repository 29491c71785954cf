//+------------------------------------------------------------------+
//| An LSTM on 120 closes: what an Expert Advisor with a model does.  |
//+------------------------------------------------------------------+
#property copyright "anyshape"
#property version   "1.00"

#include <Trade\Trade.mqh>

#define SAMPLE_SIZE 120

#resource "lstm120.onnx" as uchar ExtModel[]

enum ENUM_SIGNAL
  {
   SIGNAL_SELL=-1, // the price falls
   SIGNAL_NONE=0,
   SIGNAL_BUY=1
  };

input group "Trading"
input double InpLots      = 0.1;   // Lots
input double InpThreshold = 0.0;   // How far from the last close
sinput ulong InpMagic     = 120;
input string InpComment   = "lstm";

const long ExtInputShape[]  = {1,SAMPLE_SIZE,1};
const long ExtOutputShape[] = {1,1};

long     ExtHandle=INVALID_HANDLE;
datetime ExtNextBar=0;
float    ExtRange[2];          // the smallest and the largest close of the sample
int      ExtRuns=0,ExtSignals[3];
CTrade   ExtTrade;

//+------------------------------------------------------------------+
//| Expert initialization function                                   |
//+------------------------------------------------------------------+
int OnInit()
  {
   ExtHandle=OnnxCreateFromBuffer(ExtModel,ONNX_DEFAULT);
   if(ExtHandle==INVALID_HANDLE)
     {
      Print("OnnxCreateFromBuffer error ",GetLastError());
      return(INIT_FAILED);
     }
   vectorf x(SAMPLE_SIZE),y(1);
   Expect(!OnnxRun(ExtHandle,ONNX_NO_CONVERSION,x,y) && GetLastError()==ERR_ONNX_WRONG_DIMENSION,
          "a run without shapes is "
          "error 5808");
   ResetLastError();
   if(!SetShapes())
      return(INIT_FAILED);
   Expect(ShowModel()==2,"two tensors");
   ExtTrade.SetExpertMagicNumber(InpMagic);
   return(INIT_SUCCEEDED);
  }
//+------------------------------------------------------------------+
//| Expert deinitialization function                                 |
//+------------------------------------------------------------------+
void OnDeinit(const int reason)
  {
   if(ExtHandle!=INVALID_HANDLE)
     {
      Expect(OnnxRelease(ExtHandle),"the handle is known");
      ExtHandle=INVALID_HANDLE;
     }
   Expect(ExtRuns==20,StringFormat("%d runs in 20 bars",ExtRuns));
   Expect(ExtSignals[0]+ExtSignals[1]+ExtSignals[2]==ExtRuns,"each run gives a signal");
   PrintFormat("%s: %d runs, %d sales, %d purchases",__FUNCTION__,ExtRuns,ExtSignals[0],ExtSignals[2]);
  }
//+------------------------------------------------------------------+
//| Expert tick function                                             |
//+------------------------------------------------------------------+
void OnTick()
  {
   if(TimeCurrent()<ExtNextBar)
      return;
   ExtNextBar=TimeCurrent();
   ExtNextBar-=ExtNextBar%3600;
   ExtNextBar+=3600;

   float closes[];
   if(!ReadCloses(closes))
      return;
   const float predicted=Predict(closes);
   const double last=iClose(_Symbol,PERIOD_CURRENT,1);
   const ENUM_SIGNAL signal=Judge(predicted-last);
   ExtSignals[signal+1]++;
   if(signal==SIGNAL_NONE)
      return;
   if(PositionSelect(_Symbol))
      ExtTrade.PositionClose(_Symbol);
   const double price=SymbolInfoDouble(_Symbol,signal==SIGNAL_BUY ? SYMBOL_ASK : SYMBOL_BID);
   const bool done=(signal==SIGNAL_BUY) ? ExtTrade.Buy(InpLots,_Symbol,price,0,0,InpComment)
                                        : ExtTrade.Sell(InpLots,_Symbol,price,0,0,InpComment);
   Expect(done,EnumToString(signal)+" is taken: "+(string)ExtTrade.ResultRetcode());
  }
//+------------------------------------------------------------------+
//| Every shape before the first run                                 |
//+------------------------------------------------------------------+
bool SetShapes(void)
  {
   if(!OnnxSetInputShape(ExtHandle,ONNX_DEFAULT,ExtInputShape))
     {
      Print("OnnxSetInputShape error ",GetLastError());
      return(false);
     }
   if(!OnnxSetOutputShape(ExtHandle,0,ExtOutputShape))
     {
      Print("OnnxSetOutputShape error ",GetLastError());
      return(false);
     }
   return(true);
  }
//+------------------------------------------------------------------+
//| The closes of whole bars, the oldest first                       |
//+------------------------------------------------------------------+
bool ReadCloses(float &closes[],const int count=SAMPLE_SIZE)
  {
   double prices[];
   if(CopyClose(_Symbol,_Period,1,count,prices)!=count)
      return(false);
   ArrayResize(closes,count);
   for(int i=0; i<count; i++)
      closes[i]=(float)prices[i];
   return(true);
  }
//+------------------------------------------------------------------+
//| Scales to 0..1, runs, scales back                                |
//+------------------------------------------------------------------+
float Predict(const float &closes[])
  {
   static vectorf output_data(1);
   vector<float> x;
   x.Assign(closes);
   ExtRange[0]=x.Min();
   ExtRange[1]=x.Max();
   x=(x-ExtRange[0])/(ExtRange[1]-ExtRange[0]);
   if(!OnnxRun(ExtHandle,ONNX_NO_CONVERSION,x,output_data))
     {
      Expect(false,__FUNCTION__+" error "+(string)GetLastError());
      return(0);
     }
   ExtRuns++;
   return(output_data[0]*(ExtRange[1]-ExtRange[0])+ExtRange[0]);
  }
//+------------------------------------------------------------------+
//|                                                                  |
//+------------------------------------------------------------------+
ENUM_SIGNAL Judge(const double change)
  {
   if(MathAbs(change)<=InpThreshold)
      return(SIGNAL_NONE);
   return(change>0 ? SIGNAL_BUY : SIGNAL_SELL);
  }
//+------------------------------------------------------------------+
//| Prints the inputs and outputs; how many there are                |
//+------------------------------------------------------------------+
long ShowModel()
  {
   const long inputs=OnnxGetInputCount(ExtHandle),outputs=OnnxGetOutputCount(ExtHandle);
   for(long i=0; i<inputs; i++)
     {
      OnnxTypeInfo info;
      if(OnnxGetInputTypeInfo(ExtHandle,i,info))
         ShowTensor("input "+OnnxGetInputName(ExtHandle,i),info.tensor);
     }
   for(long i=0; i<outputs; i++)
     {
      OnnxTypeInfo info;
      if(OnnxGetOutputTypeInfo(ExtHandle,i,info))
         ShowTensor("output "+OnnxGetOutputName(ExtHandle,i),info.tensor);
     }
   return(inputs+outputs);
  }

void ShowTensor(string name,const OnnxTensorTypeInfo &tensor)
  {
   string text="";
   for(int i=0; i<ArraySize(tensor.dimensions); i++)
      text+=(i>0 ? "," : "")+IntegerToString(tensor.dimensions[i]);
   PrintFormat("%s: %s [%s]",name,EnumToString(tensor.data_type),text);
  }
//+------------------------------------------------------------------+
