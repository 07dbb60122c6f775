"""``ralph-tui completion``: print the shell completion script."""

import argparse
import sys

from argcomplete.shell_integration import shellcode

from ralph_tui.cli.exit_codes import ExitCode

STARTED = {
    "bash": 'eval "$(ralph-tui completion bash)"      into ~/.bashrc',
    "zsh": 'eval "$(ralph-tui completion zsh)"       into ~/.zshrc, below compinit',
    "fish": "ralph-tui completion fish | source       into ~/.config/fish/config.fish",
}
"""By shell: the line that turns completion on, and the file it belongs in."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "\n".join(
        (
            "Print the script that completes commands, options, runs and settings in your shell.",
            "Add the line for your shell to its startup file, then open a new shell:",
            "",
            *(f"  {line}" for line in STARTED.values()),
        )
    )
    parser.add_argument(
        "shell", metavar="SHELL", choices=STARTED, help=f"one of {', '.join(STARTED)}"
    )


def run(args: argparse.Namespace) -> int:
    """Print the script; on a terminal, also print how to install it."""
    print(shellcode(["ralph-tui"], shell=args.shell).strip())
    if sys.stdout.isatty():
        print(
            f"\nadd this line to the file named on the right:\n  {STARTED[args.shell]}",
            file=sys.stderr,
        )
    return ExitCode.COMPLETED
