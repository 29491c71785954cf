#include "format/torchscript/archive.h"

#include <algorithm>
#include <charconv>

#include "format/torchscript/storage.h"

namespace anyshape::torchscript {
namespace {

constexpr uint64_t kExtraCopies = uint64_t{1} << 28;
// Bytes of source, which becomes a hundred times as much in memory: so many for each byte of the file, and some more.
constexpr uint64_t kCodePerByte = 8, kMoreCode = uint64_t{4} << 20;

Error with_hint(tl::unexpected<Error> error, std::string hint) {
  error.value().hint = std::move(hint);
  return error.value();
}

const char* const kTrace = "torch.jit.trace(model.eval(), example).save(\"model.pt\"), or torch.export.save(...)";

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a file that is no zip archive is.
tl::unexpected<Error> not_a_zip(std::span<const std::byte> bytes) {
  const std::string_view text = as_text(bytes);
  if (text.starts_with("\x80\x02")) {
    return tl::unexpected(with_hint(
        refuse("script.legacy",
               "the file is a pickle of torch.save's old format: it holds weights or Python objects, not a program"),
        kTrace));
  }
  if (text.size() > 8 && text.substr(4, 4) == "PTMF") {
    return tl::unexpected(with_hint(
        refuse("script.layout", "the file is a mobile module in flatbuffer form, which holds bytecode and no source"),
        kTrace));
  }
  return tl::unexpected(
      with_hint(refuse("script.layout", "the file is no TorchScript archive: those are zip files"), kTrace));
}

class Archive {
 public:
  explicit Archive(const ZipReader& zip) : zip_(zip) {}

  Result<Script> read() {
    TRY_OK(find_root());
    TRY_OK(check_byteorder());
    Script script;
    TRY(script.version, version());
    TRY(script.data, pickle("data", true));
    TRY(script.constants, pickle("constants", true));
    if (zip_.find(root_ + "traced_inputs.pkl") != nullptr) {
      TRY(script.examples, pickle("traced_inputs", false));
    }
    TRY_OK(read_code(script));
    TRY_OK(check(script));
    return script;
  }

 private:
  bool has(std::string_view name) const { return zip_.find(root_ + std::string(name)) != nullptr; }

  bool has_code() const {
    return std::any_of(zip_.members().begin(), zip_.members().end(),
                       [&](const ZipMember& m) { return m.name.starts_with(root_ + "code/"); });
  }

  // The folder all members lie in, with its slash.
  Status find_root() {
    for (const ZipMember& member : zip_.members()) {
      const size_t slash = member.name.find('/');
      root_ = slash == std::string::npos ? "" : member.name.substr(0, slash + 1);
      if (has("data.pkl") || has("model.json") || has("archive_format")) break;
    }
    if (has("data.pkl") && has("constants.pkl") && has_code()) return {};
    return tl::unexpected(with_hint(other_layout(), kTrace));
  }

  tl::unexpected<Error> other_layout() const {
    if (has("archive_format") || zip_.find("serialized_exported_program.json") != nullptr) {
      return refuse("script.layout", "the file is an archive of torch.export (.pt2), not of TorchScript");
    }
    if (has("data.pkl")) {
      return refuse("script.state_dict",
                    "the file was written by torch.save: it holds weights or Python objects, not a program");
    }
    if (has("model.json")) {
      return refuse("script.layout",
                    "the file is a TorchScript archive from before PyTorch 1.1; load and save it again");
    }
    return refuse("script.layout", "the zip file is no TorchScript archive: it has no data.pkl");
  }

  Result<ZipContent> member(std::string_view name) const {
    const ZipMember* found = zip_.find(root_ + std::string(name));
    if (found == nullptr) return refuse("script.layout", "the archive has no member {}", name);
    return zip_.read(*found);
  }

  Status check_byteorder() const {
    if (!has("byteorder")) return {};
    TRY(const ZipContent content, member("byteorder"));
    if (as_text(content.bytes).starts_with("little")) return {};
    return refuse("script.byteorder", "the archive's numbers are big-endian; save it on a little-endian machine");
  }

  Result<int64_t> version() const {
    const char* name = has("version") ? "version" : ".data/version";
    if (!has(name)) return 0;
    TRY(const ZipContent content, member(name));
    const std::string_view text = as_text(content.bytes);
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  Result<Pickle> pickle(const std::string& name, bool with_bytes) {
    const std::string file = name + ".pkl";
    TRY(const ZipContent content, member(file));
    uint64_t stored = kExtraCopies;
    for (const ZipMember& m : zip_.members()) stored += m.packed;
    Storages storages(zip_, root_ + name + "/", stored);
    TensorSource source;
    if (with_bytes) source = [&](const StorageView& view) { return storages.window(view); };
    auto made = unpickle(content.bytes, source, pickle_limit(zip_.file_bytes()));
    if (!made) return at(file, std::move(made).error());
    return made;
  }

  Status read_code(Script& script) const {
    const std::string folder = root_ + "code/";
    const uint64_t most = kMoreCode + kCodePerByte * zip_.file_bytes();
    uint64_t total = 0;
    for (const ZipMember& m : zip_.members()) {
      if (!m.name.starts_with(folder) || !m.name.ends_with(".py")) continue;
      total += m.size;
      if (total > most) return refuse("script.size", "the archive's code is longer than {} bytes", most);
      TRY(const ZipContent content, zip_.read(m));
      const std::string file = m.name.substr(root_.size());
      TRY(Source source, parse_source(as_text(content.bytes), file));
      std::string module = m.name.substr(folder.size(), m.name.size() - folder.size() - 3);
      std::replace(module.begin(), module.end(), '/', '.');
      for (Class& c : source.classes) script.classes.insert_or_assign(module + "." + c.name, std::move(c));
      for (Function& f : source.functions) script.functions.insert_or_assign(module + "." + f.name, std::move(f));
    }
    return {};
  }

  static Status check(const Script& script) {
    const Pickled& root = *script.data.root;
    if (root.kind != Pickled::Kind::object) {
      return refuse("script.layout", "the archive's data.pkl holds no module");
    }
    if (script.classes.find(root.text) == script.classes.end()) {
      return refuse("script.class", "the archive has no code for the class {} of its module", root.text);
    }
    const auto kind = script.constants.root->kind;
    if (kind != Pickled::Kind::tuple && kind != Pickled::Kind::list) {
      return refuse("script.layout", "the archive's constants.pkl holds no list");
    }
    return {};
  }

  const ZipReader& zip_;
  std::string root_;
};

}  // namespace

std::vector<const Pickled*> Script::example_inputs() const {
  if (examples.root == nullptr) return {};
  const Pickled* list = examples.root->find("forward");
  if (list == nullptr || (list->kind != Pickled::Kind::list && list->kind != Pickled::Kind::tuple)) return {};
  return list->items;
}

Result<Script> read_script(const ZipFile& file) {
  if (file.zip) return Archive(*file.zip).read();
  if (file.zip.error().code == "zip.format") return not_a_zip(file.bytes());
  return tl::unexpected(file.zip.error());
}

bool is_script(const ZipReader& zip) {
  const auto any = [&](auto is_it) { return std::any_of(zip.members().begin(), zip.members().end(), is_it); };
  const bool pickled = any([](const ZipMember& m) {
    const size_t slash = m.name.find('/');
    return slash != std::string::npos && m.name.substr(slash) == "/data.pkl";
  });
  return pickled && !any([](const ZipMember& m) { return m.name.ends_with("/archive_format"); });
}

}  // namespace anyshape::torchscript
