"""Plan files: checklists and stories."""

import json

from ralph_tui.layers.sensor.plan import Progress, read_plan
from tests.rows import each_row

CHECKLIST = """\
# Plan
- [x] one
- [ ] two
  * [X] two a
    1. [ ] two a i
+ [x] three
2) [ ] four
> - [x] quoted
- [] not a box
- [y] nor this
- [link](somewhere)
-[x] nor this
text - [x] nor this
```markdown
- [x] an example
~~~
- [ ] still the example
```
<!-- - [x] hidden -->
<!--
- [x] hidden too
-->
- [ ]
~~~~
- [ ] fence that never ends
~~~
"""


def test_checklist() -> None:
    assert read_plan(CHECKLIST, "PLAN.md") == Progress(done=4, total=8)


@each_row(
    ("stories", "expected"),
    [
        ({"userStories": [{"passes": True}, {"passes": False}]}, Progress(1, 2)),
        ({"stories": [{"id": 1, "passes": True}]}, Progress(1, 1)),
        ([{"passes": False}, {"passes": True}, {"id": "says nothing"}], Progress(1, 3)),
        (
            {"epics": [{"passes": False, "stories": [{"passes": True}, {"passes": True}]}]},
            Progress(2, 2),
        ),
        ({"userStories": [{"passes": "yes"}, {"passes": True}]}, Progress(1, 2)),
        ({"userStories": [{"passes": "yes"}]}, None),
        ({"userStories": []}, None),
        (17, None),
    ],
)
def test_stories(stories: object, expected: Progress | None) -> None:
    assert read_plan(json.dumps(stories), "prd.json") == expected


@each_row("text", ["", "{", "[" * 100_000, "null", "- [x] markdown"])
def test_garbage_is_no_plan(text: str) -> None:
    assert read_plan(text, "PRD.JSON") is None


def test_text_without_boxes_is_no_plan() -> None:
    assert read_plan("# All done\n\nNothing [x] to do.\n", "todo.md") is None


NESTED = """\
- [x] Log in
  - [x] form
- [ ] OAuth callback
    - [x] validate the token
\t- [ ] parse the URL
      - [ ] decode it
- [ ] Log out
  - [ ] button
"""


def test_the_parts_of_the_open_item_are_indented_below_it() -> None:
    plan = read_plan(NESTED, "PLAN.md")
    assert plan is not None
    assert plan.open_parts() == (
        ("validate the token", True), ("parse the URL", False), ("decode it", False)
    )  # fmt: skip
    flat = read_plan("- [ ] a\n- [ ] b\n", "PLAN.md")
    assert flat is not None
    assert flat.open_parts() == ()
