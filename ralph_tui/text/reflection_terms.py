"""The words for reflections, which quick commands read, too."""

from collections.abc import Mapping

TRIGGERS: Mapping[str, str] = {
    "failure": "after an attempt that did not complete",
    "success": "after a success",
    "timeout": "when the limit was reached",
    "manual": "by hand",
}
"""What made somebody think about an attempt."""
