#include <fmt/format.h>

#include <algorithm>

#include "anyshape/report.h"
#include "base/json.h"
#include "base/printable.h"
#include "check/lint.h"

namespace anyshape {
namespace {

std::string_view level(Severity severity) { return severity == Severity::info ? "note" : name(severity); }

// A path as a relative reference: everything that is no plain character of a path percent-encoded.
std::string uri(std::string_view path) {
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (byte < 0x80 && std::isalnum(byte)) || std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(byte));
  }
  return out;
}

void write_rules(JsonWriter& out) {
  out.key("rules").begin_array();
  for (const LintRule& rule : lint_rules()) {
    out.begin_object().key("id").text(rule.info.id);
    out.key("shortDescription").begin_object().key("text").text(rule.info.sentence).end_object();
    out.key("defaultConfiguration").begin_object().key("level").text(level(rule.info.severity)).end_object();
    out.end_object();
  }
  out.end_array();
}

void write_result(JsonWriter& out, std::string_view file, std::string_view rule, std::string_view severity,
                  std::string_view node, std::string_view message) {
  out.begin_object().key("ruleId").text(rule).key("level").text(severity);
  out.key("message").begin_object().key("text").text(printable(message)).end_object();
  out.key("locations").begin_array().begin_object();
  out.key("physicalLocation").begin_object().key("artifactLocation").begin_object();
  out.key("uri").text(uri(file)).end_object();
  // A binary file has no lines, but code hosts show nothing without one.
  out.key("region").begin_object().key("startLine").number(1).end_object().end_object();
  if (!node.empty()) {
    out.key("logicalLocations").begin_array().begin_object();
    out.key("name").text(node).key("kind").text("member").end_object().end_array();
  }
  out.end_object().end_array().end_object();
}

void write_proof(JsonWriter& out, std::string_view file, std::string_view question, const std::optional<Proof>& proof) {
  if (!proof || proof->kind == Proof::Kind::proved) return;
  const std::string text = proof->kind == Proof::Kind::unproved
                               ? fmt::format("not proved: {}", proof->why)
                               : fmt::format("{} is refused: {}", to_text(proof->shapes), proof->answer.sentence);
  write_result(out, file, question, "error", proof->answer.place, text);
}

void write_results(JsonWriter& out, const Report& report) {
  if (report.error)
    write_result(out, report.model, report.error->code, "error", report.error->place, report.error->message);
  for (const ShapeAnswer& entry : report.answers)
    if (entry.answer.kind != Answer::Kind::accept)
      write_result(out, report.model, entry.answer.code, "error", entry.answer.place,
                   fmt::format("{}: {}", to_text(entry.shapes), entry.answer.sentence));
  write_proof(out, report.model, "check.require", report.require);
  write_proof(out, report.model, "check.against", report.against);
  for (const Finding& finding : report.findings)
    write_result(out, report.model, finding.rule, level(finding.severity), finding.node,
                 finding.fix.empty() ? finding.message : fmt::format("{}. Fix: {}", finding.message, finding.fix));
}

}  // namespace

std::string to_sarif(const std::vector<Report>& reports) {
  JsonWriter out;
  out.begin_object();
  out.key("$schema").text("https://json.schemastore.org/sarif-2.1.0.json").key("version").text("2.1.0");
  out.key("runs").begin_array().begin_object();
  out.key("tool").begin_object().key("driver").begin_object().key("name").text("anyshape");
  write_rules(out);
  out.end_object().end_object();
  out.key("results").begin_array();
  for (const Report& report : reports) write_results(out, report);
  out.end_array();
  out.end_object().end_array().end_object();
  return out.take();
}

}  // namespace anyshape
