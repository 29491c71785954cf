#include "engine.h"
#include "run/ort/find.h"
#include "run/ort/value.h"

namespace anyshape::bench {
namespace {

using namespace ort;
using LibraryPtr = std::shared_ptr<const Library>;

Result<LibraryPtr> load_library() {
  OrtPlaces places = ort_places({});
  places.prefixes.insert(places.prefixes.begin(), "build/venv");
  TRY(const auto file, find_ort_library(places));
  return Library::load(file);
}

struct OrtModel {
  LibraryPtr library;
  SessionObject* session = nullptr;
  std::vector<std::string> outputs;

  ~OrtModel() {
    if (session != nullptr) library->functions().release_session(session);
  }
  Status open(const File& model, int threads);
  Status read_outputs();
};

Status OrtModel::open(const File& model, int threads) {
  TRY(library, load_library());
  const Functions& f = library->functions();
  Options* options = nullptr;
  TRY_OK(library->check(f.create_options(&options)));
  const std::unique_ptr<Options, void (*)(Options*)> owner(options, f.release_options);
  TRY_OK(library->check(f.set_threads(options, threads)));
  TRY_OK(library->check(f.create_session(library->env(), model.c_str(), options, &session)));
  return read_outputs();
}

Status OrtModel::read_outputs() {
  const Functions& f = library->functions();
  size_t count = 0;
  TRY_OK(library->check(f.output_count(session, &count)));
  for (size_t i = 0; i < count; ++i) {
    char* text = nullptr;
    TRY_OK(library->check(f.output_name(session, i, library->allocator(), &text)));
    outputs.emplace_back(text);
    TRY_OK(library->check(f.free(library->allocator(), text)));
  }
  return {};
}

class OrtRunner : public Runner {
 public:
  explicit OrtRunner(std::shared_ptr<const OrtModel> model) : model_(std::move(model)) {
    for (const std::string& name : model_->outputs) output_names_.push_back(name.c_str());
  }

  Status bind(const Feed& feed) override {
    held_.clear(), made_.clear(), names_.clear(), given_.clear();
    for (const auto& [name, value] : feed) {
      TRY(ValuePtr converted, to_ort(model_->library, value.datum(), value.type()));
      names_.push_back(name.c_str());
      given_.push_back(converted.get());
      held_.push_back(std::move(converted));
    }
    results_.assign(output_names_.size(), nullptr);
    TRY_OK(run());
    for (Value* value : results_) made_.push_back(own(model_->library, value, model_));
    return {};
  }
  Status run() override {
    const Library& library = *model_->library;
    return library.check(library.functions().run(model_->session, nullptr, names_.data(), given_.data(), given_.size(),
                                                 output_names_.data(), output_names_.size(), results_.data()));
  }
  Result<std::vector<AnyValue>> outputs() override {
    std::vector<AnyValue> out;
    for (const ValuePtr& value : made_) {
      TRY(Datum datum, from_ort(model_->library, value, DType::undefined));
      out.emplace_back(std::make_shared<Datum>(std::move(datum)));
    }
    return out;
  }
  Result<RunnerPtr> twin() override { return std::make_unique<OrtRunner>(model_); }

 private:
  std::shared_ptr<const OrtModel> model_;
  std::vector<const char*> output_names_, names_;
  std::vector<ValuePtr> held_, made_;
  std::vector<const Value*> given_;
  std::vector<Value*> results_;
};

}  // namespace

Result<std::string> onnxruntime_version() {
  TRY(const LibraryPtr library, load_library());
  return library->version();
}

Result<RunnerPtr> load_onnxruntime(const File& model, int threads) {
  auto loaded = std::make_shared<OrtModel>();
  TRY_OK(loaded->open(model, threads));
  return std::make_unique<OrtRunner>(std::move(loaded));
}

}  // namespace anyshape::bench
