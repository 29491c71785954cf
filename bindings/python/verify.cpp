#include "anyshape/verify.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "limits.h"
#include "parts.h"
#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

using SizesByName = std::map<std::string, std::vector<int64_t>>;

nb::list compared_list(const std::vector<Compared>& all) {
  constexpr const char* kKinds[] = {"same", "differs", "refused"};
  nb::list out;
  for (const Compared& one : all) {
    nb::dict row;
    row["kind"] = kKinds[static_cast<size_t>(one.kind)];
    row["shapes"] = SizesByName(one.shapes.begin(), one.shapes.end());
    row["sentence"] = one.sentence;
    row["error"] = one.worst;
    out.append(row);
  }
  return out;
}

nb::list verify_models(SharedModel& self, SharedModel& other, const std::vector<SizesByName>& shapes, double relative,
                       double absolute, uint64_t seed, const std::string& engine, int threads) {
  VerifyOptions options;
  for (const SizesByName& one : shapes) options.shapes.emplace_back(one.begin(), one.end());
  options.relative = relative;
  options.absolute = absolute;
  options.seed = seed;
  options.session.engine = engine;
  options.threads = threads;
  return compared_list(with_models(self, other, [&](const Model& a, const Model& b) -> Result<std::vector<Compared>> {
    for (const Shapes& one : options.shapes)
      if (auto known = check_input_names(a, one); !known) return tl::unexpected(known.error());
    return verify(a, b, options);
  }));
}

}  // namespace

void bind_verify(nb::module_& m) {
  m.def("verify", verify_models, nb::arg("model"), nb::arg("other"), nb::arg("shapes"), nb::arg("relative"),
        nb::arg("absolute"), nb::arg("seed"), nb::arg("engine"), nb::arg("threads"),
        "Both models on the same random numbers, shape by shape.");
}

}  // namespace anyshape::python
