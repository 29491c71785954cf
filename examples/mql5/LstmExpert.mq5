// An Expert Advisor with a model: forecasts the next close from the last 120 and trades where it is far enough away.
// Lstm120.mqh and Lstm120.onnx are made by make.sh.
#property version "1.00"

#include <Trade\Trade.mqh>
#include "Lstm120.mqh"

input double InpLots      = 0.1;      // Lots
input double InpThreshold = 0.0005;   // Trade where the forecast is so far from the last close
input ulong  InpMagic     = 120;      // Magic number

CLstm120 ExtModel;
CTrade   ExtTrade;
datetime ExtLastBar=0;

int OnInit()
  {
   if(!ExtModel.SelfTest())
     {
      Print("no trading: ",ExtModel.Error());
      return(INIT_FAILED);
     }
   ExtTrade.SetExpertMagicNumber(InpMagic);
   return(INIT_SUCCEEDED);
  }

void OnDeinit(const int reason)
  {
   ExtModel.Release();
  }

void OnTick()
  {
   if(!IsNewBar())
      return;
   vectorf closes;
   float forecast=0;
   if(!closes.CopyRates(_Symbol,_Period,COPY_RATES_CLOSE,1,120))
     {
      Print("there are no 120 whole bars yet");
      return;
     }
   // Raw prices: the model normalises them as its training did.
   if(!ExtModel.Predict(closes,forecast))
     {
      Print("no trading: ",ExtModel.Error());
      return;
     }
   Trade(forecast-closes[119]);
  }

bool IsNewBar(void)
  {
   const datetime bar=iTime(_Symbol,_Period,0);
   if(bar==ExtLastBar)
      return(false);
   ExtLastBar=bar;
   return(true);
  }

// One position at most, in the direction of the forecast.
void Trade(const double change)
  {
   if(MathAbs(change)<InpThreshold)
      return;
   const bool buy=change>0;
   if(PositionSelect(_Symbol))
     {
      if((PositionGetInteger(POSITION_TYPE)==POSITION_TYPE_BUY)==buy)
         return;
      if(!ExtTrade.PositionClose(_Symbol))
        {
         Print("the position stays: ",ExtTrade.ResultRetcodeDescription());
         return;
        }
     }
   if(!(buy ? ExtTrade.Buy(InpLots,_Symbol) : ExtTrade.Sell(InpLots,_Symbol)))
      Print("no order: ",ExtTrade.ResultRetcodeDescription());
  }
