#ifndef SHAPES_MQH
#define SHAPES_MQH

enum ENUM_KIND { KIND_LINE, KIND_CIRCLE=5 };

class CShape
  {
protected:
   double            m_sizes[];
   ENUM_KIND         m_kind;

public:
                     CShape(const ENUM_KIND kind=KIND_LINE) : m_kind(kind) {}
   virtual          ~CShape(void) {}
   virtual double    Area(void) const { return(0); }
   ENUM_KIND         Kind(void) const { return(this.m_kind); }
  };

class CCircle : public CShape
  {
public:
                     CCircle(const double radius);
   virtual double    Area(void) const override;
  };

CCircle::CCircle(const double radius) : CShape(KIND_CIRCLE)
  {
   ArrayResize(m_sizes,1);
   m_sizes[0]=radius;
  }

double CCircle::Area(void) const { return(3*m_sizes[0]*m_sizes[0]); }

#endif
