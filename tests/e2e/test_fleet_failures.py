"""Failures in a whole fleet: processes that die, freeze or refuse, on the loopback.

Each test ends with `WholeFleet.check`: every mirror equals its loop's journal without a gap, a loop
never has two sessions at once, every branch exists, and no process is left.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import Owner
from tests.fleet_programs import TcpForwarder
from tests.fleets import HOSTS, IMPATIENT, OLDER, SLOW_S, WholeFleet, agent_script
from tests.hosted import committed, git
from tests.processes import state_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(
    "RALPH_TEST_FAILURES" not in os.environ, reason="minutes of real processes: make failures"
)
"""Tests of hosts, dispatch and `fleet` already cover most of this in isolation."""


@pytest.fixture
def whole(tmp_path: Path, git_repo: Path) -> Iterator[WholeFleet]:
    with closing(WholeFleet(tmp_path, committed(git_repo))) as whole:
        yield whole


def test_a_loop_whose_process_is_killed_goes_on_in_its_tree(whole: WholeFleet) -> None:
    whole.start(whole.plan(agent_script(whole), agent_script(whole)), "--agents", "2")
    whole.wait_for_sessions("1", "2")
    tree = whole.tree_of("1")
    os.kill(Owner.read(tree / ".aiwg/ralph/lock").pid, signal.SIGKILL)
    whole.wait_for_sessions("1", number=2)
    whole.let_work("1", "2")
    assert whole.ended() == 0
    assert whole.count("loop_placed", loop="1", resumed=True) == 1
    assert whole.sessions_begun("1") == [str(tree)] * 2
    assert len(whole.sessions_begun("2")) == 1
    whole.check("1", "2")


def test_what_a_killed_host_ran_goes_on_when_its_machine_is_back(whole: WholeFleet) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 3), *whole.listening)
    whole.join(*HOSTS)
    whole.wait_for_sessions("1", "2", "3")
    host, tree = whole.host_of("1"), whole.tree_of("1")
    whole.kill(host)
    whole.wait("loop_lost", loop="1")
    until(lambda: not whole.alive(below=whole.folder / host))
    whole.let_work("2", "3")
    whole.join(host)
    whole.wait_for_sessions("1", number=2)
    whole.let_work("1")
    assert whole.ended() == 0
    assert whole.sessions_begun("1") == [str(tree)] * 2
    assert [whole.end(name) for name in HOSTS] == [0, 0, 0]
    whole.check("1", "2", "3")


def test_a_loop_whose_host_stays_lost_begins_anew_elsewhere(whole: WholeFleet) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 2, lease="1s"), *whole.listening)
    whole.join("one", "two")
    whole.wait_for_sessions("1", "2")
    host = whole.host_of("1")
    whole.kill(host)
    lost = whole.wait("loop_lost", loop="1")
    whole.let_work("1", "2")
    assert whole.ended() == 0
    again = whole.wait("loop_placed", loop="1", attempt=2)
    assert again["host"] == whole.host_of("2")
    assert again["at"] >= lost["until"]
    assert whole.end(again["host"]) == 0
    whole.check("1", "2")


def test_a_frozen_host_is_missed_and_its_loop_adopted_when_it_thaws(whole: WholeFleet) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 3), *whole.listening, program=IMPATIENT)
    whole.join(*HOSTS)
    whole.wait_for_sessions("1", "2", "3")
    host = whole.host_of("1")
    whole.send(host, signal.SIGSTOP)
    until(lambda: state_of(whole.processes[host].pid) == "T")
    whole.wait("loop_lost", loop="1")
    whole.let_work("1", "2", "3")
    until(lambda: (whole.tree_of("1") / "done").exists(), SLOW_S)
    whole.wait("result_collected", loop="2")
    whole.send(host, signal.SIGCONT)
    assert whole.ended() == 0
    assert whole.count("loop_adopted", loop="1", host=host) == 1
    assert [len(whole.sessions_begun(loop)) for loop in "123"] == [1, 1, 1]
    assert [whole.end(name) for name in HOSTS] == [0, 0, 0]
    whole.check("1", "2", "3")


def test_a_frozen_host_runs_nothing_beyond_its_lease_and_what_it_has_made_is_kept(
    whole: WholeFleet,
) -> None:
    whole.start(whole.plan(agent_script(whole), lease="1s"), *whole.listening, program=IMPATIENT)
    whole.join("one", "two")
    whole.wait_for_sessions("1")
    host, tree = whole.host_of("1"), whole.tree_of("1")
    (tree / "half-done").touch()
    whole.send(host, signal.SIGSTOP)
    whole.wait("loop_requeued", loop="1")
    assert state_of(whole.processes[host].pid) == "T"
    assert whole.alive(below=tree) == [], "its keeper has ended it"
    whole.wait_for_sessions("1", number=2)
    assert whole.host_of("1") != host
    whole.send(host, signal.SIGCONT)
    assert whole.wait("attempt_kept", loop="1")["branch"] == "ralph/fleet-001/1-attempt-1"
    until(lambda: not tree.exists(), SLOW_S)
    assert "half-done" in git(whole.root, "ls-tree", "--name-only", "ralph/fleet-001/1-attempt-1")
    whole.let_work("1")
    assert whole.ended() == 0
    assert [whole.end(name) for name in ("one", "two")] == [0, 0]


def test_loops_go_on_through_a_cut_and_are_adopted_without_a_gap(whole: WholeFleet) -> None:
    with closing(TcpForwarder(whole.port)) as way:
        whole.start(whole.plan(*[agent_script(whole)] * 3), *whole.listening)
        whole.join(*HOSTS, port=way.port)
        whole.wait_for_sessions("1", "2", "3")
        way.cut()
        for loop in "123":
            whole.wait("loop_lost", loop=loop)
        whole.let_work("1", "2")
        until(lambda: all((whole.tree_of(loop) / "done").exists() for loop in "12"), SLOW_S)
        way.restore()
        for loop in "123":
            whole.wait("loop_adopted", loop=loop)
        whole.let_work("3")
        assert whole.ended() == 0
    assert [len(whole.sessions_begun(loop)) for loop in "123"] == [1, 1, 1]
    assert [whole.count("loop_placed", loop=loop) for loop in "123"] == [1, 1, 1]
    assert [whole.end(name) for name in HOSTS] == [0, 0, 0]
    whole.check("1", "2", "3")


def test_beyond_its_lease_a_loop_stops_and_goes_on_when_the_cut_is_mended(
    whole: WholeFleet,
) -> None:
    with closing(TcpForwarder(whole.port)) as way:
        whole.start(whole.plan(agent_script(whole), lease="1s"), *whole.listening)
        whole.join("one", port=way.port)
        whole.wait_for_sessions("1")
        tree = whole.tree_of("1")
        way.cut()
        whole.wait("loop_lost", loop="1")
        until(lambda: not whole.alive(below=tree), SLOW_S)
        way.restore()
        whole.wait_for_sessions("1", number=2)
        whole.let_work("1")
        assert whole.ended() == 0
    assert whole.sessions_begun("1") == [str(tree)] * 2
    assert whole.end("one") == 0
    whole.check("1")


def test_nothing_outlives_a_fleet_of_one_machine_that_is_killed_and_it_goes_on(
    whole: WholeFleet,
) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 2), "--agents", "2")
    whole.wait_for_sessions("1", "2")
    whole.kill("fleet")
    until(lambda: not whole.alive())
    whole.resume("--agents", "2")
    whole.wait_for_sessions("1", "2", number=2)
    whole.let_work("1", "2")
    assert whole.ended() == 0
    for loop in "12":
        assert len({*whole.sessions_begun(loop)}) == 1
    whole.check("1", "2")


def test_loops_elsewhere_outlive_a_killed_fleet_and_are_adopted_by_its_next_process(
    whole: WholeFleet,
) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 3), *whole.listening)
    whole.join(*HOSTS)
    whole.wait_for_sessions("1", "2", "3")
    whole.kill("fleet")
    whole.let_work("1")
    until(lambda: (whole.tree_of("1") / "done").exists(), SLOW_S)
    whole.resume()  # listens where it did
    for name in HOSTS:
        whole.wait("host_joined", 2, host=name)
    whole.let_work("2", "3")
    assert whole.ended() == 0
    assert [whole.count("loop_placed", loop=loop) for loop in "123"] == [1, 1, 1]
    assert [len(whole.sessions_begun(loop)) for loop in "123"] == [1, 1, 1]
    assert [whole.end(name) for name in HOSTS] == [0, 0, 0]
    whole.check("1", "2", "3")


def test_all_of_it_asked_to_end_at_once_ends_and_can_be_resumed(whole: WholeFleet) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 3), *whole.listening)
    whole.join(*HOSTS)
    whole.wait_for_sessions("1", "2", "3")
    for name in ("fleet", *HOSTS):
        whole.send(name, signal.SIGTERM)
    assert [whole.ended(name) for name in HOSTS] == [0, 0, 0]
    whole.ended()
    until(lambda: not whole.alive())
    whole.resume()  # listens where it did
    whole.join(*HOSTS)
    whole.let_work("1", "2", "3")
    assert whole.ended() == 0
    assert [whole.end(name) for name in HOSTS] == [0, 0, 0]
    whole.check("1", "2", "3")


def test_a_failed_set_up_and_a_host_of_another_version_cost_nobody_else(whole: WholeFleet) -> None:
    setup = '[ "$RALPH_FLEET_LOOP" != 2 ] || { echo no network here >&2; exit 3; }'
    plan = whole.plan(*[agent_script(whole, waits=False)] * 2, setup=setup)
    whole.start(plan, *whole.listening)
    until(lambda: whole.count("fleet_started"), SLOW_S)
    whole.begin_host("older", program=OLDER)
    refused = whole.wait("host_refused", host="older")
    assert "0.0.1" in refused["reason"]
    assert whole.ended("older") == 1
    assert "the fleet dismissed older: it has ralph-tui 0.0.1" in whole.output_of("older")
    whole.join("one", "two")
    assert whole.ended() == 1
    failed = whole.wait("loop_ended", loop="2")
    assert failed["never_began"]
    assert "no network here" in failed["reason"]
    assert whole.sessions_begun("2") == []
    assert [whole.end(name) for name in ("one", "two")] == [0, 0]
    whole.check("1")


def test_a_full_disk_of_one_host_costs_no_loop(whole: WholeFleet) -> None:
    whole.start(whole.plan(*[agent_script(whole)] * 2), *whole.listening)
    whole.join("one")
    whole.wait_for_sessions("1")
    whole.join_on_full_disk("two")
    failed = whole.wait("loop_ended", loop="2")
    assert (failed["never_began"], failed["host"]) == (True, "two")
    assert "No space left on device" in failed["reason"]
    whole.let_work("1", "2")
    assert whole.ended() == 0
    assert whole.host_of("2") == "one"
    assert [whole.end(name) for name in ("one", "two")] == [0, 0]
    whole.check("1", "2")


def test_branches_in_conflict_are_named_and_what_the_user_does_meanwhile_stays(
    whole: WholeFleet,
) -> None:
    changes = "echo $RALPH_FLEET_LOOP >README.md; "
    whole.start(whole.plan(*[agent_script(whole, changes)] * 2, base="HEAD"), "--agents", "2")
    whole.wait_for_sessions("1", "2")
    (whole.root / "README.md").write_text("# mine\n")
    git(whole.root, "commit", "-qam", "Meanwhile")
    (whole.root / "README.md").write_text("# not even committed\n")
    before = [git(whole.root, *words) for words in (("rev-parse", "HEAD"), ("status", "-sb"))]
    again = whole.start_second()
    assert again.returncode != 0
    assert "fleet" in again.stderr
    assert len(again.stderr.strip().splitlines()) == 1
    whole.let_work("1", "2")
    assert whole.ended() == 0
    one, two = (whole.wait("result_collected", loop=loop)["branch"] for loop in "12")
    conflicts = {event["branch"]: event["others"] for event in whole.events_of("conflicts_found")}
    assert {*conflicts[one]} == {two, "HEAD"}
    assert {*conflicts[two]} == {one, "HEAD"}
    after = [git(whole.root, *words) for words in (("rev-parse", "HEAD"), ("status", "-sb"))]
    assert after == before
    assert (whole.root / "README.md").read_text() == "# not even committed\n"
    whole.check("1", "2")
