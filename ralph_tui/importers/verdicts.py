"""Verdicts of the tool's own layers in an external run, shown as rows beside ours.

Detections get our names where we have one; levels are in capitals, like ours.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ralph_tui.events.imported import ForeignLayer, ForeignLevel, ForeignVerdict
from ralph_tui.importers.output_reader import Timed
from ralph_tui.importers.records import TOOL, Json, as_ordinal, as_texts, as_time
from ralph_tui.text.json_fields import as_list, as_map, as_number, as_text
from ralph_tui.text.sanitize import shorten

NAMES: Mapping[str, str] = {
    "deviation": "objective_deviation",
    "oscillation": "oscillating",
    "regression": "regressing",
    "stuck": "stuck",
    "resource": "resource_burn",
    "resource_burn": "resource_burn",
}
"""Our names for the tool's detections."""
LEVELS = ("log", "warn", "redirect", "pause", "abort")
MAX_ITEMS = 20
"""Maximum number of rows of one kind in an iteration."""
MAX_TEXT, MAX_DETAIL = 1000, 4000
"""Maximum length of a row's text and of its detail, in characters."""
_SEVERITIES: Mapping[str, ForeignLevel] = {
    **dict.fromkeys(("critical", "high", "emergency", "pause", "abort", "redirect"), "critical"),
    **dict.fromkeys(("medium", "warning", "warn", "error", "elevated"), "warn"),
}


def before_session(entry: Json, assessment: Json, at: datetime | None) -> list[Timed]:
    """Return the verdicts that went into the session's prompt."""
    return [
        *_assessment(assessment, at),
        *_strategy(as_map(entry.get("strategy"))),
        *_control(as_map(entry.get("controlSignals"))),
        *_validation(as_map(entry.get("preValidation"))),
    ]


def after_session(entry: Json, logged: Json) -> list[Timed]:
    """Return validation and health check; `logged` is the check in the overseer's log."""
    report = as_map(entry.get("healthReport")) or logged
    made = as_map(entry.get("interventionResult"))
    if not report and as_text(made.get("reason")):  # in other places it wraps a whole report
        report = {"interventions": [made], "timestamp": made.get("timestamp")}
    at = as_time(report.get("timestamp"))
    return [
        *_tests(as_map(entry.get("postSnapshot"))),
        *_validation(as_map(entry.get("postValidation"))),
        *(_detection(found, at) for found in _as_maps(report.get("detections"))),
        *(_intervention(made, at) for made in _as_maps(report.get("interventions"))),
    ]


def _tests(snapshot: Json) -> list[Timed]:
    """Return the test results in a snapshot; the time of the test run is unknown."""
    summary = as_map(as_map(snapshot.get("tests")).get("summary"))
    passed, total = as_ordinal(summary.get("passed")), as_ordinal(summary.get("total"))
    if passed is None or not total:
        return []
    return [
        _verdict(
            "validation",
            f"test results in its snapshot: {passed} of {total} pass",
            at=as_time(snapshot.get("timestamp")),
            about="tests",
            values={name: summary.get(name) for name in ("passed", "failed", "skipped", "total")},
        )
    ]


def _detection(found: Json, at: datetime | None) -> Timed:
    about = as_text(found.get("type"))
    return _verdict(
        "oversight",
        as_text(found.get("message")) or about,
        at=at,
        severity=as_text(found.get("severity")),
        about=NAMES.get(about, about),
        detail=as_texts(found.get("recommendations")),
    )


def _intervention(made: Json, at: datetime | None) -> Timed:
    level = as_text(made.get("level")).lower()
    about = as_text(as_map(made.get("detection")).get("type"))
    return _verdict(
        "oversight",
        as_text(made.get("reason")) or level,
        at=as_time(made.get("timestamp")) or at,
        severity=level,
        act=level.upper() if level in LEVELS else level,
        about=NAMES.get(about, about),
        detail=[as_text(made.get(name)) for name in ("strategyOverride", "warning")],
    )


def _control(signals: Json) -> list[Timed]:
    if not signals:
        return []
    metrics, gains = as_map(signals.get("metrics")), as_map(signals.get("gains"))
    alarms = as_texts(as_map(signals.get("alarmSummary")).get("types"))
    advice = as_map(signals.get("recommendations"))
    action = as_text(signals.get("action"))
    parts = as_text(advice.get("message")) or action or "no description"
    named = ", ".join(NAMES.get(alarm, alarm) for alarm in alarms)
    return [
        _verdict(
            "control",
            f"{parts} (alarms: {named})" if alarms else parts,
            at=as_time(signals.get("timestamp")),
            severity=as_text(signals.get("urgency")),
            act=action,
            about=as_text(gains.get("name")),
            detail=as_texts(advice.get("alarmInterventions")),
            values={
                "signal": signals.get("controlSignal"),
                **{name: metrics.get(name) for name in ("proportional", "integral", "derivative")},
                "velocity": metrics.get("velocity"),
                **{name: gains.get(name) for name in ("kp", "ki", "kd")},
            },
        )
    ]


def _strategy(strategy: Json) -> list[Timed]:
    reasoning, approach = as_text(strategy.get("reasoning")), as_text(strategy.get("approach"))
    return (
        [
            _verdict(
                "strategy",
                reasoning or approach,
                at=as_time(as_map(strategy.get("metadata")).get("timestamp")),
                severity="warn" if approach in ("pivot", "escalate") else "",
                act=approach,
                detail=as_texts(strategy.get("priorities")),
                values={"confidence": strategy.get("confidence")},
            )
        ]
        if reasoning or approach
        else []
    )


def _assessment(assessment: Json, at: datetime | None) -> list[Timed]:
    orientation = as_map(assessment.get("orientation")) or assessment
    summary, blockers = as_text(orientation.get("summary")), as_texts(orientation.get("blockers"))
    if not summary:
        return []
    return [
        _verdict(
            "assessment",
            summary,
            at=as_time(assessment.get("timestamp")) or at,
            severity="warn" if blockers else "",
            about=as_text(orientation.get("phase")),
            detail=[*blockers, as_text(orientation.get("recommendedNextStep"))],
            values={"progress": orientation.get("estimatedProgress")},
        )
    ]


def _validation(validated: Json) -> list[Timed]:
    at = as_time(validated.get("timestamp"))
    return [
        _verdict(
            "validation",
            as_text(issue.get("message")) or as_text(issue.get("type")),
            at=at,
            severity=as_text(issue.get("severity")),
            about=as_text(issue.get("type")),
            detail=[as_text(issue.get("suggestion"))],
        )
        for issue in _as_maps(validated.get("issues"))
    ]


def reflection_rows(reflection: Json) -> list[Timed]:
    """Return the tool's reflection on an iteration."""
    content, effect = as_text(reflection.get("content")), as_text(reflection.get("effectiveness"))
    if not content:
        return []
    return [
        _verdict(
            "memory",
            content,
            at=as_time(reflection.get("timestamp")),
            about=as_text(reflection.get("type")),
            detail=[f"effectiveness: {effect}"] if effect else [],
        )
    ]


def verification_rows(status: str) -> list[Timed]:
    """Return the tool's verification of an iteration."""
    severity = "warn" if status == "failed" else ""
    advice = f"verification: {status}"
    return (
        [_verdict("validation", advice, severity=severity, about="verification")] if status else []
    )


def selection_rows(iteration: object, why: str) -> list[Timed]:
    """Return the tool's choice of the best iteration."""
    number = as_number(iteration)
    if number is None or number < 1:
        return []
    return [_verdict("selection", f"iteration {number:g} was selected{f': {why}' if why else ''}")]


def _verdict(
    layer: ForeignLayer,
    text: str,
    *,
    at: datetime | None = None,
    severity: str = "",
    act: str = "",
    about: str = "",
    detail: Sequence[str] = (),
    values: Mapping[str, object] | None = None,
) -> Timed:
    numbers = {name: as_number(value) for name, value in (values or {}).items()}
    event = ForeignVerdict(
        iteration=0,  # set later
        tool=TOOL,
        layer=layer,
        level=_SEVERITIES.get(severity.lower(), "log"),
        act=shorten(act, 80),
        about=shorten(about, 80),
        text=shorten(text, MAX_TEXT),
        detail=shorten("\n".join(filter(None, detail[:MAX_ITEMS])), MAX_DETAIL),
        values={name: number for name, number in numbers.items() if number is not None},
    )
    return event, at


def _as_maps(value: object) -> list[Json]:
    return [each for each in map(as_map, as_list(value)) if each][:MAX_ITEMS]
