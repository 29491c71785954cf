#include <string>

#include "run/ort/value.h"

// ONNX Runtime's C interface makes sequences of at least one item. A model of one node makes the others.
namespace anyshape::ort {
namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out += static_cast<char>(value);
}
// The two kinds of protobuf fields a model needs.
std::string number(uint32_t field, uint64_t value) { return varint(uint64_t{field} << 3U).append(varint(value)); }
std::string block(uint32_t field, std::string_view content) {
  return varint(uint64_t{field} << 3U | 2U).append(varint(content.size())).append(content);
}

std::string model_of(DType dtype) {
  const auto code = static_cast<uint64_t>(dtype);
  const std::string type = block(4, block(1, block(1, number(1, code))));
  const std::string attribute = block(1, "dtype") + number(3, code) + number(20, 2);
  const std::string node = block(2, "y") + block(4, "SequenceEmpty") + block(5, attribute);
  const std::string graph = block(1, node) + block(2, "g") + block(12, block(1, "y") + block(2, type));
  return number(1, 8) + block(7, graph) + block(8, block(1, "") + number(2, 11));
}

}  // namespace

Result<ValuePtr> make_empty_sequence(const std::shared_ptr<const Library>& library, DType dtype) {
  if (dtype == DType::undefined) return refuse("ort.value", "the element type of an empty sequence is not known");
  const Functions& f = library->functions();
  Options* options = nullptr;
  TRY_OK(library->check(f.create_options(&options)));
  const std::unique_ptr<Options, void (*)(Options*)> options_owner(options, f.release_options);
  TRY_OK(library->check(f.set_threads(options, 1)));
  const std::string model = model_of(dtype);
  SessionObject* session = nullptr;
  TRY_OK(library->check(f.create_session_from_bytes(library->env(), model.data(), model.size(), options, &session)));
  std::shared_ptr<SessionObject> owner(session, f.release_session);
  const char* name = "y";
  Value* made = nullptr;
  TRY_OK(library->check(f.run(session, nullptr, nullptr, nullptr, 0, &name, 1, &made)));
  return own(library, made, std::move(owner));
}

}  // namespace anyshape::ort
