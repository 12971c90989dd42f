"""The contract playground: a policy and a response side by side, every rule judged as one types.

A terminal screen and nothing else: it reads the two documents it was given, keeps what is typed to
itself, and writes a file only when asked to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, Footer, Input, Label, TextArea

from steelyard.cli.contract_files import (
    PLAYGROUND_DOCUMENTS,
    check_destination,
    write_file,
)
from steelyard.cli.output import to_json
from steelyard.evaluators.contract import ContractError, evaluate, load_json, validate_policy

NAMED = 8
"""Broken rules that the verdict names, so that the editors keep their place on the screen."""


class Playground(App[None]):
    """Two editors, a verdict, and a row per rule; values of the response are never repeated.

    Parameters
    ----------
    policy, response : JSON value, optional
        What the editors begin with.
    files : sequence of str, default ()
        Where they came from; a result is not exported over them.
    """

    TITLE = "steelyard contract playground"
    CSS = """
    TextArea { height: 1fr; border: round $primary; }
    #verdict { padding: 0 1; height: auto; }
    #rules { height: 12; }
    #target { display: none; }
    #target.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # What is typed is judged at once; the key is for those who expect to ask for it.
        Binding("ctrl+enter", "judge", "Judge", show=False, priority=True),
        Binding("ctrl+s", "ask_target", "Export the result", priority=True),
        Binding("escape", "dismiss_target", "Do not export", show=False),
        Binding("ctrl+q", "quit", "Close", priority=True),
    ]

    def __init__(self, policy: Any = None, response: Any = None, files: Sequence[str] = ()) -> None:
        super().__init__()
        self._files = files
        pairs = zip((policy, response), PLAYGROUND_DOCUMENTS, strict=True)
        given = [default if document is None else document for document, default in pairs]
        self._texts = [to_json(document) for document in given]
        self.result: dict[str, Any] | None = None

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        policy, response = (self._editor(text) for text in self._texts)
        policy.id, policy.border_title = "policy", "policy"
        response.id, response.border_title = "response", "response"
        with Vertical():
            yield Horizontal(policy, response)
            yield Label("", id="verdict", markup=False)
            yield DataTable(id="rules", cursor_type="none")
            yield Input(placeholder="file to write the result to; Esc: none", id="target")
        yield Footer()

    def on_mount(self) -> None:
        """Judge what the editors begin with."""
        self.query_one("#rules", DataTable).add_columns("rule", "kind", "path", "result")
        self.judge()

    def on_text_area_changed(self) -> None:
        """Judge what is there now."""
        self.judge()

    def judge(self) -> None:
        """Show every rule's result, or why there is none."""
        table = self.query_one("#rules", DataTable)
        table.clear()
        self.result = None
        try:
            policy = validate_policy(load_json(self.query_one("#policy", TextArea).text))
        except ContractError as error:
            self._say(f"The policy cannot be used: {error}")
            return
        try:
            self.result = evaluate(policy, load_json(self.query_one("#response", TextArea).text))
        except ContractError as error:
            self._say(f"The response cannot be judged: {error}")
            return
        rows = self.result["rule_results"]
        for row in rows:
            mark = "kept" if row["passed"] else row["reason_code"]
            table.add_row(row["rule_id"], row["kind"], row["path"], mark)
        self._say(_verdict(rows))

    def action_judge(self) -> None:
        """Judge again, on request."""
        self.judge()

    def action_ask_target(self) -> None:
        """Ask where the result is to be written."""
        target = self.query_one("#target", Input)
        target.add_class("asked")
        target.focus()

    def action_dismiss_target(self) -> None:
        """Write nothing."""
        target = self.query_one("#target", Input)
        target.remove_class("asked")
        target.value = ""
        self.query_one("#response", TextArea).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the result to the file that was named."""
        if self.result is None:
            self._say("There is no result to export")
            return
        try:
            check_destination(event.value, self._files, "the export")
            write_file(event.value, to_json(self.result).encode())
        except ContractError as error:
            self._say(f"Not exported: {error}")
            return
        self.action_dismiss_target()
        self._say(f"Exported to {event.value}")

    def _say(self, text: str) -> None:
        self.query_one("#verdict", Label).update(text)

    @staticmethod
    def _editor(text: str) -> TextArea:
        return TextArea(text, show_line_numbers=True, tab_behavior="indent")


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Say how many rules are kept, and which are not and why; the table has the rest of many."""
    broken = [f"{row['rule_id']}: {row['reason_code']}" for row in rows if not row["passed"]]
    kept = f"{len(rows) - len(broken)} of {len(rows)} rules kept"
    if not broken:
        return f"PASSED: {kept}"
    more = [f"{len(broken) - NAMED} more"] if len(broken) > NAMED else []
    return f"NOT PASSED: {kept}; {', '.join(broken[:NAMED] + more)}"
