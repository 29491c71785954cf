#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/error.h"
#include "anyshape/model.h"

// A model for MetaTrader 5 as an MQL5 class that embeds it.
namespace anyshape {

struct MqhOptions {
  std::string name;                                     // of both files, without an ending: "Lstm"
  std::vector<std::pair<std::string, int64_t>> freeze;  // symbol, size
  std::optional<int64_t> batch = {};                    // rows of each call; absent: 1, or what the file says
  std::vector<std::string> allow = {};                  // "NAME:AXIS": may stay dynamic, the class sets it before a run
  // JSON that says how training normalised inputs and outputs, to be done inside of the model: docs/mql5.md. Empty: not
  // at all.
  std::string scaler = {};
};

struct MqhFiles {
  std::string text;                  // of NAME.mqh: ASCII, the same for the same model and options
  std::vector<std::byte> model;      // of NAME.onnx, which the text embeds
  std::vector<std::string> changes;  // of the model, one sentence each
};

// The class C + name and its model, brought to the target mql5, batch frozen. The class sets every shape, sizes
// containers, tells errors in words and tests itself with a stored pair of this engine. Refused: what fix() with the
// target mql5 refuses, mql5.batch, mql5.rank, mql5.type, mql5.output-size, mql5.pair,
// mql5.random, mql5.scaler. Usage errors:
// mql5.name, mql5.batch, and those of fix().
ANYSHAPE_API Result<MqhFiles> make_mqh(const Model& model, const MqhOptions& options);

// NAME.mqh at this path and the model beside it, complete or not at all; the model is put in place first. Usage errors
// mql5.name, file.write.
ANYSHAPE_API Status write_mqh(const MqhFiles& files, const std::filesystem::path& path);

// The name of MqhOptions that belongs to a path. Usage error mql5.name: it must end in ".mqh", and be one that
// MetaTrader takes for a resource (63 characters).
ANYSHAPE_API Result<std::string> mqh_name(const std::filesystem::path& path);

// SHA-256 as 64 hexadecimal digits: what the class says of its model.
ANYSHAPE_API std::string sha256(std::span<const std::byte> bytes);

}  // namespace anyshape
