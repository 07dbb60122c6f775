"""The base of all fleet events, and events of the fleet as a whole, its hosts and its accounts."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.run import Outcome
from ralph_tui.events.text import Line, Plain
from ralph_tui.fleet.plan import FLEET_SENDER, Plan, account_words, host_words
from ralph_tui.text.format import count, day_and_clock, ending, money
from ralph_tui.text.terms import WAITS, RowLevel, in_words, sender_label

__all__ = [
    "SCHEMA_VERSION",
    "AccountHeld",
    "AccountReleased",
    "BudgetReached",
    "CommandGiven",
    "FleetEvent",
    "FleetFinished",
    "FleetNoticed",
    "FleetResumed",
    "FleetStarted",
    "HostJoined",
    "HostLeaving",
    "HostLost",
    "HostRefused",
    "Reach",
    "StopAsked",
]


MARKS: dict[RowLevel, str] = {"warn": "warn    ", "critical": "failed  "}
"""Prefix of a printed line, by level."""


class FleetEvent(Event):
    """A fact about a fleet; see `Event` for the common fields. Its row has no label."""

    def line(self) -> str | None:
        row = self.row()
        return row and f"{MARKS.get(row.level, '')}{row.text}"


def said(level: RowLevel, what: str, reason: str = "") -> Row:
    """Return a row, with the reason appended if there is one."""
    return Row(level, "", f"{what}: {reason}" if reason else what)


def of_loop(level: RowLevel, loop: str, what: str, reason: str = "") -> Row:
    """Return a row about a loop; a damaged record has no loop name, so its row omits it."""
    return said(level, f"loop {loop} {what}" if loop else what, reason)


SCHEMA_VERSION = 1


_DONE = {
    "abort": "aborted {}",
    "answer": "answered the question of {}",
    "checkpoint": "asked {} for a snapshot",
    "edit_prompt": "asked {} about its next prompt",
    "extend": "changed the limits of {}",
    "guide": "gave {} guidance",
    "hold": "stopped the countdown of {}'s question",
    "instruct": "changed the standing instructions of {}",
    "learning": "changed a learning of {}",
    "permissions": "changed the permissions of {}",
    "reflect": "gave {} a reflection for the next attempt",
    "restore": "asked {} to restore a snapshot",
    "retry": "asked {} to try again",
    "rollover": "asked {} for a handoff to a fresh session",
    "unpause": "unpaused {}",
}
"""Descriptions of a user's commands to a loop, where "asked it to ..." does not fit."""


def at_mark(percent: int) -> str:
    """Describe what happens once this percentage of the budget is used."""
    return "nothing new starts" if percent < 100 else "running loops stop after their iteration"


class Reach(Fact):
    """How hosts reach the fleet's process; unchanged by a resume."""

    listen: Line = ""
    """Address at which hosts can join, ``tls://HOST:PORT``; empty if none can."""
    tls: Line = ""
    """Folder of the TLS keys."""
    trees: Line = ""
    """Folder for the clones of this process's own loops; empty for the user's state folder."""


class FleetStarted(FleetEvent):
    """The first event of every fleet's journal."""

    durable = True
    kind: Literal["fleet_started"] = "fleet_started"
    schema_version: int = SCHEMA_VERSION
    program_version: Line = ""
    fleet_id: Line
    """A UUID."""
    name: Line
    """Name on the command line, such as ``fleet-001``."""
    root: Line
    commit: Line
    """Commit that every loop begins with."""
    plan: Plan
    reach: Reach = Reach()
    unattended: bool = True
    """True if its loops apply the defaults of questions; else they wait, as background runs do."""
    pid: int = 0
    host: Line = ""

    def row(self) -> Row:
        return said("log", f"{self.name} began with {count(len(self.plan.loops), 'loop')}")


class FleetResumed(FleetEvent):
    """Another process continues a fleet whose own process was gone."""

    durable = True
    kind: Literal["fleet_resumed"] = "fleet_resumed"
    by: Line
    reach: Reach = Reach()
    unattended: bool = True
    """`reach` and `unattended` replace those of `FleetStarted`."""
    pid: int = 0
    host: Line = ""

    def row(self) -> Row:
        return said("owner", f"{sender_label(self.by)} resumed the fleet")


class HostJoined(FleetEvent):
    """A host accepts loops, for the first time or again."""

    kind: Literal["host_joined"] = "host_joined"
    host: Line
    slots: int
    """Maximum number of loops at once."""
    machine: Line = ""
    """Its name on the network."""
    home: Line = ""
    """Identifies the folder of its clones; hosts with the same `home` have the same clones."""
    version: Line = ""
    """Version of its ralph-tui."""

    def row(self) -> Row:
        return said("log", f"{host_words(self.host)} joined, {count(self.slots, 'slot')}")


class HostRefused(FleetEvent):
    """A host was not allowed to join."""

    kind: Literal["host_refused"] = "host_refused"
    host: Line
    reason: Line

    def row(self) -> Row:
        return said("warn", f"{host_words(self.host)} was rejected: {self.reason}")


class HostLeaving(FleetEvent):
    """A host stops its loops and accepts no more; `HostLost` follows."""

    kind: Literal["host_leaving"] = "host_leaving"
    host: Line
    reason: Line = ""

    def row(self) -> Row:
        return said(
            "log", f"{host_words(self.host)} is stopping its loops and leaving", self.reason
        )


class HostLost(FleetEvent):
    """The connection to a host has ended."""

    durable = True
    kind: Literal["host_lost"] = "host_lost"
    host: Line
    reason: Line = ""
    left: bool = False
    """True if the host was stopped together with its loops; else their state is unknown."""

    def row(self) -> Row:
        if self.left:
            return said("log", f"{host_words(self.host)} has left")
        return said("warn", f"{host_words(self.host)} is lost", self.reason)


class AccountHeld(FleetEvent):
    """An account is at its limit; nothing that uses it starts."""

    durable = True
    kind: Literal["account_held"] = "account_held"
    account: Line
    until: datetime | None = None
    cause: Line = ""
    """What its loops are waiting for: usage_limit, overload or outage."""
    reason: Line = ""

    def row(self) -> Row:
        return said("warn", f"{self.words(self.at)}; nothing starts on it")

    def words(self, now: datetime) -> str:
        """Describe the hold, as in ``account work is at its limit until 10:59: usage limit``."""
        cause = WAITS[self.cause].word if self.cause in WAITS else ""
        why = ", ".join(part for part in (cause, self.reason) if part)
        return f"{self.brief(now)}: {why}" if why else self.brief(now)

    def brief(self, now: datetime) -> str:
        """Like `words`, but without the reason."""
        until = f" until {day_and_clock(self.until, now)}" if self.until else ""
        condition = "at its limit" if self.cause in ("", "usage_limit") else "unavailable"
        return f"{account_words(self.account)} is {condition}{until}"


class AccountReleased(FleetEvent):
    """An account on hold is free again."""

    kind: Literal["account_released"] = "account_released"
    account: Line
    loop: Line = ""
    """The loop that probed it."""

    def row(self) -> Row:
        by = f": loop {self.loop} works" if self.loop else ""
        return said("good", f"{account_words(self.account)} is free again{by}")


class BudgetReached(FleetEvent):
    """The fleet has used this percentage of its budget."""

    durable = True
    kind: Literal["budget_reached"] = "budget_reached"
    percent: Literal[90, 100]
    spent_usd: float
    budget_usd: float

    def row(self) -> Row:
        used = f"{money(self.spent_usd)} of {money(self.budget_usd)}"
        mark = f"the fleet has used {self.percent} % of its budget, {used}: {at_mark(self.percent)}"
        return said("warn", mark)


class CommandGiven(FleetEvent):
    """The user sent a command to a loop or to the fleet."""

    kind: Literal["command_given"] = "command_given"
    loop: Line = ""
    """Empty for the fleet."""
    name: Line
    by: Line = ""
    refused: Line = ""
    """Why it was refused; empty if it was accepted."""
    run_seq: int = 0
    """Number of the first event that it caused in the loop's run; 0 without a run."""

    def row(self) -> Row | None:
        """Return None for commands that another event already reports."""
        if not self.loop and not self.refused and self.name in ("stop", "abort"):
            return None
        if self.by == FLEET_SENDER:
            return None
        whom = f"loop {self.loop}" if self.loop else "the fleet"
        who = sender_label(self.by) or "a user"
        if self.refused:
            what = f"{who} sent {whom} '{in_words(self.name)}', but it was refused"
            return said("warn", what, self.refused)
        if self.name in _DONE:
            return said("owner", f"{who} {_DONE[self.name].format(whom)}")
        return said("owner", f"{who} asked {whom} to {in_words(self.name)}")


class FleetNoticed(FleetEvent):
    """A notice for the user that changes nothing."""

    kind: Literal["fleet_noticed"] = "fleet_noticed"
    text: Plain
    level: Literal["log", "warn"] = "log"
    loop: Line = ""

    def row(self) -> Row | None:
        return said(self.level, self.text) if self.text.strip() else None


class StopAsked(FleetEvent):
    """The fleet was asked to stop, and begins nothing more."""

    durable = True
    kind: Literal["stop_asked"] = "stop_asked"
    by: Line
    now: bool = False
    """True to stop its loops at once; False to stop them after their current iteration."""
    abort: bool = False
    """True if the fleet and its loops are aborted."""

    def row(self) -> Row:
        what = "abort it" if self.abort else "stop now" if self.now else "stop"
        return said("owner", f"{sender_label(self.by)} asked the fleet to {what}")


class FleetFinished(FleetEvent):
    """The last event, unless the fleet is resumed."""

    durable = True
    kind: Literal["fleet_finished"] = "fleet_finished"
    outcome: Outcome
    reason: Line = ""
    spent_usd: float | None = None

    def row(self) -> Row:
        spent = money(self.spent_usd) if self.spent_usd is not None else ""
        also = f" ({spent})" if spent and spent not in self.reason else ""
        level: RowLevel = "good" if self.outcome == "completed" else "warn"
        return said(level, f"the fleet ended: {ending(self.outcome, self.reason)}{also}")
