"""Bad habits of the stub of Codex: ways to die, to ask, and not to listen."""

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.doubles.codex import Server


class Habits:
    """None: it does as the program does."""

    deaf = False
    """True if it continues when interrupted."""
    times_asked = 1

    def at_start(self, server: "Server") -> None:
        """The process runs."""

    def at_end(self, server: "Server") -> None:
        """Stdin is closed."""

    def after_initialize(self, server: "Server") -> None:
        """The client has introduced itself."""

    def after_question(self, server: "Server") -> None:
        """The server has asked a question."""

    def after_turn(self, server: "Server", status: str) -> None:
        pass

    def output(self, text: str) -> str:
        return text


class DiesInHandshake(Habits):
    """Dies between its introduction and its thread."""

    def after_initialize(self, server: "Server") -> None:
        """Die."""
        sys.stderr.write("\x1b[31mERROR\x1b[0m cannot open the database of sessions\n")
        sys.stderr.flush()
        os._exit(3)


class Silent(Habits):
    """Reads, and says nothing."""

    def at_start(self, server: "Server") -> None:
        """Say nothing."""
        sys.stdin.read()
        time.sleep(600)


class Noisy(Habits):
    """Prints text that is not a message, and messages of unknown kinds."""

    def at_start(self, server: "Server") -> None:
        """Print."""
        sys.stdout.write("\x1b[33mWARN\x1b[0m noise\n{not json}\n[1, 2]\n\n")
        server.put(method="brandNew/thing", params={"a": 1})
        server.put(id="s1", method="brandNew/question", params={})


class AsksTwice(Habits):
    """Sends each question twice."""

    times_asked = 2


class AsksAndDies(Habits):
    """Dies while its question is open."""

    def after_question(self, server: "Server") -> None:
        """Die."""
        os._exit(3)


class WithdrawsQuestion(Habits):
    """Withdraws its question and continues without the tool."""

    def after_question(self, server: "Server") -> None:
        """Answer itself."""
        server.put(method="serverRequest/resolved", params={"requestId": 0})
        server._answers.put({"id": 0, "result": {"decision": "decline"}})


class AnswersAfterCancel(Habits):
    """Tells and asks on when its turn was interrupted."""

    def after_turn(self, server: "Server", status: str) -> None:
        item = {"type": "commandExecution", "id": "late", "command": "touch late"}
        server.notify("item/started", item=item)
        about = {"threadId": server.thread, "turnId": "late", "itemId": "late", **item}
        server.put(id=90, method="item/commandExecution/requestApproval", params=about)
        server.put(id=2, result={})


class Huge(Habits):
    """Tells ten megabytes in a line."""

    def output(self, text: str) -> str:
        return "x" * 10_000_000


class Stubborn(Habits):
    """Listens to no interrupt, no end of stdin, and no signal but the last."""

    deaf = True

    def at_start(self, server: "Server") -> None:
        """Be deaf."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def at_end(self, server: "Server") -> None:
        """Stay."""
        time.sleep(600)


HABITS: dict[str, Habits] = {
    "": Habits(),
    "dies in the handshake": DiesInHandshake(),
    "mute": Silent(),
    "noisy": Noisy(),
    "asks twice": AsksTwice(),
    "asks and dies": AsksAndDies(),
    "takes back": WithdrawsQuestion(),
    "answers after a cancel": AnswersAfterCancel(),
    "huge": Huge(),
    "stubborn": Stubborn(),
}
