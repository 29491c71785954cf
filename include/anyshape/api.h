#pragma once

// Marks what libanyshape.so exports; everything else is hidden.
#define ANYSHAPE_API __attribute__((visibility("default")))
