#pragma once

// MQL5's ONNX functions for C++, under the names and with the errors they have in MetaTrader 5, so that the model code
// of an Expert Advisor compiles and is tested without a terminal. Everything an MQL5 program names is in the global
// namespace: include this in programs that test such code, and nowhere else. Link anyshape::mql5.

#include "anyshape/mql5/array.h"
#include "anyshape/mql5/functions.h"
#include "anyshape/mql5/matrix.h"
#include "anyshape/mql5/onnx.h"
#include "anyshape/mql5/string.h"
#include "anyshape/mql5/types.h"
#include "anyshape/mql5/vector.h"
