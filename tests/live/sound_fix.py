"""sound_fix.py: what `fix --simplify` and `fix --freeze` write, held against the model they were given."""

from sound_judge import Died, Found, asked, call, code_of, told


def fixed(path, out, *arguments):
    """The error's text; empty where the file was written."""
    done = call("fix", path, "-o", out, "--quiet", *arguments)
    return told(done.stderr) if done.returncode else ""


class Fixed:
    """A rewritten file and its report; refusal: why there is none."""

    def __init__(self, graph, how, *arguments):
        self.how, self.path = how, graph.path.with_suffix(f".{how}.onnx")
        self.refusal = fixed(graph.path, self.path, *arguments)
        self.report = None if self.refusal else asked(self.path, graph.bindings)
        self.arguments = arguments


def frozen(rng, graph):
    """(symbol, size) of one of the bindings."""
    envs = [env for env in map(graph.report.sizes, graph.bindings) if env]
    if not envs:
        return None
    sizes = sorted((name, size) for name, size in rng.choice(envs[:1] * 2 + envs).items() if size > 0)
    return rng.choice(sizes) if sizes else None


def verdict_problems(graph, fix, taken):
    """taken(binding): whether the result is to take what the model takes there; None: it must not."""
    if fix.refusal:
        kept = [b for b in range(len(graph.bindings)) if taken(b) and graph.report.verdicts[b]["answer"] == "accept"]
        if kept and code_of(fix.refusal) != "fix.narrower":
            yield Found(f"{fix.how} is refused", f"{' '.join(fix.arguments)}: {fix.refusal}", kept[0])
        return
    for b, (old, new) in enumerate(zip(graph.report.verdicts, fix.report.verdicts)):
        words = [verdict["answer"] + " " + verdict.get("code", "") for verdict in (old, new)]
        what = f"{' '.join(fix.arguments)}: {' becomes '.join(words)}"
        if taken(b) and old["answer"] == "accept" and new["answer"] != "accept":
            yield Found(f"{fix.how} takes less", f"{what} {new.get('place', '')}: {new.get('sentence', '')}", b)
        elif taken(b) is None and new["answer"] == "accept":
            yield Found(f"{fix.how} takes another size", what, b)
        elif fix.how == "frozen" and old["answer"] == "refuse" and new["answer"] == "accept":
            yield Found(f"{fix.how} takes more", what, b)


def simplified(graph):
    fix = Fixed(graph, "simplified", "--simplify")
    graph.found += verdict_problems(graph, fix, lambda b: True)
    return fix


def freeze(rng, graph):
    chosen = frozen(rng, graph)
    if not chosen:
        return None
    name, size = chosen
    envs = [graph.report.sizes(shapes) for shapes in graph.bindings]
    fix = Fixed(graph, "frozen", "--freeze", f"{name}={size}")
    graph.found += verdict_problems(graph, fix, lambda b: True if envs[b] and envs[b][name] == size else None)
    return fix


def fixes(rng, graph, both):
    """The files that fix writes of the graph; what is wrong with them goes to graph.found."""
    ways = [simplified, lambda g: freeze(rng, g)]
    out = []
    for way in ways if both else [rng.choice(ways)]:
        try:
            fix = way(graph)
        except Died as wrong:
            graph.found.append(Found("fix dies", str(wrong)))
            continue
        if fix and fix.report:
            out.append(fix)
    return out
