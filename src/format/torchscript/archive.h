#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/zip.h"
#include "format/torchscript/pickle.h"
#include "format/torchscript/source.h"

namespace anyshape::torchscript {

// A traced, scripted or frozen module as its archive holds it; nothing is interpreted but the encodings.
struct Script {
  Pickle data;                                // root: the module, an object
  Pickle constants;                           // root: a tuple or list; CONSTANTS.cN is items[N]
  Pickle examples;                            // of a traced module; root null where there are none
  std::map<std::string, Class> classes;       // by qualified name: "__torch__.torch.nn.modules.linear.Linear"
  std::map<std::string, Function> functions;  // by qualified name
  int64_t version = 0;                        // of the operators' meaning

  // The arguments of forward it was traced with, self left out: tensors without bytes, and containers of them.
  std::vector<const Pickled*> example_inputs() const;
};

// Codes: zip.*, pickle.*, script.syntax, script.legacy, script.state_dict, script.layout (another kind of file; the
// hint says how to save it again), script.byteorder, script.storage, script.class, script.size (more code than a file
// of this size has), work.*. Weights stay in the mapped file unless their strides are not row-major.
Result<Script> read_script(const ZipFile& file);

// Whether the archive holds a pickled object and is none of torch.export: a module, or what is only meant to be one.
bool is_script(const ZipReader& zip);

}  // namespace anyshape::torchscript
