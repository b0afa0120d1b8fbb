# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Rules about code: calls that have one place or none, globals, heads, sizes."""

import ast
import re

MAX_COLUMNS = 100
MAX_LINES, MAX_TEST_LINES, MAX_FUNCTION_LINES = 400, 600, 70

# (rule, pattern in code without comments and texts, where, files that may, what to do instead)
# Where: "all" is every C++ file, "made" the same without tests, "src" is src/ without tests,
# "calm" is src/ and tests/ with tests.
BANNED = [
    (
        "shell",
        r"(?<![\w.>])(?:system|popen)\s*\(",
        "made",
        (),
        "io/child.h starts programs without a shell",
    ),
    (
        "sleep",
        r"\bsleep_(?:for|until)\b|\b(?:usleep|nanosleep|sleep)\s*\(",
        "calm",
        (),
        "wait for what you wait for, with a limit",
    ),
    (
        "environment",
        r"\b(?:secure_)?getenv\s*\(",
        "src",
        ("src/config/",),
        "config/paths.h reads the environment",
    ),
    (
        "environment",
        r"\b(?:un)?setenv\s*\(|\bputenv\s*\(",
        "src",
        (),
        "give a child its environment instead",
    ),
    (
        "output",
        r"\bstd::(?:cout|cerr|clog)\b|\b(?:vf?|f)?printf\s*\(|\bf?puts\s*\("
        r"|\bputchar\s*\(|\bperror\s*\("
        r"|\bfmt::print\b",
        "src",
        ("src/cli/", "src/base/check.cc"),
        "only cli speaks to people",
    ),
    (
        "clock",
        r"\b(?:system|steady|high_resolution)_clock::now\b|\btime\s*\(\s*(?:NULL|nullptr|0|&)"
        r"|\bclock_gettime\s*\(|\bgettimeofday\s*\(",
        "src",
        ("src/base/clock.cc",),
        "take `now` or a base::Clock",
    ),
    (
        "thread",
        r"\bstd::j?thread\b|\bstd::async\b|\bpthread_create\b",
        "src",
        (
            "src/io/clerk.cc",
            "src/web/server.cc",
            "src/agent/pcie_sampler.cc",
            "src/agent/collector.cc",
        ),
        "one thread owns the state; a new thread needs an ADR",
    ),
    (
        "regex",
        r"\bstd::w?(?:regex|smatch|cmatch)\b",
        "all",
        (),
        "parse by hand: it is slow to compile and to run",
    ),
    (
        "coroutine",
        r"\bco_(?:await|return|yield)\b",
        "all",
        (),
        "GCC 12 miscompiles them: use callbacks",
    ),
    (
        "process",
        r"\b(?:v?fork|exec[lv]p?e?|execvpe|posix_spawnp?)\s*\(",
        "src",
        ("src/io/child.cc", "src/io/spawn.cc"),
        "io/child.h starts processes",
    ),
    (
        "dlopen",
        r"\bdlm?open\s*\(",
        "src",
        ("src/agent/nvml_library.cc",),
        "only the collector loads libraries",
    ),
]
BANNED = [(rule, re.compile(pattern), *rest) for rule, pattern, *rest in BANNED]

USING_NAMESPACE = re.compile(r"\busing\s+namespace\b")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIXM[E])\b(?!\(#\d+\))")
NOT_A_VARIABLE = re.compile(
    r"\b(?:using|typedef|template|class|struct|enum|union|namespace|friend|static_assert|concept"
    r"|const|constexpr|consteval|return|goto|case|default|throw|delete|new|operator|extern|public"
    r"|private|protected)\b"
)
VARIABLE = re.compile(r"(?:[A-Za-z_][\w:]*[\s*&]+)+[A-Za-z_][\w:]*\s*(?:\[[^\]]*\]\s*)*$")
STATIC_LOCAL = re.compile(r"^\s+(?:static|thread_local)\s")
TEMPLATE_ARGUMENTS = re.compile(r"<[^<>;{}]*>")

HEAD = ("SPDX-License-Identifier: MIT", "Copyright (c) 2026 the nvidb authors")


def applies(where, source):
    in_src = source.room() is not None
    if where == "src":
        return in_src and not source.is_test()
    if where == "made":
        return not source.is_test()
    return where == "all" or in_src or source.folders[:1] == ["tests"]


def check_banned(source, problems):
    for rule, pattern, where, files, instead in BANNED:
        if not applies(where, source) or source.path.startswith(files or ("//",)):
            continue
        for match in pattern.finditer(source.code):
            number = source.code.count("\n", 0, match.start()) + 1
            if not source.has_reason(number):
                problems.append(
                    (source.path, number, rule, f"{match.group().strip(' (')}: {instead}")
                )


def without_template_arguments(text):
    while True:
        shorter = TEMPLATE_ARGUMENTS.sub("", text)
        if shorter == text:
            return text
        text = shorter


def is_variable(head):
    """Whether what stands before `=`, `{` or `;` declares a variable that can change."""
    head = " ".join(without_template_arguments(head).split())
    return "(" not in head and not NOT_A_VARIABLE.search(head) and bool(VARIABLE.match(head))


class Scopes:
    """Walks the braces of a file and finds mutable globals and the lengths of functions."""

    KIND = re.compile(r"\b(namespace|class|struct|union|enum)\b")
    STEP = re.compile(r"[{};=]")

    def __init__(self, code):
        self.globals, self.functions = [], []  # (line number, head), (line number, lines)
        # Preprocessor lines hold no declarations; their lengths are kept for the line numbers.
        code = re.sub(
            r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
            lambda m: re.sub(r"[^\n]", " ", m.group()),
            code,
            flags=re.M,
        )
        self.run(code)

    def run(self, code):
        stack, begin, value = [], 0, False  # value: behind the `=` of a declaration
        line, at = 1, 0
        for match in self.STEP.finditer(code):
            line += code.count("\n", at, match.start())
            at = match.start()
            head, step = code[begin:at], match.group()
            outside = all(kind in ("namespace", "extern") for kind, _ in stack)
            if step == "=":
                if (
                    outside
                    and not value
                    and head.count("(") == head.count(")")
                    and "operator" not in head
                ):
                    self.declared(head, line)
                    value = True
                continue
            if step == "{":
                kind = self.kind_of(head, value)
                if kind == "value" and outside and not value:
                    self.declared(head, line)
                stack.append((kind, line))
                if kind in ("value", "other"):
                    continue  # the declaration goes on behind the bracket
            elif step == "}":
                kind, opened = stack.pop() if stack else ("other", line)
                if kind == "function":
                    self.functions.append((opened, line - opened + 1))
                if kind == "value":
                    value = True
                    continue
            elif outside and not value:
                self.declared(head, line)
            begin, value = at + 1, False

    def kind_of(self, head, value):
        if value:
            return "value"
        head = without_template_arguments(head)
        if re.search(r'\bextern\s*"\s*"\s*$|\bextern\s*" *"\s*$', head):
            return "extern"
        kind = self.KIND.search(head.partition("(")[0])
        if kind and "=" not in head:
            return "namespace" if kind.group() == "namespace" else "type"
        if "(" in head:
            return "function"
        return "value" if head.strip() else "other"

    def declared(self, head, line):
        if is_variable(head):
            self.globals.append((line, " ".join(head.split())))


def check_scopes(source, problems, notes):
    scopes = Scopes(source.code)
    if source.room() is not None and not source.is_test():
        for number, head in scopes.globals:
            if not source.has_reason(number):
                problems.append(
                    (source.path, number, "global", f"`{head}` can change and belongs to no object")
                )
        for number, line in enumerate(source.code_lines, 1):
            head = re.split(r"[=;{]", line, maxsplit=1)[0]
            if (
                STATIC_LOCAL.match(line)
                and head != line
                and is_variable(head)
                and not source.has_reason(number)
            ):
                problems.append(
                    (
                        source.path,
                        number,
                        "global",
                        f"`{head.strip()}` can change and outlives its call",
                    )
                )
    for number, length in scopes.functions:
        if length > MAX_FUNCTION_LINES:
            notes.append((source.path, number, "size", f"a function of {length} lines"))


def check_python_sizes(source, problems, notes):
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        problems.append((source.path, error.lineno or 1, "syntax", error.msg))
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                notes.append((source.path, node.lineno, "size", f"a function of {length} lines"))


def check_head(source, problems):
    first = 1 if source.lines[:1] and source.lines[0].startswith("#!") else 0
    marks = [("// ", ""), ("/* ", " */")] if source.is_cpp() else [("# ", "")]
    heads = [[begin + line + end for line in HEAD] for begin, end in marks]
    if source.lines[first : first + 2] not in heads:
        problems.append(
            (source.path, 1, "head", "the first two lines are not the licence and the copyright")
        )


def check_lines(source, problems):
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_COLUMNS and not source.has_reason(number):
            problems.append(
                (source.path, number, "columns", f"{len(line)} columns, more than {MAX_COLUMNS}")
            )
        if UNFINISHED.search(line):
            problems.append((source.path, number, "unfinished", "name the issue, as in (#12)"))


def check(root, sources, problems, notes):
    for source in sources:
        if not source.is_code() or source.is_data():
            continue
        check_head(source, problems)
        check_lines(source, problems)
        limit = MAX_TEST_LINES if source.is_test() else MAX_LINES
        if len(source.lines) > limit:
            notes.append((source.path, 1, "size", f"{len(source.lines)} lines, more than {limit}"))
        if source.is_cpp():
            check_banned(source, problems)
            check_scopes(source, problems, notes)
            if source.is_header():
                if "#pragma once" not in source.code_lines:
                    problems.append(
                        (source.path, 1, "pragma-once", "a header without #pragma once")
                    )
                for number, line in enumerate(source.code_lines, 1):
                    if USING_NAMESPACE.search(line) and not source.has_reason(number):
                        problems.append((source.path, number, "using-namespace", "not in headers"))
        elif source.is_python():
            check_python_sizes(source, problems, notes)
