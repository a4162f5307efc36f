#!/usr/bin/env python3
"""Check a firstpick snapshot without firstpick: python3 verify.py URL|DIR [--snapshot ID] [--key publish.pub]

It checks every digest, the Merkle log (RFC 6962), and computes pickRate, shortlistRate, defaultRate
and picks of every tool of every board again from rows.ndjson.gz. Python 3.9; --key needs openssl."""
import argparse, base64, collections, gzip, hashlib, io, json, os, subprocess, sys, tempfile, urllib.error, urllib.request
from fractions import Fraction

arg = argparse.ArgumentParser(description=__doc__)
arg.add_argument("place"), arg.add_argument("--snapshot"), arg.add_argument("--key")
arg = arg.parse_args()


def fail(text):
    sys.exit("error: " + text)


def read(name, optional=False):
    """The bytes of a published file; a server has the log beside the folder of snapshots."""
    try:
        if "://" in arg.place:
            below = "/" if name.startswith("log/") else "/snapshots/"
            with urllib.request.urlopen(arg.place.rstrip("/") + below + name, timeout=60) as answer:
                return answer.read()
        with open(os.path.join(arg.place, *name.split("/")), "rb") as file:
            return file.read()
    except (FileNotFoundError, urllib.error.HTTPError) as problem:
        if optional and getattr(problem, "code", 404) == 404:
            return None
        fail(f"{name}: {problem}")


def check_signature(name, message, signature):
    with tempfile.TemporaryDirectory() as tmp:
        paths = [os.path.join(tmp, "message"), os.path.join(tmp, "signature")]
        for path, data in zip(paths, (message, signature)):
            with open(path, "wb") as file:
                file.write(data)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", arg.key, "-rawin", "-in", paths[0], "-sigfile", paths[1]]
        if subprocess.run(command, capture_output=True).returncode:
            fail(f"{name}: {arg.key} did not sign it")


def root_hash(leaves):
    if len(leaves) == 1:
        return leaves[0]
    k = 1 << (len(leaves) - 1).bit_length() - 1  # the largest power of two below the number
    return hashlib.sha256(b"\x01" + root_hash(leaves[:k]) + root_hash(leaves[k:])).digest()


def check_log(checkpoint, id, digest):
    text, signatures = checkpoint.decode().split("\n\n", 1)
    origin, size, root = text.split("\n")[:3]
    size = int(size)
    if arg.key:
        line = next(line for line in signatures.splitlines() if line.startswith("\u2014 " + origin + " "))
        check_signature("log/checkpoint", (text + "\n").encode(), base64.b64decode(line.split()[-1])[4:])
    leaves, live = [], {}
    for n in range((size + 255) // 256):
        digits = [f"{n // 1000 ** i % 1000:03d}" for i in range(max(1, -(-len(str(n)) // 3)))]
        name = "log/tile/entries/" + "/".join("x" + d for d in digits[:0:-1]) + "/" * (len(digits) > 1) + digits[0]
        width = min(256, size - n * 256)
        data = io.BytesIO(read(name + (f".p/{width}" if width < 256 else "")))
        for _ in range(width):
            entry = data.read(int.from_bytes(data.read(2), "big"))
            leaves.append(hashlib.sha256(b"\x00" + entry).digest())
            entry = json.loads(entry)
            if entry["kind"] == "snapshot":
                live[entry["id"]] = entry["manifestSha256"]
            elif entry["kind"] == "removal":
                live.pop(entry["snapshot"], None)
    if root_hash(leaves) != base64.b64decode(root):
        fail("log: the entries do not have the root hash of log/checkpoint")
    if live.get(id) != digest:
        fail(f"log: no entry of snapshot {id} with the digest {digest}")
    return f"log of {size} entries has the snapshot, root hash {root}"


def weights_of(evals):
    """The weights of agents by name, or none if they are equal or the evals disagree."""
    out = {}
    for e in evals:
        for agent, weight in (e.get("weights") or {}).items():
            if out.setdefault(agent, weight) != weight:
                return {}
    return out if all(a["name"] in out for e in evals for a in e["agents"]) else {}


def check_board(board, rows, evals):
    trials, counts, weights = collections.Counter(), collections.Counter(), weights_of(evals)
    for r in rows:
        cell = (r["agent"], r.get("family") or "prompt " + r["eval"] + "/" + r["prompt"])
        trials[cell] += 1
        picked = r.get("picked", "") if r["outcome"] == "tool" else ""
        others = set(r.get("shortlist", [])) - {picked}
        for slug in others | {picked} - {""}:
            counts["shortlistRate", slug, cell] += 1
        counts["pickRate", picked, cell] += 1
        counts["defaultRate", picked, cell] += not others
    families = collections.Counter(agent for agent, _ in trials)
    weight = {a: Fraction(str(weights.get(a, 0) if weights else 1)) for a in families}
    for tool in board["tools"]:
        slug = tool["slug"]
        should = {"picks": sum(counts["pickRate", slug, cell] for cell in trials), "nTrials": sum(trials.values())}
        for name in ("pickRate", "shortlistRate", "defaultRate"):  # families and agents weigh equally
            should[name] = sum(weight[c[0]] / families[c[0]] * Fraction(counts[name, slug, c], n) for c, n in trials.items()) / sum(weight.values())
        for name, value in should.items():
            if abs(Fraction(tool[name]) - value) > Fraction("1e-9") + (Fraction("5e-7") if "Rate" in name else 0):  # six decimals
                fail(f"boards/{board['category']}.json: {slug}: {name} is {tool[name]}, the trials give {float(value)}")
    return len(board["tools"])


id = arg.snapshot or read("current").decode().strip()
raw = read(id + "/manifest.json")
digest, manifest, lines, boards = hashlib.sha256(raw).hexdigest(), json.loads(raw), None, []
if digest[:20] != id:
    fail(f"{id}/manifest.json: its digest starts with {digest[:20]}")
signature = read(id + "/manifest.sig", optional=True)
if arg.key and signature:
    check_signature("manifest.sig", raw, base64.b64decode(signature))
for file in manifest["files"]:
    data = read(id + "/" + file["path"])
    if hashlib.sha256(data).hexdigest() != file["sha256"] or len(data) != file["bytes"]:
        fail(f"{id}/{file['path']}: digest or size differs from the manifest")
    if file["path"] == "rows.ndjson.gz":
        lines = gzip.decompress(data).splitlines()
    elif file["path"].startswith("boards/"):
        boards.append(json.loads(data))
print(f"snapshot {id}: {len(manifest['files'])} files have their digests")
checkpoint = read("log/checkpoint", optional=True)
if arg.key and not signature and not checkpoint:
    fail(f"{id}: neither manifest.sig nor log/checkpoint is there to be signed")
print(check_log(checkpoint, id, digest) if checkpoint else "no log")
if lines is None or manifest.get("statistics", 1) < 2:
    fail(f"{id}: an older snapshot, whose rates cannot be computed from rows.ndjson.gz")
rows = collections.defaultdict(list)
for row in map(json.loads, lines):
    rows[row["category"]].append(row)
tools = [check_board(b, rows[b["category"]], [e for e in manifest["evals"] if e["category"] == b["category"]]) for b in boards]
print(f"{len(lines)} trials give the rates of {sum(tools)} tools on {len(boards)} boards")
