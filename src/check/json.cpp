#include "base/json.h"

#include "anyshape/report.h"

namespace anyshape {
namespace {

void write(JsonWriter& out, const ConditionText& condition);
void write(JsonWriter& out, const AssumedCondition& condition);
void write(JsonWriter& out, const RowsOf& rows);
void write(JsonWriter& out, const RowsOf::Output& output);
void write(JsonWriter& out, const Finding& finding);
void write(JsonWriter& out, const OtherSymbol& symbol);
void write(JsonWriter& out, const ShapeAnswer& entry);

void write(JsonWriter& out, const Reason& reason) {
  out.begin_object();
  out.key("node").text(reason.node).key("op").text(reason.op);
  out.key("code").text(reason.code).key("sentence").text(reason.sentence);
  out.end_object();
}

void write_dim(JsonWriter& out, const std::string& dim) {
  const bool number = !dim.empty() && dim.size() < 19 && dim.find_first_not_of("0123456789") == std::string::npos;
  if (number)
    out.number(std::stoll(dim));
  else
    out.text(dim);
}

void write(JsonWriter& out, const ValueType& value) {
  out.begin_object();
  out.key("name").text(value.name).key("type").text(value.type);
  if (!value.dtype.empty()) out.key("dtype").text(value.dtype);
  if (value.dims) {
    out.key("dims").begin_array();
    for (const std::string& dim : *value.dims) write_dim(out, dim);
    out.end_array();
  }
  out.end_object();
}

template <class T>
void write_list(JsonWriter& out, std::string_view key, const std::vector<T>& entries) {
  out.key(key).begin_array();
  for (const T& entry : entries) write(out, entry);
  out.end_array();
}

void write(JsonWriter& out, const ConditionText& condition) {
  out.begin_object();
  out.key("text").text(condition.text).key("symbols").begin_array();
  for (const std::string& symbol : condition.symbols) out.text(symbol);
  out.end_array();
  write_list(out, "because", condition.because);
  out.end_object();
}

void write(JsonWriter& out, const OtherSymbol& symbol) {
  out.begin_object();
  out.key("name").text(symbol.name).key("node").text(symbol.node).key("op").text(symbol.op);
  out.key("on_data").boolean(symbol.on_data);
  out.end_object();
}

void write(JsonWriter& out, const Accepted& accepted) {
  out.begin_object();
  out.key("exact").boolean(accepted.exact).key("never").boolean(accepted.never);
  if (accepted.largest_axis) out.key("largest_axis").number(*accepted.largest_axis);
  write_list(out, "conditions", accepted.conditions);
  write_list(out, "not_exact_because", accepted.not_exact_because);
  write_list(out, "on_data", accepted.on_data);
  write_list(out, "other_symbols", accepted.others);
  out.end_object();
}

void write(JsonWriter& out, const AssumedCondition& condition) {
  out.begin_object();
  out.key("text").text(condition.text).key("symbols").begin_object();
  for (const auto& [symbol, place] : condition.symbols) out.key(symbol).text(place);
  out.end_object().key("origin").text(condition.origin).key("binding").boolean(condition.binding);
  out.end_object();
}

void write(JsonWriter& out, const RowsOf& rows) {
  out.begin_object();
  out.key("symbol").text(rows.symbol).key("independent").boolean(rows.independent);
  if (rows.independent)
    write_list(out, "outputs", rows.outputs);
  else
    write(out.key("mixed_by"), rows.mixed_by);
  out.end_object();
}

void write(JsonWriter& out, const RowsOf::Output& output) {
  out.begin_object();
  out.key("name").text(output.name).key("axis").number(static_cast<int64_t>(output.axis));
  write_dim(out.key("entries"), output.entries);
  out.end_object();
}

void write(JsonWriter& out, const Finding& finding) {
  out.begin_object();
  out.key("rule").text(finding.rule).key("severity").text(name(finding.severity));
  out.key("node").text(finding.node).key("message").text(finding.message).key("fix").text(finding.fix);
  out.end_object();
}

void write(JsonWriter& out, const Shapes& shapes) {
  out.begin_object();
  for (const auto& [input, sizes] : shapes) {
    out.key(input).begin_array();
    for (int64_t size : sizes) out.number(size);
    out.end_array();
  }
  out.end_object();
}

std::string_view kind_name(Answer::Kind kind) {
  return kind == Answer::Kind::accept ? "accept" : kind == Answer::Kind::refuse ? "refuse" : "unknown";
}

std::string_view kind_name(Proof::Kind kind) {
  return kind == Proof::Kind::proved ? "proved" : kind == Proof::Kind::refuted ? "refuted" : "unproved";
}

void write(JsonWriter& out, const Answer& answer) {
  out.begin_object();
  out.key("answer").text(kind_name(answer.kind));
  if (answer.kind == Answer::Kind::accept) {
    write_list(out, "outputs", answer.outputs);
    write_list(out, "data_conditions", answer.data_conditions);
    if (!answer.leniencies.empty()) write_list(out, "leniencies", answer.leniencies);
  } else {
    out.key("code").text(answer.code).key("place").text(answer.place).key("sentence").text(answer.sentence);
  }
  out.end_object();
}

void write(JsonWriter& out, const ShapeAnswer& entry) {
  out.begin_object();
  write(out.key("shapes"), entry.shapes);
  write(out.key("verdict"), entry.answer);
  out.end_object();
}

void write(JsonWriter& out, const Proof& proof) {
  out.begin_object();
  out.key("answer").text(kind_name(proof.kind));
  if (proof.kind == Proof::Kind::refuted) {
    write(out.key("shapes"), proof.shapes);
    write(out.key("verdict"), proof.answer);
  }
  if (!proof.why.empty()) out.key("why").text(proof.why);
  out.end_object();
}

void write(JsonWriter& out, const Error& error) {
  out.begin_object();
  out.key("code").text(error.code).key("place").text(error.place).key("sentence").text(error.message);
  out.end_object();
}

void write(JsonWriter& out, const Report& report) {
  out.begin_object();
  out.key("version").number(1).key("model").text(report.model);
  if (report.opset) out.key("opset").number(*report.opset);
  out.key("nodes").number(report.nodes);
  write_list(out, "inputs", report.inputs);
  write_list(out, "outputs", report.outputs);
  if (!report.optional_inputs.empty()) write_list(out, "optional_inputs", report.optional_inputs);
  out.key("accepted");
  if (report.readable)
    write(out, report.accepted);
  else
    out.null();
  write_list(out, "data_conditions", report.data_conditions);
  write_list(out, "assumed", report.assumed);
  write_list(out, "rows", report.rows);
  write_list(out, "findings", report.findings);
  if (report.known_findings > 0) out.key("known_findings").number(report.known_findings);
  if (report.error) write(out.key("error"), *report.error);
  if (!report.answers.empty()) write_list(out, "answers", report.answers);
  if (report.require) write(out.key("require"), *report.require);
  if (report.against) write(out.key("against"), *report.against);
  out.end_object();
}

}  // namespace

std::string to_json(const std::vector<Report>& reports) {
  JsonWriter out;
  if (reports.size() == 1) {
    write(out, reports.front());
    return out.take();
  }
  out.begin_array();
  for (const Report& report : reports) write(out, report);
  out.end_array();
  return out.take();
}

}  // namespace anyshape
