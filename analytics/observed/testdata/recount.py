"""Recounts observed boards from the lines of the data set, with the standard library only.

usage: recount.py FOLDER < names.json

names.json maps a category to a language to a tool to the names that it is imported by.
The result maps a category to its units, repositories and tools: uses, repositories, and
uses by language and agent. Nothing here is shared with the program but the names.
"""

import collections
import json
import pathlib
import sys

LANGUAGES = {"csharp": "C#", "go": "Go", "python": "Python", "rust": "Rust", "typescript": "TypeScript"}
AGENTS = {"OpenAI_Codex": "Codex", "Claude_Code": "Claude Code"}


def tools_of(imports, names):
    """The tools whose longest name is an import, or what an import is inside of."""
    found = set()
    for imported in imports:
        best, owners = -1, set()
        for tool, known in names.items():
            for name in known:
                inside = imported.startswith(name) and len(imported) > len(name) and imported[len(name)] in "./:\\"
                if imported != name and not inside:
                    continue
                if len(name) > best:
                    best, owners = len(name), {tool}
                elif len(name) == best:
                    owners.add(tool)
        found |= owners
    return {tool for tool in found if not tool.startswith("outside:")}


def main():
    names = json.load(sys.stdin)
    result = {}
    for category, by_language in names.items():
        units, repos = 0, set()
        uses, used_in, splits = collections.Counter(), collections.defaultdict(set), collections.Counter()
        for file, language in LANGUAGES.items():
            for line in json.loads((pathlib.Path(sys.argv[1]) / f"{file}_library_usage.json").read_text()):
                tools = tools_of(line["extlib_imports"], by_language.get(language, {}))
                if not tools:
                    continue
                units += 1
                repos.add(line["repo_id"])
                for tool in tools:
                    uses[tool] += 1
                    used_in[tool].add(line["repo_id"])
                    splits[f"{tool} {language}"] += 1
                    splits[f"{tool} {AGENTS.get(line['agent'], line['agent'])}"] += 1
        result[category] = {
            "units": units, "repos": len(repos), "uses": uses, "usedIn": {t: len(r) for t, r in used_in.items()}, "splits": splits,
        }
    json.dump(result, sys.stdout)


main()
