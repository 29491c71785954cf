// What of MQL5 is translated, each part with what it must give.
#include "parts\shapes.mqh"

#ifdef __MQL5__
#define TWICE(x) ((x)*2)
#endif

struct Point3
  {
   double            x[3];
   string            name;
                     Point3(void) { ArrayInitialize(x,1.0); name="none"; }
   double            Sum(void) const { return(x[0]+x[1]+x[2]); }
  };

template<typename T>
T Largest(const T &entries[])
  {
   T best=entries[0];
   for(int i=1; i<ArraySize(entries); i++)
      best=MathMax(best,entries[i]);
   return(best);
  }

input int InpCount=3; // changed by the test
sinput ENUM_KIND InpKind=KIND_LINE;

void OnStart()
  {
//--- arrays
   double a[],b[4]= {1,2},c=5;
   int    table[2][3]= {{1,2,3},{4,5,6}};
   float  rows[][2];
   string names[]= {"x","y" "z"};
   ArrayResize(a,2);
   a[1]=c;
   Expect(ArraySize(a)==2 && ArraySize(b)==4 && b[1]==2 && b[3]==0,"sizes");
   Expect(table[1][2]==6 && ArraySize(table)==6 && ArrayRange(table,1)==3,"two axes");
   ArrayResize(rows,5);
   Expect(ArraySize(rows)==10 && names[1]=="yz","rows and names");
   Expect(Largest(a)==5 && Largest(b)==2,"templates");
   Fill(rows,7);
   Expect(rows[4][1]==7,"arrays are passed by reference");
//--- texts and literals
   string none=NULL,empty="";
   Expect(none==NULL && empty!=NULL,"NULL is a text of its own");
   Expect("a"+"b"+(string)1+DoubleToString(0.5,1)=="ab10.5","joined");
   Expect(D'1970.01.02 00:00:01'==86401 && C'1,2,3'==0x030201 && 'A'==65,"literals");
   Expect(StringFind(__FUNCTION__,"OnStart")>=0,"the name of the function");
   const long big=5000000000;
   Expect(big*2==10000000000 && sizeof(long)==8,"long has 64 bits");
   complex z=1+2i;
   Expect(z.imag==2,"complex");
//--- vectors
   vector v= {1,2,3};
   vector<float> f(3);
   matrix<double> m=matrix::Eye(2,2);
   f.Assign(v);
   Expect(f[2]==3 && m[1][1]==1 && v.Mean()==2,"vectors");
   m[0,1]=5;
   Expect(m[0][1]==5 && table[1,0]==4,"indices of two numbers");
//--- classes and pointers
   CCircle circle(2);
   CShape *shape=GetPointer(circle);
   CShape *made[2];
   made[0]=new CCircle(3);
   made[1]=NULL;
   Expect(shape.Area()==12 && made[0].Area()==27 && CheckPointer(made[1])==POINTER_INVALID,"pointers");
   Expect(shape.Kind()==KIND_CIRCLE && EnumToString(shape.Kind())=="KIND_CIRCLE","enums");
   delete made[0];
   Point3 point;
   point.x[1]=TWICE(4);
   Expect(point.Sum()==10 && point.name=="none","structs");
   Expect(InpCount==9 && InpKind==KIND_LINE,"inputs");
   switch(InpKind)
     {
      case KIND_LINE:
         break;
      default:
         Expect(false,"switch");
     }
   ENUM_ORDER_TYPE type=WRONG_VALUE;
   Expect(type==WRONG_VALUE,"no type");
//--- an array behind an ampersand is not a parameter
   int flags[]= {1,3};
   Expect((big & flags[1])==0 && ::Later(2)==4,"declared below");
  }

void Fill(float &rows[][2],float value)
  {
   for(int i=0; i<ArrayRange(rows,0); i++)
      for(int j=0; j<2; j++)
         rows[i][j]=value;
  }

int Later(int x,int factor=2) { return(x*factor); }
