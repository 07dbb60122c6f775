"""How the lists in the two files change: staging, credits, promotions, edits. Pure.

Entries record each change, so that repeating it does nothing. A staged entry is identified by
run and id, a credit by run and iteration, and a promotion by its staged entry. Knowledge is written
before staging. After a crash in between, staging lacks a promotion, and the next promotion finds it
in the knowledge.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from operator import is_not

from ralph_tui.adapters.knowledge.entries import (
    entry_of,
    has_id,
    is_known,
    learning_of,
    runs_of,
    staged_learning,
    update_entry,
    usefulness,
    with_change,
)
from ralph_tui.adapters.knowledge.schema import Entry
from ralph_tui.events.memory import Change, Learning
from ralph_tui.layers.control.history import below
from ralph_tui.layers.memory.knowledge import (
    DEFAULTS,
    RESTED,
    START,
    is_dropped_at,
    is_same,
    merged,
    promoted,
    proven,
    with_use,
)
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.ports.knowledge import Credit, Promotion
from ralph_tui.text.sanitize import one_line

WAITING, TAKEN, GONE = "staged", "promoted", "deleted"
"""Status of a staged entry: not yet proven, part of the knowledge, or deleted by the user."""


MAX_KEPT = 2000
"""Maximum number of learnings kept; any beyond it are archived if unused for a year."""
UNUSED = timedelta(days=365)


class Ledger:
    """Copies of both lists that can be changed; the given lists stay as they are."""

    def __init__(
        self,
        learnings: Sequence[Entry],
        staged: Sequence[Entry],
        run: str,
        at: str,
        rules: MemorySettings = DEFAULTS,
    ) -> None:
        """`run` is the run that makes changes; `at` is the current time as in the files."""
        self._rules = rules
        self.learnings = learnings
        self.staged = staged
        self.run = run
        self.at = at
        self._views: dict[int, tuple[Entry, Learning]] = {}
        """Cache of learnings by entry, because making one takes longer than comparing two."""

    def stage(self, learnings: Sequence[Learning]) -> None:
        """Add each learning of this run once."""
        known = {entry["id"] for entry in self.staged if entry.get("run") == self.run}
        fresh = {one.learning_id: one for one in learnings if one.learning_id not in known}
        if fresh:
            self.staged = [*self.staged, *map(self._staged_entry, fresh.values())]

    def credit(self, given: Sequence[Credit]) -> None:
        """Count uses and successes, once each; learnings that are gone are skipped."""
        for credit in given:
            self._credit(credit)

    def rest(self, looked_up: Collection[str]) -> None:
        """Count this run, once, as one without each dropped learning that it did not look up."""
        learnings = [self._with_rest(entry, entry["id"], looked_up) for entry in self.learnings]
        if any(map(is_not, learnings, self.learnings)):
            self.learnings = learnings
        for place, entry in enumerate(self.staged):
            if entry["status"] == WAITING:
                rested = self._with_rest(entry["learning"], entry["id"], looked_up)
                self._put_staged(place, learning=rested)

    def promote(self) -> None:
        """Make everything proven part of the knowledge."""
        sources = self._sources()
        for place, entry in enumerate(self.staged):
            if entry["status"] == WAITING and (entry["id"], entry.get("run", "")) in sources:
                self._put_staged(place, status=TAKEN)
        for place in range(len(self.staged)):
            if self._is_waiting(place):
                self._promote(place)

    def archive(self) -> list[Entry]:
        """Remove and return the least useful learnings that are unused for a year, if too many.

        Pinned ones stay.
        """
        over = len(self.learnings) - MAX_KEPT
        if over <= 0:
            return []
        before = datetime.fromisoformat(self.at) - UNUSED
        unused = [entry for entry in self.learnings if is_unused(entry, before)]
        gone = sorted(unused, key=usefulness)[:over]
        ids = {entry["id"] for entry in gone}
        if gone:
            self.learnings = [entry for entry in self.learnings if entry["id"] not in ids]
        return gone

    def restage_lost(self, *, by_hand: bool) -> None:
        """Update staged entries whose promotion is missing from the knowledge just read.

        If the user has edited the file, they count as deleted; if an older backup has replaced it,
        they await promotion again.
        """
        sources, status = self._sources(), GONE if by_hand else WAITING

        def lost(entry: Entry) -> bool:
            return entry["status"] == TAKEN and (entry["id"], entry.get("run", "")) not in sources

        if any(map(lost, self.staged)):
            self.staged = [{**one, "status": status} if lost(one) else one for one in self.staged]

    def promotions(self) -> list[Promotion]:
        """Return all promotions by this run, one per staged id."""
        found: dict[str, Promotion] = {}
        for entry in self.learnings:
            for origin in entry.get("promotedFrom", ()):
                if origin["by"] == self.run and is_known(entry):
                    learning = learning_of(entry)
                    promotion = Promotion(
                        origin["id"], learning, origin["merged"], origin["because"]
                    )
                    found.setdefault(origin["id"], promotion)
        return list(found.values())

    def change(self, learning_id: str, change: Change, text: str = "") -> bool:
        """Apply a change by the user; return False if no learning has this id."""
        place = _place(self.learnings, learning_id)
        waiting = [
            number
            for number, entry in enumerate(self.staged)
            if entry["status"] == WAITING and has_id(entry, learning_id)
        ]
        if change == "delete":
            return self._delete(place, learning_id, found=place is not None or bool(waiting))
        # Users never see learnings of foreign types, because their text cannot be located.
        if place is not None and not is_known(self.learnings[place]):
            place = None
        waiting = [number for number in waiting if is_known(self.staged[number]["learning"])]
        if place is not None:
            self._put(place, with_change(self.learnings[place], change, text, self.at))
        for number in waiting:
            entry = with_change(self.staged[number]["learning"], change, text, self.at)
            self._put_staged(number, learning=entry)
        return place is not None or bool(waiting)

    def find(self, learning_id: str) -> Learning | None:
        """Return the learning as it is now, proven or else staged; None if the id is unknown."""
        for entry in self.learnings:
            if has_id(entry, learning_id) and is_known(entry):
                return learning_of(entry)
        for entry in self.staged:
            if entry["status"] == WAITING and has_id(entry, learning_id):
                return staged_learning(entry) if is_known(entry["learning"]) else None
        return None

    def _staged_entry(self, learning: Learning) -> Entry:
        return {
            "id": learning.learning_id,
            "learning": entry_of(learning, [self.run], self.at),
            "status": WAITING,
            "stagedAt": self.at,
            "run": self.run,
        }

    def _credit(self, credit: Credit) -> None:
        place = _place(self.learnings, credit.learning_id)
        if place is None:
            for number, entry in enumerate(self.staged):
                if entry["status"] == WAITING and has_id(entry, credit.learning_id):
                    self._put_staged(number, learning=self._counted(entry["learning"], credit))
                    return
            place = self._promoted_name(credit.learning_id)
        if place is not None:
            self._put(place, self._counted(self.learnings[place], credit))

    def _counted(self, entry: Entry, credit: Credit) -> Entry:
        given = entry.get("credits", {})
        iterations = given.get(self.run, [])
        if credit.iteration in iterations or not is_known(entry):
            return entry
        learning = with_use(learning_of(entry), success=credit.success)
        counted = update_entry(entry, learning, self.at)
        return {**counted, "credits": {**given, self.run: [*iterations, credit.iteration]}}

    def _with_rest(self, entry: Entry, name: str, looked_up: Collection[str]) -> Entry:
        """Return the entry, with this run added if it was dropped and not looked up."""
        rested = entry.get("restedRuns", [])
        if self.run in rested or len(rested) >= RESTED or one_line(name) in looked_up:
            return entry
        if not is_dropped_at(entry["type"], entry.get("successRate", START), self._rules):
            return entry
        return {**entry, "restedRuns": [*rested, self.run]}

    def _is_waiting(self, place: int) -> bool:
        """True if the entry may be promoted; estimates need no confidence: others confirm them."""
        entry = self.staged[place]
        learning = entry["learning"]
        if entry["status"] != WAITING or not is_known(learning):
            return False
        sure = not below(learning["confidence"], self._rules.promote_at)
        return learning["type"] == "estimate" or sure

    def _promote(self, place: int) -> None:
        """Promote this entry and all equivalent ones if together they are proven."""
        entry = self.staged[place]
        first = self._view(entry["learning"], entry)
        places = [place] + [
            number
            for number in range(len(self.staged))
            if number != place and self._is_waiting(number) and self._matches(number, entry, first)
        ]
        members = [self.staged[number] for number in places]
        runs = {member.get("run", "") for member in members}
        learning = first
        for member in members[1:]:
            learning = merged(learning, self._view(member["learning"], member))
        learning = learning.model_copy(update={"runs": len(runs)})
        because = proven(learning, self._rules)
        # Another run's entry was already compared with the knowledge when that run promoted.
        if not because and entry.get("run") != self.run:
            return
        target = self._find_same(entry["id"], first)
        known = self.learnings[target] if target is not None else None
        if known is not None:
            learning = merged(learning_of(known), learning)
            learning = learning.model_copy(update={"runs": len(runs | runs_of(known))})
            because = proven(learning, self._rules)
        if not because:
            return
        base = known if known is not None else {**entry["learning"], "id": entry["id"]}
        made = update_entry(base, promoted(learning), self.at)
        made = self._with_origins(made, members, because, fresh=known is None)
        if target is None:
            self.learnings = [*self.learnings, made]
        else:
            self._put(target, made)
        for number in places:
            self._put_staged(number, status=TAKEN)

    def _matches(self, number: int, entry: Entry, learning: Learning) -> bool:
        other = self.staged[number]
        return other["id"] == entry["id"] or is_same(self._view(other["learning"], other), learning)

    def _with_origins(
        self, entry: Entry, members: Sequence[Entry], because: str, *, fresh: bool
    ) -> Entry:
        """Add the runs, credits and origins of members; a `fresh` entry was made from the first."""
        loops, given = list(entry.get("sourceLoops", [])), dict(entry.get("credits", {}))
        origins = list(entry.get("promotedFrom", []))
        for number, member in enumerate(members):
            learning, joined = member["learning"], not fresh or number > 0
            loops += [run for run in learning.get("sourceLoops", []) if run not in loops]
            for run, iterations in learning.get("credits", {}).items():
                given[run] = sorted({*given.get(run, []), *iterations})
            source = {"id": member["id"], "run": member.get("run", ""), "by": self.run}
            origins.append({**source, "because": because, "merged": joined})
        entry = {
            **entry,
            "sourceLoops": loops,
            "useCount": entry.get("useCount", 0) + len(members) - fresh,
            "promotedFrom": origins,
        }
        return {**entry, "credits": given} if given else entry

    def _find_same(self, learning_id: str, learning: Learning) -> int | None:
        """Return the position of the known learning to merge this one into, or None."""
        for number, entry in enumerate(self.learnings):
            if entry["type"] != learning.type:
                continue
            if entry["id"] == learning_id or is_same(self._view(entry), learning):
                return number
        return None

    def _view(self, entry: Entry, staged: Entry | None = None) -> Learning:
        known = self._views.get(id(entry))
        if known is None:
            learning = learning_of(entry) if staged is None else staged_learning(staged)
            known = self._views[id(entry)] = entry, learning
        return known[1]

    def _sources(self) -> set[tuple[str, str]]:
        """Return the staged entries from which the knowledge was made, by id and run."""
        origins = (one for entry in self.learnings for one in entry.get("promotedFrom", ()))
        return {(one["id"], one["run"]) for one in origins}

    def _promoted_name(self, staged_id: str) -> int | None:
        for number, entry in enumerate(self.learnings):
            if any(has_id(one, staged_id) for one in entry.get("promotedFrom", ())):
                return number
        return None

    def _delete(self, place: int | None, learning_id: str, *, found: bool) -> bool:
        gone = {learning_id}
        if place is not None:
            gone |= {one["id"] for one in self.learnings[place].get("promotedFrom", ())}
            self.learnings = [*self.learnings[:place], *self.learnings[place + 1 :]]
        for number, entry in enumerate(self.staged):
            if any(has_id(entry, name) for name in gone):
                found = True  # it has already been deleted
                self._put_staged(number, status=GONE)
        return found

    def _put(self, place: int, entry: Entry) -> None:
        if entry is not self.learnings[place]:
            self.learnings = [*self.learnings[:place], entry, *self.learnings[place + 1 :]]

    def _put_staged(self, place: int, **fields: object) -> None:
        entry = {**self.staged[place], **fields}
        if entry != self.staged[place]:
            self.staged = [*self.staged[:place], entry, *self.staged[place + 1 :]]


def is_unused(entry: Entry, before: datetime) -> bool:
    """True if nothing has changed this learning since `before`, and it is not pinned."""
    if not is_known(entry) or entry.get("pinned"):
        return False
    try:
        changed = datetime.fromisoformat(str(entry.get("updatedAt")))
    except ValueError:
        return False
    return changed.tzinfo is not None and changed < before


def _place(entries: Sequence[Entry], learning_id: str) -> int | None:
    for number, entry in enumerate(entries):
        if has_id(entry, learning_id):
            return number
    return None
