"""Reads tables out of C sources, whatever their layout is: for scripts and tests that compare the
code with documents, charts and recordings."""

import pathlib
import re

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = r"/\*.*?\*/"
CHARACTER = r"'(?:[^'\\\n]|\\.)+'"
LITERALS = re.compile(rf"{COMMENT}|{CHARACTER}|{LITERAL}(?:\s+{LITERAL})*", re.DOTALL)
TOKENS = re.compile(rf"{COMMENT}|{CHARACTER}|{LITERAL}|[(){{}}\[\],]", re.DOTALL)


def _join(match):
    """One literal for literals beside each other; comments and characters stay as they are."""
    if not match[0].startswith('"'):
        return match[0]
    return '"' + "".join(literal[1:-1] for literal in re.findall(LITERAL, match[0])) + '"'


def joined(text):
    """The text with each #define on one line, and one literal where several stand beside each
    other."""
    return LITERALS.sub(_join, re.sub(r"[ \t]*\\\n[ \t]*", " ", text))


def read(path):
    """The text of a file, joined."""
    return joined(pathlib.Path(path).read_text(encoding="utf-8"))


def macro(text, name):
    """What a macro with arguments stands for, in joined text."""
    return re.search(rf"^#define {name}\([^)]*\)(.*)$", text, re.MULTILINE)[1]


def _arguments(text, start):
    """The arguments from behind "(" on, without comments, and where the ")" ends."""
    found, begin, depth, argument = [], start, 0, ""
    for token in TOKENS.finditer(text, start):
        if token[0].startswith("/*"):
            argument, begin = argument + text[begin : token.start()], token.end()
        elif token[0] in "([{":
            depth += 1
        elif token[0] in ")]}" and depth:
            depth -= 1
        elif token[0] in "),]}" and not depth:
            found.append(" ".join((argument + text[begin : token.start()]).split()))
            argument, begin = "", token.end()
            if token[0] != ",":
                return found, token.end()
    raise ValueError(f"no end of the arguments: {text[start:start + 60]!r}")


def calls(text, name):
    """(arguments, where it begins, where it ends) of each NAME(…) in joined text."""
    found = [(*_arguments(text, m.end()), m) for m in re.finditer(rf"(?<!\w){name}\(", text)]
    return [(arguments, m.start(), end) for arguments, end, m in found]


def rows(path, macro_name, row="X"):
    """The arguments of each row of an X macro, with the comment behind the row, or ""."""
    body = macro(read(path), macro_name)
    found = []
    for arguments, _, end in calls(body, row):
        comment = re.match(rf"\s*({COMMENT})", body[end:])
        found.append((arguments, comment[1][2:-2].strip() if comment else ""))
    return found


def plain(argument):
    """The text of a string literal; None for NULL."""
    return None if argument == "NULL" else argument.strip('"')
