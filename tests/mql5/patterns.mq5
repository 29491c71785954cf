// How programs hold models: a class that owns a handle, sequences of maps, matrices of prices, inputs of several types.
#define MODELS "tests\\fixtures\\mql5\\"

struct MapOutput
  {
   long              label[];
   float             proba[];
  };

//+------------------------------------------------------------------+
//| A model with its shapes and containers                           |
//+------------------------------------------------------------------+
class CModel
  {
private:
   long              m_handle;
   string            m_error;
   static const int  s_batch;

   bool              Fail(const string call)
     {
      const int code=GetLastError();
      m_error=StringFormat("%s: %d, %s",call,code,Sentence(code));
      Release();
      return(false);
     }

public:
                     CModel(void) : m_handle(INVALID_HANDLE),m_error(NULL) {}
                    ~CModel(void) { Release(); }
   bool              Create(const string name,const ulong &input_shape[],const ulong &output_shape[])
     {
      m_handle=OnnxCreate(MODELS+name,ONNX_DEFAULT|ONNX_USE_CPU_ONLY);
      if(m_handle==INVALID_HANDLE)
         return(Fail("OnnxCreate"));
      if(!OnnxSetInputShape(m_handle,0,input_shape))
         return(Fail("OnnxSetInputShape"));
      if(!OnnxSetOutputShape(m_handle,0,output_shape))
         return(Fail("OnnxSetOutputShape"));
      return(true);
     }
   bool              Predict(const vectorf &x,vectorf &y)   { return(m_handle!=INVALID_HANDLE && ::OnnxRun(m_handle,ONNX_NO_CONVERSION,x,y)); }
   bool              Predict(const matrix &x,double &y[])   { return(m_handle!=INVALID_HANDLE && ::OnnxRun(m_handle,ONNX_DEFAULT,x,y)); }
   void              Release(void)
     {
      if(m_handle!=INVALID_HANDLE)
         OnnxRelease(m_handle);
      m_handle=INVALID_HANDLE;
     }
   string            Error(void) const { return(m_error); }
   static string     Sentence(const int code)
     {
      switch(code)
        {
         case ERR_ONNX_WRONG_DIMENSION: return("a size is not set or wrong");
         case ERR_FILE_NOT_EXIST:       return("there is no such file");
        }
      return("error "+(string)code);
     }
  };
const int CModel::s_batch=1;

void OnStart()
  {
   TestClass();
   TestMaps();
   TestTypes();
   TestPrices();
  }

void TestClass()
  {
   const ulong in[]={1,120,1},out[]={1,1},wrong[]={1,60,1};
   CModel model,*none=new CModel();
   vectorf x=vectorf::Full(120,0.5f),y(1);
   double wide[1];
   Expect(model.Error()==NULL && model.Create("lstm120",in,out),"created");
   Expect(model.Predict(x,y) && MathIsValidNumber(y[0]),"predicted");
   Expect(model.Predict(matrix::Full(120,1,0.5),wide) && wide[0]==(double)y[0],"converted");
   Expect(!none.Create("none",in,out) && none.Error()=="OnnxCreate: 5019, there is no such file","no file");
   Expect(!none.Create("lstm120.onnx",wrong,out) && StringFind(none.Error(),"5808")>0 && !none.Predict(x,y),"no shape");
   delete none;
  }

void TestMaps()
  {
   const long h=OnnxCreate(MODELS+"zipmap.onnx",ONNX_DEFAULT);
   ulong in[2],out[1];
   in[0]=out[0]=1;
   in[1]=2;
   float f[1][2]={{1,2}};
   long label[1];
   MapOutput maps[];
   Expect(OnnxSetInputShape(h,0,in) && OnnxSetOutputShape(h,0,out),"shapes");
   Expect(OnnxRun(h,ONNX_DEFAULT,f,label,maps),"a sequence of maps");
   Expect(ArraySize(maps)==1 && ArraySize(maps[0].proba)==3 && maps[0].label[1]==20,"labels and probabilities");
   Expect(ArrayMaximum(maps[0].proba)==label[0],"the largest is the label");
   Expect(OnnxRelease(h),"released");
  }

void TestTypes()
  {
   const long h=OnnxCreate(MODELS+"pair",ONNX_DEFAULT);
   for(long i=0; i<OnnxGetInputCount(h); i++)
     {
      OnnxTypeInfo info;
      Expect(OnnxGetInputTypeInfo(h,i,info) && info.type==ONNX_TYPE_TENSOR,"a tensor");
      long dims[];
      ArrayCopy(dims,info.tensor.dimensions);
      for(int j=0; j<ArraySize(dims); j++)
         if(dims[j]<=0)
            dims[j]=2;
      Expect(OnnxSetInputShape(h,i,dims),"a shape");
     }
   const long two[]={2};
   Expect(OnnxSetOutputShape(h,0,two) && OnnxSetOutputShape(h,1,two),"outputs");
   matrixf x={{1,2},{3,4}};
   int k[]={5,6};
   double sum[2];
   vector twice(2);
   Expect(OnnxRun(h,ONNX_DEFAULT,x,k,sum,twice) && sum[1]==7 && twice[0]==10,"each its own type");
   OnnxRelease(h);
  }

void TestPrices()
  {
   matrix rates;
   Expect(rates.CopyRates(_Symbol,_Period,COPY_RATES_OHLC,1,10) && rates.Rows()==4 && rates.Cols()==10,"prices");
   matrix x=rates.Transpose();
   const vector m=x.Mean(0),s=x.Std(0);
   matrix mm(10,4),ss(10,4);
   for(int i=0; i<10; i++)
     {
      mm.Row(m,i);
      ss.Row(s,i);
     }
   x-=mm;
   x/=ss;
   Expect(MathAbs(x.Mean())<1e-9 && x.Mean(0).Compare(vector::Zeros(4),1e-6)==0,"normalised");
   vectorf closes;
   Expect(closes.CopyRates(_Symbol,_Period,COPY_RATES_CLOSE,0,5) && closes[4]==(float)iClose(NULL,0,0),"closes");
   MqlRates bars[];
   ArraySetAsSeries(bars,true);
   Expect(CopyRates(_Symbol,_Period,0,3,bars)==3 && bars[0].time==iTime(_Symbol,_Period,0),"a series");
   double values[3]={bars[0].close,bars[0].tick_volume,bars[0].spread};
   Expect(values[2]==1,"numbers of other types");
  }
