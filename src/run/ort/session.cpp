#include "run/ort/session.h"

#include <algorithm>

#include "base/os/fork.h"
#include "base/utf8.h"
#include "run/ort/find.h"
#include "run/ort/value.h"
#include "run/ort/watch.h"

namespace anyshape {
namespace {

using namespace ort;
using LibraryPtr = std::shared_ptr<const Library>;

// An input or output as the model declares it.
struct Port {
  std::string name;
  int kind = kUnknown;
  DType dtype = DType::undefined;  // of a tensor, or of the tensors of a sequence
};

using TypePtr = std::unique_ptr<TypeInfo, void (*)(TypeInfo*)>;

Result<TypePtr> item_type(const LibraryPtr& library, const TypeInfo* type) {
  const Functions& f = library->functions();
  const SequenceInfo* sequence = nullptr;
  TypeInfo* item = nullptr;
  TRY_OK(library->check(f.as_sequence(type, &sequence)));
  TRY_OK(library->check(f.sequence_item_type(sequence, &item)));
  return TypePtr(item, f.release_type);
}

Status read_type(const LibraryPtr& library, const TypeInfo* type, Port& port) {
  const Functions& f = library->functions();
  TRY_OK(library->check(f.kind_of_type(type, &port.kind)));
  TypePtr item(nullptr, f.release_type);
  if (port.kind == kSequence) {
    TRY(item, item_type(library, type));
    type = item.get();
  }
  int kind = kUnknown;
  TRY_OK(library->check(f.kind_of_type(type, &kind)));
  if (kind != kTensor) return {};
  const TensorInfo* tensor = nullptr;
  int code = 0;
  TRY_OK(library->check(f.as_tensor(type, &tensor)));
  TRY_OK(library->check(f.element_type(tensor, &code)));
  port.dtype = element_dtype(code);
  return {};
}

Result<std::string> name_of(const LibraryPtr& library, const SessionObject* session, size_t i, bool input) {
  const Functions& f = library->functions();
  char* text = nullptr;
  TRY_OK(library->check((input ? f.input_name : f.output_name)(session, i, library->allocator(), &text)));
  std::string name = text;
  TRY_OK(library->check(f.free(library->allocator(), text)));
  return name;
}

Result<Port> read_port(const LibraryPtr& library, const SessionObject* session, size_t i, bool input) {
  const Functions& f = library->functions();
  Port port;
  TRY(port.name, name_of(library, session, i, input));
  TypeInfo* type = nullptr;
  TRY_OK(library->check((input ? f.input_type : f.output_type)(session, i, &type)));
  const TypePtr owner(type, f.release_type);
  TRY_OK(read_type(library, type, port));
  return port;
}

using OptionsPtr = std::unique_ptr<Options, void (*)(Options*)>;

Result<OptionsPtr> make_options(const LibraryPtr& library, const OrtOptions& wanted) {
  const Functions& f = library->functions();
  Options* options = nullptr;
  TRY_OK(library->check(f.create_options(&options)));
  OptionsPtr owner(options, f.release_options);
  if (wanted.threads > 0) TRY_OK(library->check(f.set_threads(options, wanted.threads)));
  if (!wanted.optimize) TRY_OK(library->check(f.set_optimization(options, 0)));
  if (!wanted.arena) {
    TRY_OK(library->check(f.disable_arena(options)));
    TRY_OK(library->check(f.disable_memory_pattern(options)));
  }
  return owner;
}

}  // namespace

struct OrtSession::Impl {
  LibraryPtr library;
  SessionObject* session = nullptr;
  std::vector<std::string> inputs, outputs;
  std::vector<Port> input_ports, output_ports;
  std::vector<const char*> output_names;
  std::unique_ptr<Watcher> watcher;
  uint64_t fork_count = anyshape::fork_count();

  // In the child of a fork threads of both would be waited for that are not there.
  bool here() const { return fork_count == anyshape::fork_count(); }

  ~Impl() {
    if (!here()) {
      static_cast<void>(watcher.release());
    } else if (session != nullptr) {
      library->functions().release_session(session);
    }
  }

  Status read_names();
  void take_inputs(const std::vector<std::pair<std::string, DType>>& wanted);
  Result<std::vector<ValuePtr>> give_inputs(std::span<const Datum> data, std::vector<const char*>& names) const;
  Result<Datum> take_output(size_t i, const ValuePtr& value) const;
};

Status OrtSession::Impl::read_names() {
  const Functions& f = library->functions();
  size_t input_count = 0, output_count = 0;
  TRY_OK(library->check(f.input_count(session, &input_count)));
  TRY_OK(library->check(f.output_count(session, &output_count)));
  for (size_t i = 0; i < input_count; ++i) {
    TRY(Port port, read_port(library, session, i, true));
    inputs.push_back(port.name);
    input_ports.push_back(std::move(port));
  }
  for (size_t i = 0; i < output_count; ++i) {
    TRY(Port port, read_port(library, session, i, false));
    outputs.push_back(port.name);
    output_ports.push_back(std::move(port));
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());
  return {};
}

void OrtSession::Impl::take_inputs(const std::vector<std::pair<std::string, DType>>& wanted) {
  std::vector<Port> ports;
  for (const auto& [name, dtype] : wanted) {
    const auto named = [&, text = std::string_view(name)](const Port& port) { return port.name == text; };
    const auto it = std::find_if(input_ports.begin(), input_ports.end(), named);
    ports.push_back(it != input_ports.end() ? *it : Port{name, kTensor, dtype});
  }
  input_ports = std::move(ports);
  inputs.clear();
  for (const Port& port : input_ports) inputs.push_back(port.name);
}

Result<std::vector<ValuePtr>> OrtSession::Impl::give_inputs(std::span<const Datum> data,
                                                            std::vector<const char*>& names) const {
  std::vector<ValuePtr> out;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!data[i]) continue;
    auto value = to_ort(library, data[i], input_ports[i].dtype);
    if (!value) return at(fmt::format("input {:?}", shortened(inputs[i])), std::move(value).error());
    names.push_back(inputs[i].c_str());
    out.push_back(*std::move(value));
  }
  return out;
}

Result<Datum> OrtSession::Impl::take_output(size_t i, const ValuePtr& value) const {
  if (value == nullptr) return Datum();
  if (output_ports[i].kind != kOptional) return from_ort(library, value, output_ports[i].dtype);
  int filled = 0;
  TRY_OK(library->check(library->functions().has_value(value.get(), &filled)));
  if (filled == 0) return Datum::empty_optional(DType::undefined);
  TRY(Datum item, from_ort(library, value, DType::undefined));
  return Datum::optional(std::move(item));
}

OrtSession::OrtSession(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
OrtSession::~OrtSession() = default;

const std::vector<std::string>& OrtSession::inputs() const { return impl_->inputs; }
const std::vector<std::string>& OrtSession::outputs() const { return impl_->outputs; }
const std::string& OrtSession::version() const { return impl_->library->version(); }
const std::filesystem::path& OrtSession::library() const { return impl_->library->path(); }

Result<std::unique_ptr<OrtSession>> OrtSession::load(const OrtOptions& options, const std::filesystem::path* path,
                                                     std::span<const std::byte> bytes) {
  TRY(const auto file, find_ort_library(ort_places(options.library)));
  auto impl = std::make_shared<Impl>();
  TRY(impl->library, Library::load(file));
  impl->watcher = std::make_unique<Watcher>(impl->library);
  TRY(const OptionsPtr made, make_options(impl->library, options));
  const Library& library = *impl->library;
  const Functions& f = library.functions();
  TRY_OK(library.check(path != nullptr ? f.create_session(library.env(), path->c_str(), made.get(), &impl->session)
                                       : f.create_session_from_bytes(library.env(), bytes.data(), bytes.size(),
                                                                     made.get(), &impl->session)));
  TRY_OK(impl->read_names());
  if (!options.inputs.empty()) impl->take_inputs(options.inputs);
  return std::unique_ptr<OrtSession>(new OrtSession(std::move(impl)));
}

Result<std::unique_ptr<OrtSession>> OrtSession::load(const OrtOptions& options, const std::filesystem::path& model) {
  auto session = load(options, &model, {});
  if (!session && session.error().place.empty() && session.error().code != "ort.library")
    return at(model.string(), std::move(session).error());
  return session;
}

Result<std::unique_ptr<OrtSession>> OrtSession::load(const OrtOptions& options, std::span<const std::byte> model) {
  return load(options, nullptr, model);
}

Result<std::vector<Datum>> OrtSession::run(std::span<const Datum> inputs, const Stop& stop) const {
  const LibraryPtr& library = impl_->library;
  if (!impl_->here())
    return usage("ort.forked", "ONNX Runtime cannot go on in the child of a fork: make the session there");
  if (inputs.size() != impl_->inputs.size())
    return usage("ort.inputs", "{} inputs were given, but the model has {}", inputs.size(), impl_->inputs.size());
  std::vector<const char*> names;
  TRY(const std::vector<ValuePtr> held, impl_->give_inputs(inputs, names));
  std::vector<const Value*> given;
  for (const ValuePtr& value : held) given.push_back(value.get());
  std::vector<Value*> made(impl_->outputs.size(), nullptr);
  Watcher::Run watched(*impl_->watcher, stop);
  TRY_OK(watched.begin());
  const Status ran =
      library->check(library->functions().run(impl_->session, watched.options(), names.data(), given.data(),
                                              given.size(), impl_->output_names.data(), made.size(), made.data()));
  const Status stopped = watched.end();
  if (!ran) return tl::unexpected(stopped ? ran.error() : stopped.error());
  std::vector<ValuePtr> values;
  for (Value* value : made) values.push_back(value != nullptr ? own(library, value, impl_) : nullptr);
  std::vector<Datum> outputs;
  for (size_t i = 0; i < values.size(); ++i) {
    auto datum = impl_->take_output(i, values[i]);
    if (!datum) return at(fmt::format("output {:?}", shortened(impl_->outputs[i])), std::move(datum).error());
    outputs.push_back(*std::move(datum));
  }
  return outputs;
}

}  // namespace anyshape
