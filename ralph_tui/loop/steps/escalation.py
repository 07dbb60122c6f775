"""Notify people who are away from the screen: one event per reason, passed to the channels."""

from collections.abc import Sequence
from uuid import uuid4

from ralph_tui.events import EscalationRaised
from ralph_tui.events.oversight import Concern, Detected, EscalationLevel, Subject
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step

DELIVERY_S = 3.0
"""Seconds to wait for delivery; a later delivery is not recorded in this journal."""


class Escalation(Step):
    """Records each escalation and passes it to `Outreach`; decides nothing itself."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._outreach = run.ports.outreach
        self._start = run.start

    def __call__(
        self,
        iteration: int,
        level: EscalationLevel,
        about: Subject | None,
        reason: str,
        recommendations: Sequence[str] = (),
        severity: Concern | None = None,
        detections: Sequence[Detected] = (),
    ) -> None:
        """Record an escalation, then send it; pass None as `about` for an unanswered question."""
        strategy, report = self._state.intelligence.strategy, self._state.agent.report
        escalation = EscalationRaised(
            iteration=iteration,
            escalation_id=str(uuid4()),
            level=level,
            about=about or "question",
            reason=reason,
            recommendations=list(recommendations),
            severity=severity,
            detections=list(detections),
            strategy=strategy.approach if strategy else "",
            blockers=report.blockers if report else [],
        )
        self.record(escalation)
        self._send(escalation)

    def resend(self) -> None:
        """Resend escalations that an earlier process may not have delivered."""
        if self._outreach.enabled:
            for undelivered in list(self._state.oversight.undelivered.values()):
                self._send(undelivered)

    def _send(self, escalation: EscalationRaised) -> None:
        self.guarded(
            "outreach",
            lambda: self._outreach.send(escalation, self._start),
            lambda: None,
            instead="no notification is sent",
        )

    def wait_for_delivery(self) -> None:
        """Wait briefly, before the last event, for confirmation that people were notified."""
        clock = self._scheduler.host.clock
        end = clock.monotonic() + DELIVERY_S
        if self._outreach.enabled:
            self._scheduler.wait_until(
                lambda: not self._state.oversight.undelivered or clock.monotonic() >= end
            )
