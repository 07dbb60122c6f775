"""The rows of `table`: runners whose reports are a few lines of a fixed form.

To add one, record real outputs in ``tests/fixtures/outputs`` and describe their lines. A row
without `begin` needs a `total` that no test prints by chance.
"""

from ralph_tui.layers.sensor.runners.table import Format, any_of

FORMATS = (
    Format(
        "RSpec",
        begin=r"Finished in .+ \(files took .+ to load\)",
        total=r"(\d+ examples?, \d+ failures?(?:, .+)?)",
        listing=r"Failed examples:",
        failing=r"rspec \S.*?(?::\d+|\[[\d:]+\]) # (.+)",
        broken=r"(An error occurred while loading .+?)\.?(?: - Did you mean\?)?",
        errors="beside",
    ),
    Format(
        "minitest",
        begin=r"# Running:",
        total=r"(\d+ runs, \d+ assertions, \d+ failures, \d+ errors, \d+ skips)",
        listing=r"(?: +\d+\) )?(?:(Failure|Error)|Skipped):",
        failing=r"(\S.*?#\S.*?)(?: \[\S+:\d+\])?:",
        one_below=True,
    ),
    Format(
        "test-unit",
        begin=r"Started",
        total=r"(\d+ tests, \d+ assertions, \d+ failures, .+, \d+ omissions, \d+ notifications)",
        failing=r"(?:Failure|Error): (test.*?\([\w:]+\))(?::.*)?",
    ),
    Format(
        "PHPUnit",
        begin=r"PHPUnit \d\S* by Sebastian Bergmann and contributors\.",
        total=r"OK \((\d+ tests?), \d+ assertions?\)|(Tests: \d+, Assertions: \d+.*\.)"
        r"|No tests executed!",
        listing=r"There (?:was|were) \d+ (?:(failure|error)s?|.+):",
        failing=r"\d+\) ([\w\\]+::.+)",
    ),
    Format(
        "Pest",
        total=r"  Tests:  +(\d.+) \(\d+ assertions?\)",
        failing=r" {2,3}FAILED  (\S.*?)(?: {3,}\S+)?",
    ),
    Format(
        "Surefire",
        total=r"\[(?:INFO|WARNING|ERROR)\] (Tests run: \d+, Failures: \d+, Errors: \d+,"
        r" Skipped: \d+)",
        listing=r"\[ERROR\] (?:Failures|Errors): ",
        failing=r"\[ERROR\] +([\w.$]+?)(?:\(\S+\)|:\d+(?: .*)?)",
        broken=r"\[ERROR\] (\S+\.\w+:\[\d+,\d+\] .+|The forked VM terminated .+)",
    ),
    Format(
        "Gradle",
        total=r"(\d+ tests? completed, \d+ failed(?:, \d+ skipped)?)",
        failing=r"([\w.$]+ > \S.*) FAILED",
        part=r"(?:> Task )?(:\S*[tT]est)(?: UP-TO-DATE| FROM-CACHE)?",
        counted=r"(?:> Task )?(:\S*[tT]est) FAILED",
        broken=r"(Execution failed for task ':\S*[cC]ompile\w*'\.)",
    ),
    Format(
        "CTest",
        begin=r"Test project /.*",
        total=r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<tests>\d+)"
        r"|No tests were found!!!",
        listing=r"The following tests (?:(FAILED)|did not run):",
        failing=r"\t *\d+ - (.+) \([\w ]+\)(?: +\S.*)?",
        skipping=r"\t *\d+ - .+ \(Skipped\)(?: +\S.*)?",
    ),
    Format(
        "GoogleTest",
        begin=r"\[={10}\] \d+ tests? from \d+ test (?:suite|case)s? ran\. \(.+\)",
        total=r"\[={10}\] (?P<tests>\d+) tests? from \d+ test (?:suite|case)s? ran\. \(.+\)"
        r"|\[  PASSED  \] (?P<passed>\d+) tests?\."
        r"|\[  SKIPPED \] (?P<skipped>\d+) tests?(?:, listed below:|\.)"
        r"| *(?P<errors>\d+) FAILED TEST SUITES?"
        r"|\[  (?:SKIPPED|FAILED ) \] .+| *\d+ FAILED TESTS?",
        failing=r"\[  FAILED  \] (\S+?)(?:, where .+)?(?: \(\d+ ms\))?"
        r"|\[  FAILED  \] (.+: SetUpTestSuite) or TearDownTestSuite",
    ),
    Format(
        "Catch2",
        begin=r"={79}",
        total=r"All tests passed \(\d+ assertions? in (?P<passed>\d+) test cases?\)"
        r"|test cases: +\d+ \| (.+)|No tests ran",
    ),
    Format(
        "doctest",
        total=r"\[doctest\] test cases: +\d+ \| +(\d+ passed \| +\d+ failed \| +\d+ skipped)",
    ),
    Format(
        "ExUnit",
        begin=r"Finished in [\d.]+ seconds(?: \(.+ async, .+ sync\))?",
        total=r"((?:\d+ [a-z]+, )*\d+ failures?(?:, .+)?)",
        failing=r" +\d+\) ((?:test|doctest|property|feature) .+ \([\w.]+\)"
        r"|[\w.]+(?=: failure on setup_all callback)).*",
        broken=r"== (Compilation error in file .+) ==",
    ),
    Format(
        "EUnit",
        total=r"  (?:All )?(\d+ tests passed)\.|  (Failed: \d+\.  Skipped: \d+\.  Passed: \d+\.)"
        r"|  There were no tests to run\.",
        failing=r"(?:  )?(\w+:.*)\.\.\.\*failed\*",
        broken=r"(One or more tests were cancelled)\.",
    ),
    Format(
        "Playwright",
        begin=r"Running \d+ tests? using \d+ workers?.*",
        total=r"  (\d+ (?:passed|failed|flaky|skipped|did not run|interrupted))(?: \(.+\))?",
        listing=r"  \d+ (?:(failed)|flaky|did not run|interrupted)",
        failing=r"    (\S.*?):\d+:\d+( \u203a .*?)(?: \u2500+)?",
    ),
    Format(
        "bun",
        begin=r"bun test v\S+ \(\w+\)",
        total=r" ?(\d+ (?:pass|fail|skip|todo|errors?))",
        failing=r"(?:\(fail\)|\u2717) (\S.*?)(?: \[[\d.]+m?s\])?",
        broken=r"# (Unhandled error between tests)",
        errors="failures",
    ),
    Format(
        "deno",
        total=r"(?:ok|FAILED) \| (\d+ passed.* \| \d+ failed.*) \([\dms]+\)",
        after_blank=True,
        listing=r" (?:(FAILURES)|ERRORS) ",
        failing=r"(\S.*?)(?: => \S+:\d+:\d+| \(uncaught error\))",
        broken=r"error: (Type checking failed)\.|(\S+ \(uncaught error\))",
        errors="failures",
    ),
    Format(
        "busted",
        total=r"(\d+ success(?:es)? / \d+ failures? / \d+ errors? / \d+ pending) : .+",
        listing=r"(?:Failure|Error) -> \S+ @ \d+",
        failing=r"(\S.*)",
        one_below=True,
    ),
    Format(
        "ava",
        begin=r"  \u2500",
        total=r"  (\d+ (?:tests? (?:passed|failed|skipped|todo)|known failures?"
        r"|(?:uncaught exception|unhandled rejection)s?))",
        failing=r"  \u2718 \[fail\]: (\S.*?)(?: \(.+\))?",
        passing=r"  \u2714 (?!\[expected fail\]).+",
        broken=r"  \u2718 (\S+ exited with a non-zero exit code: \d+)",
    ),
    Format(
        "dotnet test",
        total=r"(?:Passed|Failed|Skipped)!  - (Failed: +\d+, Passed: +\d+, .+), Duration: .+"
        r"|Test summary: (total: \d+, .+), duration: .+|(Total tests: \d+\. Passed: .+)",
        failing=r"  Failed (\S.*?) \[.*s\]|      (\S.+?) \(\S+\): Error Message: .+",
        broken=r"([^\s\(]+\(\d+,\d+\): error (?:CS|FS|BC)\d+: .+?)(?: \[.+\])?",
    ),
    Format(
        "dotnet test",
        begin=r"Total tests: \d+|Test run summary: .+",
        total=r" *((?:Total tests|Passed|Failed|Skipped|total|failed|succeeded|skipped): \d+)",
        failing=r"  Failed (\S.*?) \[.*s\]|failed (\S.*?) \(.*s\)",
    ),
    Format(
        "XCTest",
        begin=r"Test Suite '(?:All|Selected) tests' started at .+",
        total=r"\t Executed (?P<tests>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?"
        r"\d+ failures? .+",
        failing=r"Test Case '(?:-\[)?(.+?)\]?' failed \(.+\)\.?",
        counts_names=True,
    ),
    Format(
        "Swift Testing",
        begin=r"\S Test run started\.",
        total=r"\S Test run with (?P<tests>\d+) tests? .*(?:passed|failed) after .+",
        failing=r"\S Test (?!run with )\"?(.+?)\"?(?: with \d+ test cases?)? failed after .+",
        skipping=r"\S Test .+ skipped(?:: .+)?\.?",
        counts_names=True,
    ),
)
"""In the order in which their names are joined."""

RELEVANT = any_of(FORMATS)
"""Pattern of the lines that match any row."""
