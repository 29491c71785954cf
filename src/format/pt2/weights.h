#pragma once

#include "base/zip.h"
#include "format/pt2/program.h"

namespace anyshape::pt2 {

// Adds the tensors that the configuration `config` (a member of the archive) describes; their bytes are in `folder`,
// which ends in "/". `budget`: bytes that tensors which do not lie row-major in the archive may still take.
// Codes: pt2.json, pt2.schema, pt2.weight.
Status read_weights(const ZipReader& archive, const ZipMember& config, const std::string& folder, uint64_t& budget,
                    std::map<std::string, Weight>& out);

}  // namespace anyshape::pt2
