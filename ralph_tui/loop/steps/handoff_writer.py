"""The handoff of an ended session: built from evidence, saved in a file, editable by the user.

Parts that cannot be obtained are left out. The next session gets at least the objective and
references.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ralph_tui import events as ev
from ralph_tui.base.errors import NoRoomError, WorkspaceError
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.context.handoff import MAX_CHARACTERS, Handoff, Reference, handoff_text
from ralph_tui.layers.intelligence.answers import HandoffAnswer
from ralph_tui.layers.intelligence.questions import handoff_question
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.handoff_material import (
    Material,
    TreeDiff,
    build_handoff,
    last_messages,
    reword_handoff,
    session_rows,
    written_event,
)
from ralph_tui.loop.steps.model_help import ModelHelp
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.prompting import EDIT, SEND
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.waiting.ends import Ended, Late
from ralph_tui.text.terms import sender_label

LONGEST_DIFF = 200_000
"""Maximum length of the part of a diff that is searched for changed lines, in characters."""
LOOKUP_S = 10.0
"""Timeout of each lookup, in seconds: a handoff is not worth a longer wait."""

OBJECTIVE = 1200
"""Maximum length of the objective in a minimal handoff, in characters."""
TRANSCRIPT = "transcript.jsonl"

T = TypeVar("T")


class HandoffWriter(Step):
    """Writes the handoff from one session to the next."""

    def __init__(
        self, run: Run, asker: QuestionAsker, checkpoints: Checkpoints, models: ModelHelp
    ) -> None:
        super().__init__(run)
        self._records = run.ports.records
        self._workspace = run.ports.workspace
        self._rules = run.settings.context
        self._asker = asker
        self._checkpoints = checkpoints
        self._models = models
        self._copies_fail = False

    def write_handoff(self, began: ev.RolloverBegan, snapshot: int | None) -> None:
        """Write the handoff of the session that has just ended, and let the user edit it."""
        event, text = self.guarded(
            "context",
            lambda: self._build(began, snapshot),
            lambda: self._minimal(began, snapshot),
            instead="the handoff has only the objective and references",
        )
        written = self._save(event, text)
        self.ask(written, text)

    # evidence ---------------------------------------------------------------------------------

    def _build(
        self, began: ev.RolloverBegan, snapshot: int | None
    ) -> tuple[ev.HandoffWritten, str]:
        handoff, diff = self._gather(began, snapshot)
        handoff = self._reword(began.iteration, handoff, diff)
        event, text = written_event(handoff, began, snapshot, self._state), handoff_text(handoff)
        if not isinstance(event, ev.HandoffWritten) or not isinstance(text, str):
            raise TypeError("a handoff must be an event and text")
        if not 0 < len(text) <= MAX_CHARACTERS:
            raise ValueError(f"a handoff must have at most {MAX_CHARACTERS:,} characters")
        return event, text

    def _reword(self, k: int, handoff: Handoff, diff: str) -> Handoff:
        """Let a model, if enabled, describe the work in progress and the next step."""
        objective, said = self._run.start.objective, last_messages(session_rows(self._state))
        answer = self._models.ask(
            "handoff",
            k,
            lambda: handoff_question(objective, handoff_text(handoff), said, diff),
            HandoffAnswer,
        )
        return handoff if answer is None else reword_handoff(handoff, answer)

    def _gather(self, began: ev.RolloverBegan, snapshot: int | None) -> tuple[Handoff, str]:
        """Return the handoff and the diff of the session's changes."""
        start, latest = self._run.start, self._checkpoints.latest
        plan = self._measured("plan", self._run.ports.read_plan, None)
        since = self._find_snapshot(self._start_snapshot(began)) or latest
        until = self._find_snapshot(snapshot)
        session = TreeDiff()
        whole: tuple[FileChange, ...] = ()
        if until is not None:
            changes = self._changes(since.tree, until.tree)
            diff = self._measured(
                "lines", partial(self._workspace.excerpt, since.tree, until.tree, LONGEST_DIFF), ""
            )
            session, whole = TreeDiff(changes, diff), changes
            if since.tree != latest.tree:
                whole = self._changes(latest.tree, until.tree)
        pointers = self._references(began, since.ref, until.ref if until else "")
        found = Material(session, whole, plan, start.plan or "", pointers)
        known = build_handoff(start.objective, start.command or "", began, self._state, found)
        return known, session.diff

    def _changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        nothing: tuple[FileChange, ...] = ()
        work = partial(self._workspace.changes, since, until)
        return self._measured("changes", work, nothing)

    def _measured(self, name: str, work: Callable[[], T], fallback: T) -> T:
        try:
            return self._scheduler.run_job(name, work, LOOKUP_S)
        except (WorkspaceError, Late) as error:
            self._warn(f"the handoff lacks the {name}: {error}")
            return fallback

    def _start_snapshot(self, began: ev.RolloverBegan) -> int | None:
        """Return the snapshot from which the ended session started; None: the iteration's first."""
        before = (began.iteration, began.number - 1)
        left = self._state.context.handoffs
        return next((h.snapshot for h in left if (h.iteration, h.number) == before), None)

    def _find_snapshot(self, snapshot: int | None) -> ev.SnapshotTaken | None:
        return self._state.timeline.snapshots.get(snapshot or 0)

    def _references(self, began: ev.RolloverBegan, since: str, until: str) -> tuple[Reference, ...]:
        gate, prompt = self._state.gate.last, self._state.gate.prompt
        latest, k = self._checkpoints.latest.ref, began.iteration
        found = []
        if until:
            found.append(Reference("Changes by that session", f"git diff {since} {until}"))
        if until and since != latest:
            found.append(Reference("Changes in its iteration", f"git diff {latest} {until}"))
        paths = {
            "That session's prompt": prompt.path if prompt else "",
            "Full transcript": f"results/iter-{k:03}/{TRANSCRIPT}",
            "Latest test output": gate.log if gate else "",
        }
        found += [Reference(label, self._from_root(path)) for label, path in paths.items() if path]
        found += [
            Reference(f"Handoff {left.number} of this iteration", left.read_at)
            for left in self._state.context.handoffs
            if left.iteration == k and left.number < began.number and left.read_at
        ]
        return tuple(found)

    def _minimal(
        self, began: ev.RolloverBegan, snapshot: int | None
    ) -> tuple[ev.HandoffWritten, str]:
        """Return a minimal handoff: no lookups, and no calls to code that may have failed."""
        prompt, k = self._state.gate.prompt, began.iteration
        objective = "\n> ".join(self._run.start.objective[:OBJECTIVE].split("\n"))
        transcript = self._from_root(f"results/iter-{k:03}/{TRANSCRIPT}")
        text = (
            f"# Handoff {began.number} of iteration {k}\n\n"
            "The previous session was ended. Its work is not finished: continue from the current "
            "files, and do not restart the task.\n\n"
            "## Objective\n\n"
            f"> {objective}\n\n"
            "## References\n\n"
            f"- Full transcript: `{transcript}`\n"
        )
        if prompt is not None:
            text += f"- That session's prompt: `{self._from_root(prompt.path)}`\n"
        event = ev.HandoffWritten(
            iteration=k,
            number=began.number,
            path="",
            cause=began.cause,
            percent=began.percent,
            level=began.level,
            guidance=list(self._state.context.guidance),
            snapshot=snapshot,
        )
        return event, text

    # the file ---------------------------------------------------------------------------------

    def _save(self, event: ev.HandoffWritten, text: str) -> ev.HandoffWritten:
        """Write the handoff and record its event; empty paths if it could not be written."""
        k = event.iteration
        try:
            relative = self._write(k, f"handoff-{event.number}.md", text)
        except NoRoomError:
            raise
        except WorkspaceError as error:
            self._warn(
                f"the handoff of iteration {k} could not be saved ({error}); only the prompt "
                "describes the work in progress to the next session"
            )
            where = {"path": "", "read_at": ""}
        else:
            where = {"path": relative, "read_at": self._from_root(relative)}
        where["copy_path"] = self._copy(event, text)
        written = event.model_copy(update={**where, "characters": len(text)})
        self.record(written)
        return written

    def _write(self, k: int, name: str, text: str) -> str:
        """Write a file of the iteration; return its path in the attempt's folder."""
        path = self._scheduler.run_job(
            "handoff", lambda: self._records.write_iteration_file(k, name, text)
        )
        return self._records.relative(path)

    def _copy(self, event: ev.HandoffWritten, text: str) -> str:
        """Copy the handoff for people to read; return the copy's path, or an empty string."""
        if not self._rules.handoff_copy or self._copies_fail:
            return ""
        copy = self._run.ports.copy_handoff
        try:
            return self._scheduler.run_job("copy", lambda: copy(text, event.copy_path))
        except NoRoomError:
            raise
        except WorkspaceError as error:
            self._copies_fail = True  # reported once
            self._warn(f"the handoffs of this run are not copied: {error}")
            return ""

    def _from_root(self, path: str) -> str:
        """Return the path by which an agent opens a file in the attempt's folder."""
        whole: Path = self._records.folder / path
        root = self._workspace.root
        return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()

    # your edit --------------------------------------------------------------------------------

    def ask(self, written: ev.HandoffWritten, text: str) -> None:
        """Ask the user to send or edit the handoff; without an answer it is sent unchanged."""
        if self._run.start.mode != "attended" or not self._rules.handoff_edit_s:
            return
        answer = self._asker.ask(
            ev.QuestionAsked(
                iteration=written.iteration,
                question_id="",
                topic="handoff",
                text=f"The session of iteration {written.iteration} has ended and left this "
                "handoff for a fresh session. Send it, or edit it first?",
                proposal=text,
                options=[SEND, EDIT, ABORT],
                default="send",
            ),
            within_s=self._rules.handoff_edit_s,
            offers=True,
        )
        if answer.answer == "abort":
            self.record(ev.AbortRequested(by=answer.by))
            raise Ended("aborted", f"aborted by {sender_label(answer.by)}; the work stays as it is")
        edited = answer.text.strip()
        if edited and edited != text.strip():
            made_at = self._save_original(written, text)
            by = written.model_copy(update={"edited_by": answer.by, "made_at": made_at})
            self._save(by, f"{edited}\n")

    def _save_original(self, written: ev.HandoffWritten, text: str) -> str:
        """Save the original: an edit may drop details that the next session needs."""
        name = f"handoff-{written.number}-as-made.md"
        try:
            return self._from_root(self._write(written.iteration, name, text))
        except NoRoomError:
            raise
        except WorkspaceError:  # already reported for the handoff itself
            return ""

    def _warn(self, text: str) -> None:
        self.record(ev.Noticed(level="warn", source="context", text=text))
