"""Reads Swift source as far as .ci/layers.py needs it: what is code, what it imports, which types it declares.

This is no parser. It knows comments, string literals, regular expressions and braces; the compiler sees to the rest.
"""

import re
from pathlib import Path

TYPE_OR_BRACE = re.compile(
    r"(?<![\w.`])(?P<kind>struct|class|enum|actor|protocol|typealias|extension)\s+"
    r"(?P<name>`?[A-Za-z_]\w*`?(?:\s*\.\s*\w+)*)|(?P<brace>[{}])"
)
# What follows `class` where it declares no type.
MEMBERS = {"func", "var", "let", "subscript", "override", "final"}
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\s*\()[^;{}]*$")
IMPORT = re.compile(
    r"(?:^|;)[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?"
    r"import[ \t]+(?:(?:struct|class|enum|protocol|typealias|func|var|let|actor|macro)[ \t]+)?(\w+)",
    re.MULTILINE,
)
# A slash after one of these, or at the start of a line, begins a regular expression; elsewhere it divides.
BEFORE_REGEX = re.compile(r"(?:[=(,:\[{!&|?;\n]|\b(?:return|in|case|try|await))[ \t]*$|^[ \t]*$")
REGEX = re.compile(r"/(?![\s*/])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+/")
DELIMITED = re.compile(r'(#+)(["/])')


class Blanker:
    """Replaces comments, string literals and regular expressions by spaces; interpolated expressions stay.

    Every `skip_…` and `read_…` takes where something begins and returns where it ends.
    """

    def __init__(self, text):
        self.text = text
        self.code = list(text)
        self.read_code(0)

    def blank(self, start, end):
        for index in range(start, min(end, len(self.code))):
            if self.code[index] != "\n":
                self.code[index] = " "
        return end

    def read_code(self, start, *, until_parenthesis=False):
        index, depth = start, 1
        while index < len(self.text):
            end = self.skip_literal(index)
            if end is None:
                depth += {"(": 1, ")": -1}.get(self.text[index], 0)
                index += 1
                if until_parenthesis and depth == 0:
                    return index
            else:
                index = end
        return index

    def skip_literal(self, start):
        """Blanks the comment, string or regular expression that begins at `start`; None when it is code."""
        text = self.text
        if text[start] not in '/"#':
            return None
        if text.startswith("//", start):
            return self.blank(start, self.find("\n", start))
        if text.startswith("/*", start):
            return self.blank(start, self.comment_end(start))
        if text[start] == '"':
            return self.read_string(start, "")
        if text[start] == "/":
            match = BEFORE_REGEX.search(text[max(0, start - 80) : start]) and REGEX.match(text, start)
            return self.blank(start, match.end()) if match else None
        match = DELIMITED.match(text, start)
        if not match:
            return None
        hashes, opening = match.groups()
        if opening == "/":
            return self.blank(start, self.find("/" + hashes, match.end()) + 1 + len(hashes))
        self.blank(start, match.end())
        return self.read_string(start + len(hashes), hashes)

    def find(self, wanted, start):
        found = self.text.find(wanted, start)
        return len(self.text) if found < 0 else found

    def comment_end(self, start):
        depth, index = 0, start
        for match in re.compile(r"/\*|\*/").finditer(self.text, start):
            depth += 1 if match[0] == "/*" else -1
            index = match.end()
            if depth == 0:
                return index
        return len(self.text)

    def read_string(self, start, hashes):
        quotes = '"""' if self.text.startswith('"""', start) else '"'
        closing, escape = quotes + hashes, "\\" + hashes
        index = self.blank(start, start + len(quotes))
        while index < len(self.text):
            if self.text.startswith(closing, index):
                return self.blank(index, index + len(closing))
            if self.text.startswith(escape + "(", index):
                self.blank(index, index + len(escape))
                index = self.read_code(index + len(escape) + 1, until_parenthesis=True)
            elif self.text.startswith(escape, index):
                index = self.blank(index, index + len(escape) + 1)
            elif self.text[index] == "\n" and quotes == '"':
                return index
            else:
                index = self.blank(index, index + 1)
        return index


class SwiftSource:
    """One file: its code without comments and literals, its imports, and the types it declares.

    `path` is relative to the project, with slashes; `folder` is the first folder below the target's, None for a file
    directly in it. Each of the dictionaries maps to the line of the declaration.
    """

    def __init__(self, root, target, path):
        self.path = path.relative_to(root).as_posix()
        below = path.relative_to(root / target).parts
        self.folder = below[0] if len(below) > 1 else None
        self.code = "".join(Blanker(path.read_text(encoding="utf-8")).code)
        self.types = {}  # At the top level, visible in the whole module.
        self.private_types = {}  # At the top level, visible in this file.
        self.nested_types = {}  # Within other types or functions.
        self.extension_types = {}  # (extended type, name): nested directly in an extension.
        self.read_declarations()

    def line(self, offset):
        return self.code.count("\n", 0, offset) + 1

    def imports(self):
        """Pairs of line and module."""
        return [(self.line(match.start(1)), match[1]) for match in IMPORT.finditer(self.code)]

    def read_declarations(self):
        enclosing, opening = [], None  # For each open brace the extended type, or None.
        for match in TYPE_OR_BRACE.finditer(self.code):
            if match["brace"] == "{":
                enclosing.append(opening)
                opening = None
            elif match["brace"] == "}":
                enclosing = enclosing[:-1]
            elif match["name"] not in MEMBERS:
                name = re.sub(r"[\s`]", "", match["name"])
                if match["kind"] == "extension":
                    opening = name
                else:
                    self.declare(name, match.start(), enclosing)

    def declare(self, name, offset, enclosing):
        line = self.line(offset)
        if enclosing:
            self.nested_types.setdefault(name, line)
            if len(enclosing) == 1 and enclosing[0]:
                self.extension_types.setdefault((enclosing[0], name), line)
        elif PRIVATE.search(self.code[self.code.rfind("\n", 0, offset) + 1 : offset]):
            self.private_types.setdefault(name, line)
        else:
            self.types.setdefault(name, line)


def read_sources(root, target):
    """All Swift files of a target, in the order of their paths."""
    root = Path(root)
    return [SwiftSource(root, target, path) for path in sorted((root / target).rglob("*.swift"))]
