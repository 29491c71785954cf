"""Reports as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ._errors import shown

_STYLE = "text-align: left; vertical-align: top"


def _cell(text: Any, tag: str = "td") -> str:
    return f'<{tag} style="{_STYLE}">{escape(shown(str(text)))}</{tag}>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Empty where there are no rows."""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    if not body:
        return ""
    return f"<table><thead><tr>{''.join(_cell(one, 'th') for one in head)}</tr></thead><tbody>{body}</tbody></table>"


def _accepted(data: Mapping[str, Any]) -> str:
    if "error" in data:
        return f"<p>It takes no shape: {escape(shown(data['error']['message']))}</p>"
    conditions = data["accepted"]["conditions"]
    if not conditions:
        return "<p>It takes every shape of these types.</p>"
    rows = [(one["text"], one["because"][0]["node"], one["because"][0]["sentence"]) for one in conditions]
    return "<p>It takes the shapes for which</p>" + table(("holds", "node", "because"), rows)


def report(data: Mapping[str, Any], inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """What check() says, as tables."""
    values = [("input", name, kind) for name, kind in inputs.items()]
    values += [("output", name, kind) for name, kind in outputs.items()]
    findings = [(one["severity"], one["rule"], one["message"], one["fix"]) for one in data.get("findings", [])]
    exact = "" if data.get("accepted", {}).get("exact", True) else "<p>It may refuse more than that.</p>"
    return (f"<p><b>{escape(shown(str(data['model'])))}</b></p>{table(('', 'name', 'type'), values)}{_accepted(data)}{exact}"
            f"{table(('severity', 'rule', 'finding', 'what to do'), findings)}")  # fmt: skip
