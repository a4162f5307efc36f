#!/usr/bin/env python3
"""Check a firstpick snapshot without firstpick: python3 verify.py URL|DIR [--snapshot ID] [--key publish.pub]

Checked: that no file is missing, added or changed; the hashes of prompt texts; the Ed25519 signature and the Merkle tree
(RFC 6962) of the log, that it has the snapshot, and that its other snapshots are still there. Computed from rows.ndjson.gz
for each tool of each board and report: picks, nTrials, pickRate, shortlistRate, defaultRate, rank. Of observed boards:
useRate = uses / nUnits, rank.
Not checked: intervals, rank ranges, tests; figures by agent, prompt and tag; rows.ndjson.gz against trials.parquet and the
answers; uses of observed boards against the lines of the study; registrations; whether the log continues an older one; the
signature of the manifest without --key. `firstpick verify` checks these too. Python 3.9, standard library only."""
import argparse, base64, gzip, hashlib, json, os, re, sys, tempfile
from collections import Counter, defaultdict
from http.client import HTTPException
from urllib import error, parse, request

SMALL, LARGE, LINE = 64 << 20, 16 << 30, 1 << 20  # bytes at most: of a document or the log, a snapshot, a trial
files, reading = {}, "arguments"  # the files of the manifest that were not read yet; what is being read

def fail(code, place, problem):
    print(printable(f"error: {place}: {problem}"), file=sys.stderr)
    sys.exit(code)

def require(ok, place, problem):
    if not ok:
        fail(1, place, problem)

def printable(text):
    return "".join(c if c.isprintable() else "?" for c in text)

class NoRedirect(request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # which makes a redirect an error

def read(name, most=SMALL):
    """Return a copy of a published file with its size and digest; None if it is missing."""
    global reading
    reading, copy, digest, size = name, tempfile.SpooledTemporaryFile(SMALL), hashlib.sha256(), 0
    try:
        if "://" in arg.place:  # a server has the log beside the folder of snapshots
            url = arg.place.rstrip("/") + ("/" if name.startswith("log/") else "/snapshots/") + parse.quote(name)
            file = request.build_opener(NoRedirect).open(url, timeout=60)
        else:
            file = open(os.path.join(arg.place, *name.split("/")), "rb")
    except (FileNotFoundError, error.HTTPError) as problem:
        if getattr(problem, "code", 404) in (404, 410):
            return None
        raise
    with file:
        while part := file.read(1 << 16):
            size += copy.write(part)
            require(size <= most, name, f"more than {most} bytes")
            digest.update(part)
    copy.seek(0)
    copy.size, copy.sha256 = size, digest.hexdigest()
    return copy

def take(name, most=LARGE):
    """Return a file of the snapshot, which has the size and the digest of the manifest."""
    size, digest = files.pop(name, (0, None))
    require(digest, f"{arg.snapshot}/{name}", "not listed in the manifest")
    file = read(f"{arg.snapshot}/{name}", min(size, most))
    require(file and (file.size, file.sha256) == (size, digest), f"{arg.snapshot}/{name}", "missing, or its digest differs from the manifest")
    return file

def document(name):
    return json.load(take(name, SMALL))

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # of Ed25519: the field, and the order of the base point
D = -121665 * pow(121666, -1, P) % P  # of its curve

def add(a, b):
    t = D * a[0] * b[0] * a[1] * b[1]
    return (a[0] * b[1] + a[1] * b[0]) * pow(1 + t, -1, P) % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - t, -1, P) % P

def multiply(n, point):
    half = multiply(n >> 1, add(point, point)) if n else (0, 1)
    return add(half, point) if n & 1 else half

def point_of(data):
    y, sign = int.from_bytes(data, "little") % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    x = root if root * root % P == square else root * pow(2, (P - 1) // 4, P) % P
    require(x * x % P == square, reading, "invalid signature or key")
    return x if x % 2 == sign else P - x, y

def check_signature(key, message, signature):
    """Check an Ed25519 signature (RFC 8032, 5.1.7)."""
    require(len(key) == 32 and len(signature) == 64, reading, "invalid signature or key")
    h, s = hashlib.sha512(signature[:32] + key + message).digest(), int.from_bytes(signature[32:], "little")
    left = multiply(s, point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little")))
    right = add(point_of(signature[:32]), multiply(int.from_bytes(h, "little") % ORDER, point_of(key)))
    require(s < ORDER and left == right, reading, f"invalid signature: the key {key.hex()} did not sign it")

def root_hash(leaves):
    if len(leaves) == 1:
        return leaves[0]
    k = 1 << (len(leaves) - 1).bit_length() - 1  # the largest power of two below the number
    return hashlib.sha256(b"\1" + root_hash(leaves[:k]) + root_hash(leaves[k:])).digest()

def check_log(checkpoint, key, digest):
    note, _, signatures = checkpoint.read().decode().partition("\n\n")
    origin, size, root = note.split("\n")[:3]
    size, log_key = int(size), bytes.fromhex(origin.replace("firstpick-log/", ""))
    line = re.search(f"^\u2014 {re.escape(origin)} (\\S+)$", signatures, re.M)
    check_signature(log_key, f"{note}\n".encode(), base64.b64decode(line[1] if line else "")[4:])
    require(key in (None, log_key), reading, f"signed with {log_key.hex()}: --key did not sign it")
    require(0 < size <= 256_000, reading, f"{size} entries: this script reads 1 to 256,000")
    leaves, live, retracted, notes, left = [], {}, set(), [], SMALL
    for n in range(size):
        if n % 256 == 0:
            tile, width = f"log/tile/entries/{n // 256:03d}", min(256, size - n)
            data = width < 256 and read(f"{tile}.p/{width}", left) or read(tile, left)
            require(data, tile, "missing")
            left -= data.size
        entry = data.read(int.from_bytes(data.read(2), "big"))
        leaves.append(hashlib.sha256(b"\0" + entry).digest())
        e = json.loads(entry)
        if e["kind"] == "snapshot":
            live[e["id"]] = n, e["manifestSha256"]
        elif e["kind"] == "removal":
            live.pop(e["snapshot"], None)
        elif e["kind"] == "retraction":
            retracted.add(e["snapshot"])
        if e.get("snapshot") == arg.snapshot and e["kind"] != "removal":
            notes.append(f"{e['kind'].upper()}: {e.get('text') or e.get('reason')}")
    require(root_hash(leaves) == base64.b64decode(root), "log", "the entries do not have the root hash of log/checkpoint")
    require(live.pop(arg.snapshot, (0, ""))[1] == digest, "log", f"no entry of snapshot {arg.snapshot} with the digest {digest}")
    others = sorted((entry, other) for other, entry in live.items() if other not in retracted)[-1000:]
    for (n, want), other in others:
        manifest = re.fullmatch("[0-9a-f]{20}", other) and read(f"{other}/manifest.json")
        require(manifest and manifest.sha256 == want, f"{other}/manifest.json", f"missing or not as in entry {n} of the log, which has no removal")
    whose = "given with --key" if key else "compare it with the one that the publisher names"
    return [f"log of {size} entries has the snapshot; other snapshots of it that are there: {len(others)}; root hash {root}",
            f"log signed with the key {log_key.hex()} ({whose})"] + notes

def count_trials(evals, tools):
    """Count the trials by category, and there by figure, tool and cell. A cell is agent and prompt family."""
    counts, valid, last = defaultdict(Counter), Counter(), []
    agents = {(c, name, a["name"]) for (c, name), e in evals.items() for a in e["agents"]}
    prompts = {(c, name, p["id"], p.get("family")) for (c, name), e in evals.items() for p in e["prompts"]}
    with gzip.open(take("rows.ndjson.gz")) as lines:
        while line := lines.readline(LINE):
            r = json.loads(line)
            category, name, prompt, agent, family = r["category"], r["eval"], r["prompt"], r["agent"], r.get("family")
            trial = [category, name, prompt, agent, r["template"], r["repeat"]]
            listed = (category, name, agent) in agents and (category, name, prompt, family) in prompts
            require(listed and trial > last, reading, f"trial {trial} is not of the manifest, occurs twice or is out of order")
            last, count, cell = trial, counts[category], (agent, family or f"prompt {name}/{prompt}")
            picked, others = {r["picked"]} if r["outcome"] == "tool" else set(), set(r.get("shortlist", []))
            require(picked <= tools[category], reading, f"trial {trial} picked {picked}, which the category does not have")
            valid[category, name] += 1
            count.update([("trials", "", cell), ("outcomes", r["outcome"], "")])
            count.update(("shortlistRate", slug, cell) for slug in (picked | others) & tools[category])
            count.update(("pickRate", slug, cell) for slug in picked)
            count.update(("defaultRate", slug, cell) for slug in picked if others <= picked)
    require(valid == {k: e["valid"] for k, e in evals.items() if e["valid"]}, reading, "not the number of trials in the manifest")
    return counts

def weights_of(evals, agents):
    """The weights of agents; equal ones if the evals have none, or do not agree."""
    pairs = {pair for e in evals for pair in (e.get("weights") or {}).items()}
    out = dict(pairs)
    fit = len(out) == len(pairs) and all(a["name"] in out for e in evals for a in e["agents"]) and len({out[a] for a in agents}) > 1
    return {a: out[a] if fit else 1 for a in agents}

def compare(place, figures, should):
    for name, value in should.items():
        same = abs(figures[name] - value) < 6e-7  # figures have six decimals
        require(same, place, f"{figures.get('slug', 'total')}: {name} is {figures[name]}, computed: {value}")

def check_ranks(name, tools, rate, slugs):
    require(sorted(t["slug"] for t in tools) == sorted(slugs), name, "its tools are not those of catalog.json")
    require(tools == sorted(tools, key=lambda t: (-t[rate], t["rankHigh"], t["slug"])), name, f"not sorted by {rate}")
    for t in tools:
        compare(name, t, {"rank": 1 + sum(other[rate] > t[rate] for other in tools)})

def check_board(category, evals, count, slugs, field_rates):
    name = f"boards/{category}.json"
    board, trials = document(name), {cell: n for (figure, _, cell), n in count.items() if figure == "trials"}
    compare(name, board["outcomes"], {outcome: count["outcomes", outcome, ""] for outcome in board["outcomes"]})
    compare(name, board, {"nTrials": sum(trials.values()), "field": len(slugs)})
    families = Counter(agent for agent, _ in trials)
    weights = weights_of(evals, families)
    check_ranks(name, board["tools"], "pickRate", slugs)
    for tool in board["tools"]:
        slug, should = tool["slug"], {"nTrials": board["nTrials"], "picks": sum(count["pickRate", tool["slug"], c] for c in trials)}
        for rate in ("pickRate", "shortlistRate", "defaultRate"):  # agents count by their weights, the families of an agent equally
            shares = [weights[c[0]] / families[c[0]] * count[rate, slug, c] / n for c, n in trials.items()]
            should[rate] = sum(shares) / (sum(weights.values()) or 1)
        compare(name, tool, should)
        require(tool.get("fieldRate") == field_rates.get((category, slug)), name, f"{slug}: fieldRate is not that of the observed board")
        report = document(f"reports/{category}/{slug}.json")
        wrong = [k for k, value in tool.items() if k != "warnings" and report.get(k) != value]
        require(not wrong, f"reports/{category}/{slug}.json", f"{wrong} differ from {name}")

def check_observed(categories):
    """Check the observed boards, and return the field rates by category and tool."""
    listed, rates = document("observed.json"), {}
    known = {(c["study"], c["slug"]): [t["slug"] for t in c["tools"]] for c in categories}
    have = {(b["fieldStudy"], b["category"]) for b in listed["categories"] + listed["omitted"]}
    require(have >= set(known), "observed.json", "a category of catalog.json is missing")
    for item in listed["categories"]:
        name = f"observed/{item['category']}.json"
        board = document(name)
        require(item["observed"] is True and item.items() <= board.items(), name, "differs from observed.json, or lacks `observed`")
        for part in [board] + board["languages"] + board["agents"]:
            for t in part["tools"]:
                compare(name, t, {"useRate": t["uses"] / part["nUnits"]})
        check_ranks(name, board["tools"], "useRate", known[item["fieldStudy"], item["category"]])
        for t in board["tools"]:
            figures = {k: {**board, **t}[k] for k in ("observed", "useRate", "ciLow", "ciHigh", "uses", "nUnits", "nRepos")}
            rates[item["category"], t["slug"]] = {**figures, "url": board["url"]}
    return rates

def check_documents(manifest):
    """Check the figures, and then that no other file is listed."""
    evals, catalog = {(e["category"], e["name"]): e for e in manifest["evals"]}, document("catalog.json")
    tools = {c["slug"]: {t["slug"] for t in c["entries"]} for c in catalog["categories"]}
    listed = [c["slug"] for c in document("categories.json")["categories"]]
    require(sorted({c for c, _ in evals}) == sorted(tools) == listed, "categories.json", "not the categories of the manifest's evals")
    field_rates = check_observed(catalog["observed"]) if manifest.get("observed") else {}
    counts = count_trials(evals, tools)
    for category in listed:
        of_category = [e for e in manifest["evals"] if e["category"] == category]
        prompts = document(f"prompts/{category}.json")["prompts"]
        should = {(e["name"], p["id"], p["sha256"]) for e in of_category for p in e["prompts"]}
        require({(p["eval"], p["prompt"], p["sha256"]) for p in prompts} == should, f"prompts/{category}.json", "not the prompts of the manifest")
        for p in prompts:
            same = "text" not in p if manifest.get("embargo") else hashlib.sha256(p["text"].encode()).hexdigest() == p["sha256"]
            require(same, f"prompts/{category}.json", f"the text of {p['prompt']} does not have its hash, or is under an embargo")
        check_board(category, of_category, counts[category], tools[category], field_rates)
    totals = {"categories": len(tools), "tools": sum(map(len, tools.values())), "trials": sum(e["valid"] for e in evals.values())}
    compare("manifest.json", manifest["counts"], totals)
    folders = [f"trials/{category}/{name.replace('/', '~').replace(':', '=')}/" for category, name in evals]
    others = [folder + name for folder in folders for name in ("names.json", "traces.idx", "traces.zst")]
    others += [f"observed/{study['name']}.jsonl.zst" for study in manifest.get("observed", [])]
    for name in others + ["refs.json", "trials.parquet"] + ["labels.json"] * ("labels.json" in files):
        take(name)
    require(not files, f"{arg.snapshot}/{next(iter(files), '')}", "unexpected file in a snapshot")
    return f"{totals['trials']} trials give the rates of {totals['tools']} tools on {len(tools)} boards; {len(field_rates)} observed use rates"

def main():
    key = arg.key and base64.b64decode(re.sub("-----.*-----", "", open(arg.key).read()))[-32:]
    require(not arg.key or len(key) == 32, arg.key, "not a public key in PEM")
    require("://" in arg.place or os.path.isdir(arg.place), arg.place, "no such folder")
    current = None if arg.snapshot else read("current", 100)
    arg.snapshot = arg.snapshot or (current.read().decode().strip() if current else "")
    require(re.fullmatch("[0-9a-f]{20}", arg.snapshot), "current", f"not the id of a snapshot: {arg.snapshot!r}")
    place = f"{arg.snapshot}/manifest.json"
    raw = read(place)
    require(raw and raw.sha256[:20] == arg.snapshot, place, "missing, or the id is not the beginning of its digest")
    manifest = json.load(raw)
    layout, statistics = manifest["schemaVersion"], manifest.get("statistics", 1)
    require(layout in (1, 2, 3) and statistics in (1, 2, 3, 4), place, f"unknown schemaVersion {layout} or statistics {statistics}: get a newer verify.py")
    require(min(layout, statistics) >= 2, place, "an older snapshot, whose rates this script does not compute: use `firstpick verify`")
    files.update({f["path"]: (f["bytes"], f["sha256"]) for f in manifest["files"]})
    sizes, root = [size for size, _ in files.values()], os.path.join(arg.place, arg.snapshot)
    require(len(files) == len(manifest["files"]), place, "lists a file twice")
    require(not any(re.search(r"(^|/)\.{0,2}(/|$)|[\\:]", path) for path in files), place, "lists a file outside the snapshot")
    require(min(sizes) >= 0 and sum(sizes) <= LARGE, place, f"lists files of more than {LARGE} bytes")
    there = {os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/") for folder, _, names in os.walk(root) for name in names}
    extra = there - set(files) - {"manifest.json", "manifest.sig"}
    require(not extra, arg.snapshot, f"not listed in the manifest: {extra}")
    signature = key and read(f"{arg.snapshot}/manifest.sig", 1000)
    if signature:
        check_signature(key, raw.seek(0) or raw.read(), base64.b64decode(signature.read()))
    figures = check_documents(manifest)
    checkpoint = read("log/checkpoint", 1 << 16)
    require(signature or checkpoint or not key, arg.snapshot, "neither manifest.sig nor log/checkpoint is there to be signed")
    log = check_log(checkpoint, key, raw.sha256) if checkpoint else ["no log"]
    signed = "signed with --key" if signature else "no manifest.sig" if key else "manifest.sig not checked: no --key"
    print(printable(f"snapshot {arg.snapshot}: {len(sizes)} files have their digests; {signed}"), figures, *map(printable, log), sep="\n")
    print("not checked: intervals, rank ranges, trials against answers and more, see --help; `firstpick verify` does")

arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arg.add_argument("place", metavar="URL|DIR"), arg.add_argument("--snapshot"), arg.add_argument("--key")
arg = arg.parse_args()
try:
    main()
except Exception as problem:  # whatever a damaged or hostile place has: one line and exit code 1; 5 if it could not be read
    unread = isinstance(problem, (OSError, HTTPException)) and not isinstance(problem, gzip.BadGzipFile)
    fail(5 if unread else 1, reading, f"{type(problem).__name__}: {problem}")
