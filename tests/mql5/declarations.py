"""Translation of declarations: arrays, inputs, pointers."""

from tokens import Refused, Token, closing, split, text_of

KEYWORDS = set("""break case class continue default delete do else enum for if new operator private protected public
return struct switch template this typedef typename virtual while namespace override final nullptr true false
dynamic_cast sizeof""".split())
MODIFIERS = ("static", "const", "input", "sinput")


def is_mark(token, *texts):
    return token.kind == "mark" and token.text in texts


def is_name(token):
    return token.kind == "word" and token.text not in KEYWORDS and token.text not in MODIFIERS and "(" not in token.text


def type_end(tokens, at):
    """Behind the type that begins at `at`: NAME, A::B, C<int>; None where none does."""
    if not is_name(tokens[at]):
        return None
    at += 1
    while is_mark(tokens[at], "::") and is_name(tokens[at + 1]):
        at += 2
    if is_mark(tokens[at], "<"):
        depth = 0
        for i in range(at, len(tokens)):
            if is_mark(tokens[i], "<", ">"):
                depth += 1 if tokens[i].text == "<" else -1
                if depth == 0:
                    return i + 1
            elif not (is_name(tokens[i]) or is_mark(tokens[i], ",", "::", "*")):
                return None
    return at


def axes(tokens, at):
    """The sizes in the brackets from `at` on, each a text, and the place behind them."""
    sizes = []
    while at < len(tokens) and is_mark(tokens[at], "["):
        end = closing(tokens, at)
        sizes.append(text_of(tokens[at + 1 : end]).strip())
        at = end + 1
    return sizes, at


def is_empty(tokens, at):
    return is_mark(tokens[at], "[") and is_mark(tokens[at + 1], "]")


def translate_indices(tokens):
    """`a[i, j]` becomes `a[i][j]`: in C++ it would be `a[j]`."""
    open_ones = []
    for token in tokens:
        if is_mark(token, "(", "[", "{"):
            open_ones.append(token.text)
        elif is_mark(token, ")", "]", "}"):
            open_ones.pop()
        elif is_mark(token, ",") and open_ones and open_ones[-1] == "[":
            token.text = "]["
    return tokens


def array_type(entry, sizes):
    for size in reversed(sizes[1:]):
        entry = f"mql5_row<{entry}, {size}>"
    return f"mql5_array<{entry}>"


def replaced(tokens, first, last, text):
    """Tokens first..last become one."""
    return tokens[:first] + [Token("word", text, tokens[first].lead, tokens[first].line)] + tokens[last + 1 :]


def translate_parameters(tokens, file):
    """`const T &a[]` in brackets becomes `const mql5_array<T> &a`."""
    at = 1
    while at < len(tokens):
        before = tokens[at - 1]
        start = is_mark(before, "(", ",") or (before.text == "const" and is_mark(tokens[at - 2], "(", ","))
        end = type_end(tokens, at) if start else None
        if end and is_mark(tokens[end], "&") and is_name(tokens[end + 1]) and is_empty(tokens, end + 2):
            sizes, behind = axes(tokens, end + 2)
            kind = text_of(tokens[at:end]).strip()
            tokens = tokens[: end + 2] + tokens[behind:]
            tokens = replaced(tokens, at, end - 1, array_type(kind, sizes))
        elif end and is_name(tokens[end]) and is_empty(tokens, end + 1):
            raise Refused(file, tokens[at].line, f"{tokens[end].text}[]: arrays are passed by reference, write &")
        at += 1
    return tokens


class Declaration:
    """A statement that declares variables: modifiers, a type, declarators up to the `;`."""

    def __init__(self, tokens, start):
        at = start
        while tokens[at].text in MODIFIERS:
            at += 1
        self.modifiers, self.first = tokens[start:at], at
        self.end = type_end(tokens, at)
        name = self.end
        while name is not None and is_mark(tokens[name], "*", "&"):
            name += 1
        self.found = (name is not None and is_name(tokens[name]) and is_mark(tokens[name + 1], ";", ",", "=", "["))
        if not self.found:
            return
        self.stop = name
        while not is_mark(tokens[self.stop], ";"):
            bracket = is_mark(tokens[self.stop], "(", "[", "{")
            self.stop = closing(tokens, self.stop) if bracket else self.stop + 1
            self.stop += bracket
            if self.stop >= len(tokens) - 1:
                self.found = False
                return
        self.type = tokens[self.first : self.end]
        self.declarators = split(tokens[self.end : self.stop], ",")

    def has_arrays(self):
        return any(is_mark(t, "[") for d in self.declarators for t in self.before_value(d))

    @staticmethod
    def before_value(declarator):
        return split(declarator, "=")[0]

    def texts(self, file):
        """One declaration in C++ for each declarator."""
        words = " ".join(t.text for t in self.modifiers)
        kind = text_of(self.type).strip()
        for declarator in self.declarators:
            stars = "".join(t.text for t in declarator if is_mark(t, "*") and declarator.index(t) == 0)
            rest = declarator[len(stars) :]
            yield (words + " " if words else "") + self.one(kind + stars, rest, file)

    def one(self, kind, rest, file):
        name, value = rest[0], rest[1:]
        if not value or not is_mark(value[0], "["):
            return kind + " " + text_of(rest).strip()
        sizes, behind = axes(value, 0)
        array = array_type(kind, sizes)
        value = value[behind:]
        if value and not (is_mark(value[0], "=") and is_mark(value[1], "{")):
            raise Refused(file, name.line, f"{name.text}: an array is initialised with {{...}} only")
        given = text_of(value[1:]).strip()
        if sizes[0]:
            given = f"{array}::fixed({sizes[0]}{', ' + given if given else ''})"
        return f"{array} {name.text}" + (f" = {given}" if given else "")


def statement_starts(tokens):
    """Places where a statement or a member may begin."""
    for at in range(len(tokens)):
        before = tokens[at - 1] if at else None
        if before is None or before.kind == "directive" or is_mark(before, ";", "{", "}", ":"):
            yield at


def translate_arrays(tokens, file):
    """Declarations with an array become one for each declarator; lines stay where they are."""
    for at in reversed(list(statement_starts(tokens))):
        declaration = Declaration(tokens, at)
        if not declaration.found or not declaration.has_arrays():
            continue
        text = "; ".join(declaration.texts(file))
        lost = text_of(tokens[at : declaration.stop])[len(tokens[at].lead) :].count("\n") - text.count("\n")
        tokens = replaced(tokens, at, declaration.stop - 1, text + "\n" * max(lost, 0))
    return tokens


def without_groups(tokens):
    """`input group "Name"` ends like a directive, with or without a semicolon."""
    out, at = [], 0
    while at < len(tokens):
        group = tokens[at].text in ("input", "sinput") and tokens[at + 1].text == "group"
        out.append(Token("directive", "", tokens[at].lead, tokens[at].line) if group else tokens[at])
        at += 3 + is_mark(tokens[at + 3], ";") if group else 1
    return out


def translate_inputs(tokens, file, values):
    """`input` becomes const, with the values a test sets."""
    tokens = without_groups(tokens)
    for at in reversed(list(statement_starts(tokens))):
        if tokens[at].text not in ("input", "sinput"):
            continue
        declaration = Declaration(tokens, at)
        if not declaration.found or len(declaration.declarators) != 1:
            raise Refused(file, tokens[at].line, "an input is one variable with its value")
        name = declaration.declarators[0][0].text
        if name in values:
            tokens = replaced(tokens, declaration.end + 1, declaration.stop - 1, " = " + values.pop(name))
        elif len(declaration.declarators[0]) == 1:
            tokens = replaced(tokens, declaration.end, declaration.end, f"{name} = {{}}")
        tokens = replaced(tokens, at, at, "const")
    return tokens


def pointer_names(tokens, classes):
    """The variables and functions that are pointers: `CName *name`, `CName object, *name`."""
    names = {
        tokens[i + 2].text
        for i in range(len(tokens) - 3)
        if tokens[i].text in classes and is_mark(tokens[i + 1], "*") and is_name(tokens[i + 2])
        and is_mark(tokens[i + 3], ";", "=", ",", ")", "[", "(")
    }
    for at in statement_starts(tokens):
        declaration = Declaration(tokens, at)
        if declaration.found and declaration.type[0].text in classes:
            names |= {d[1].text for d in declaration.declarators if is_mark(d[0], "*")}
    return names


def translate_pointers(tokens, file, pointers, classes):
    """`p.x` becomes `p->x` where p is a pointer."""
    for i in range(len(tokens) - 1):
        name = tokens[i]
        if name.kind != "word" or name.text not in pointers:
            continue
        if i and tokens[i - 1].text in classes and not is_mark(tokens[i + 1], "("):
            raise Refused(file, name.line, f"{name.text} is a pointer elsewhere and an object here: rename one")
        at = i + 1
        while is_mark(tokens[at], "[", "("):
            at = closing(tokens, at) + 1
        if is_mark(tokens[at], "."):
            tokens[at].text = "->"
    return tokens
