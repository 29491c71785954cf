// Classes that `anyshape mql5` made: what they compute, what they say of mistakes, what copies of them do.
// models.mqh is made by generated.py.
template<typename T>
void LoadEntries(const double &from[],T &to[])
  {
   ArrayResize(to,ArraySize(from));
   for(int i=0; i<ArraySize(from); i++)
      to[i]=(T)from[i];
  }

template<typename T>
void ExpectNear(const string what,const T &got[],const double &want[],const double tolerance)
  {
   Expect(ArraySize(got)==ArraySize(want),what+": size");
   double largest=1e-3;
   for(int i=0; i<ArraySize(want); i++)
      largest=MathMax(largest,MathAbs(want[i]));
   for(int i=0; i<ArraySize(want); i++)
      Expect(MathAbs((double)got[i]-want[i])<=tolerance*largest,
             what+StringFormat(": entry %d is %.9g instead of %.9g",i,(double)got[i],want[i]));
  }

#include "models.mqh"

int OnStart()
  {
   Expect(TestModels()>=30,"thirty models");
   TestNumbersAndMatrices();
   TestRows();
   TestScaler();
   TestSizes();
   TestMistakes();
   TestCopies();
   TestControls();
   return(0);
  }

bool Says(const string text,const string part) { return(StringFind(text,part)>=0); }

void Waves(vectorf &x,const ulong count)
  {
   x.Resize(count);
   for(ulong i=0; i<count; i++)
      x[i]=(float)MathSin(0.1*(double)i);
  }

void TestNumbersAndMatrices()
  {
   CLstm model;
   vectorf x,y;
   float one=0,of_rows=0,of_columns=0,of_array=0,entries[120];
   Waves(x,120);
   for(int i=0; i<120; i++)
      entries[i]=x[i];
   matrixf rows(120,1),columns(1,120),result;
   rows.Col(x,0);
   columns.Row(x,0);
   Expect(model.Predict(x,y) && y.Size()==1,"a vector");
   Expect(model.Predict(x,one) && one==y[0],"a number");
   Expect(model.Predict(rows,of_rows) && of_rows==one,"a column");
   Expect(model.Predict(columns,of_columns) && of_columns==one,"a row");
   Expect(model.Predict(entries,of_array) && of_array==one,"an array of a size of its own");
   Expect(model.Predict(rows,result) && result.Rows()==1 && result.Cols()==1 && result[0][0]==one,"a matrix");
   matrixf other(60,2);
   Expect(!model.Predict(other,result) && Says(model.Error(),"60 x 2, the model takes 1 x 120 or 120 x 1"),model.Error());
  }

// Eight symbols at once give what each gives alone.
void TestRows()
  {
   CLstm one;
   CLstmRows eight;
   matrixf x(8,120),y;
   for(int i=0; i<8; i++)
      for(int j=0; j<120; j++)
         x[i][j]=(float)MathCos(0.01*(i+1)*j);
   Expect(eight.Predict(x,y) && y.Rows()==8 && y.Cols()==1,"eight rows");
   for(int i=0; i<8; i++)
     {
      float alone=0;
      Expect(one.Predict(x.Row(i),alone) && MathAbs(alone-y[i][0])<1e-5,StringFormat("row %d",i));
     }
  }

// Raw prices into the class are normalised prices into the plain model.
void TestScaler()
  {
   CLstm plain;
   CLstmScaled scaled;
   vectorf waves;
   float normal=0,price=0;
   Waves(waves,120);
   Expect(plain.Predict(waves,normal),"normalised");
   const vectorf prices=waves*0.02f+1.1f;
   Expect(scaled.Predict(prices,price),"raw");
   Expect(MathAbs(price-(normal*0.02+1.1))<1e-5,StringFormat("%.7f is %.7f",price,normal*0.02+1.1));
  }

void TestSizes()
  {
   CBlocks model;
   vectorf x,y;
   Waves(x,20);
   Expect(!model.Predict(x,y) && Says(model.Error(),"call SetSizes() first"),model.Error());
   Expect(!model.SetSizes(0) && Says(model.Error(),"seq must be 1 to"),model.Error());
   Expect(!model.SetSizes(10) && Says(model.Error(),"does not hold"),model.Error());
   CCnnSizes image;
   Expect(!image.SetSizes(65536,65536) && Says(image.Error(),"x would have 4294967296 entries"),image.Error());
   Expect(model.SetSizes(20) && model.Predict(x,y) && y.Size()==20,"twenty");
   Expect(!model.SetSizes(10) && model.Predict(x,y) && y.Size()==20,"what is refused changes nothing");
   Expect(model.SelfTest() && model.Predict(x,y) && y.Size()==20,"a test changes nothing");
   Waves(x,8);
   Expect(!model.Predict(x,y) && Says(model.Error(),"x has 8 entries, the model takes 20"),model.Error());
   Expect(model.SetSizes(8) && model.Predict(x,y) && y.Size()==8,"eight");
   matrixf rows(1,8),result;
   Expect(model.Predict(rows,result) && result.Rows()==2 && result.Cols()==4,"rows of the output follow the length");
  }

void TestMistakes()
  {
   CLstm model;
   vectorf x,y;
   float few[3],many[2];
   Waves(x,119);
   Expect(!model.Predict(x,y) && Says(model.Error(),"input has 119 entries, the model takes 120"),model.Error());
   float closes[120];
   Expect(!model.Predict(few,many),"too few");
   Expect(!model.Predict(closes,many) && Says(model.Error(),"output has 2 entries"),model.Error());
   CTable table;
   long wrong[6]={0,1,2,3,0,0};
   float rows[];
   Expect(!table.Predict(wrong,rows) && Says(table.Error(),"OnnxRun: error 5803 ERR_ONNX_RUN_FAILED"),table.Error());
   Expect(Says(CLstm::ErrorText(5808),"ERR_ONNX_WRONG_DIMENSION") && Says(CLstm::ErrorText(4024),"ERR_INVALID_HANDLE"),
          "names of errors");
   for(int code=5800; code<=5808; code++)
      Expect(Says(CLstm::ErrorText(code),"ERR_ONNX_"),"a name for "+IntegerToString(code));
  }

// Each copy releases a handle of its own.
void TestCopies()
  {
   vectorf x;
   float first=0,second=0;
   Waves(x,120);
   CLstm model;
   Expect(model.Predict(x,first),"the first");
     {
      CLstm copy(model);
      CLstm assigned;
      Expect(assigned.Predict(x,second) && second==first,"before");
      assigned=model;
      Expect(copy.Predict(x,second) && second==first,"a copy");
      Expect(assigned.Predict(x,second) && second==first,"assigned");
     }
   Expect(model.Predict(x,second) && second==first,"after the copies are gone");
   model.Release();
   model.Release();
   Expect(model.Predict(x,second) && second==first,"loaded again");
  }

// A test that cannot fail would be none.
void TestControls()
  {
   CExchanged exchanged;
   CForged forged;
   Expect(!exchanged.SelfTest() && Says(exchanged.Error(),"was made for") && Says(exchanged.Error(),"SHA-256"),
          "another file: "+exchanged.Error());
   Expect(!forged.SelfTest() && Says(forged.Error(),"does not give the stored output"),
          "other weights: "+forged.Error());
  }
