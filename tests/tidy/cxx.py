"""A C++ source as lines of code: comments, and where asked strings, blanked out.

Not a parser. It knows just enough of the lexical rules (comments, string and character literals,
raw strings, digit separators) that a word in a comment or a string is not taken for code.
"""

import re

_RAW_START = re.compile(r'(?:u8|[uUL])?R"([^\s()\\]{0,16})\(')


def _blank(text):
    """The text with everything but its line breaks made spaces."""
    return re.sub(r"[^\n]", " ", text)


def _string_end(text, start):
    """The index after the literal that opens at `start`, or at the end of its line."""
    quote = text[start]
    i = start + 1
    while i < len(text) and text[i] != "\n":
        if text[i] == "\\":
            i += 2
        elif text[i] == quote:
            return i + 1
        else:
            i += 1
    return min(i, len(text))


def strip(text, keep_strings):
    """The text without comments and, unless they are kept, without the insides of strings."""
    out = []
    i = 0
    while i < len(text):
        raw = _RAW_START.match(text, i) if text[i] in "RuUL" else None
        if raw and not (i > 0 and (text[i - 1].isalnum() or text[i - 1] == "_")):
            end = text.find(")" + raw.group(1) + '"', raw.end())
            end = len(text) if end < 0 else end + len(raw.group(1)) + 2
        elif text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            out.append(_blank(text[i:end]))
            i = end
            continue
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            end = len(text) if end < 0 else end + 2
            out.append(_blank(text[i:end]))
            i = end
            continue
        elif text[i] == "'" and i > 0 and text[i - 1].isalnum():
            out.append(text[i])  # the separator of 1'000
            i += 1
            continue
        elif text[i] in "\"'":
            end = _string_end(text, i)
        else:
            out.append(text[i])
            i += 1
            continue
        literal = text[i:end]
        out.append(literal if keep_strings else _blank(literal))
        i = end
    return "".join(out)
