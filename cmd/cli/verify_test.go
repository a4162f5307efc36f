package cli

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

// A publisher is a data folder with two signed snapshots of the study, and a log of both.
type publisher struct {
	data, key, pub string
	older, current string
	runs           []string
}

func newPublisher(t *testing.T) publisher {
	t.Helper()
	p := publisher{data: t.TempDir()}
	p.key, p.pub = keyPair(t, "k")
	firstpick(t, filepath.Join(p.data, "first"), "demo", "--no-serve") // unsigned, in a place of its own
	if err := os.Rename(filepath.Join(p.data, "first", "runs"), filepath.Join(p.data, "runs")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(p.data, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		p.runs = append(p.runs, e.Name())
	}
	p.older = p.publish(t, "--run", p.runs[0])
	p.current = p.publish(t, "--run", p.runs[1])
	return p
}

func (p publisher) root() string { return filepath.Join(p.data, "snapshots") }

func (p publisher) publish(t *testing.T, args ...string) string {
	t.Helper()
	firstpick(t, p.data, append([]string{"publish", "--sign", p.key}, args...)...)
	id, err := publish.Local(p.root()).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// copied returns a publisher with a copy of the data.
func (p publisher) copied(t *testing.T) publisher {
	t.Helper()
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(p.data)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(p.data, func(path string, d fs.DirEntry, err error) error { // snapshots are listed by their times
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(data, strings.TrimPrefix(path, p.data)), info.ModTime(), info.ModTime())
	}); err != nil {
		t.Fatal(err)
	}
	p.data = data
	return p
}

// serve serves the published files with the paths of the server.
func (p publisher) serve(t *testing.T) string {
	t.Helper()
	files := http.FileServer(http.Dir(p.root()))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/snapshots")
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// verify runs the command as a person with a home folder, and returns its code and output.
func verify(t *testing.T, home string, args ...string) (code int, output string) {
	t.Helper()
	env := OS()
	var out bytes.Buffer
	env.Args, env.Stdin, env.Stdout, env.Stderr = append([]string{"verify"}, args...), strings.NewReader(""), &out, &out
	env.Getenv, env.Environ = func(string) string { return "" }, nil
	env.ConfigDir = func() (string, error) { return home, nil }
	code = Main(env)
	return code, out.String()
}

func TestVerify(t *testing.T) {
	p := newPublisher(t)
	t.Run("attacks", func(t *testing.T) { findsAttacks(t, p) })
	t.Run("python", func(t *testing.T) { pythonAgrees(t, p.copied(t)) })
	t.Run("registrations", func(t *testing.T) { checksRegistrations(t, p) })
	t.Run("races", func(t *testing.T) { toleratesPublishers(t, p) })
	t.Run("notes", func(t *testing.T) { notesWhatIsOdd(t, p) })
	t.Run("keys", func(t *testing.T) { logKeepsItsKey(t, p.copied(t)) })
	home, url := t.TempDir(), p.serve(t)
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"a server":       {[]string{url, "--trust", p.pub}, []string{p.current + ": ", "signature valid", "first seen", "given with --trust", "entry 1; 1 other snapshots"}},
		"a snapshot":     {[]string{url, "--snapshot", p.older}, []string{p.older, "signature valid", "entry 0"}},
		"its address":    {[]string{url + "/snapshots/" + p.older}, []string{p.older}},
		"a folder":       {[]string{p.root()}, []string{p.current}},
		"a file address": {[]string{"file://" + p.root(), "--json"}, []string{`"ok": true`, `"entry": 1`, `"served": 1`, `"signatureValid": true`}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := verify(t, t.TempDir(), tc.args...)
			for _, want := range tc.want {
				if code != exitOK || !strings.Contains(out, want) {
					t.Errorf("code %d, no %q in\n%s", code, want, out)
				}
			}
		})
	}
	for range 2 {
		verify(t, home, url)
	}
	third := p.publish(t)
	code, out := verify(t, home, url)
	if code != exitOK || !strings.Contains(out, third) || !strings.Contains(out, "continues the head of the last check, of 2 entries") {
		t.Errorf("code %d\n%s", code, out)
	}
	firstpick(t, p.data, "log", "erratum", p.older[:7], "--text", "A typing error.", "--sign", p.key)
	firstpick(t, p.data, "log", "retract", third, "--reason", "The wrong\nmodel.", "--sign", p.key)
	for id, want := range map[string]string{p.older: "erratum: A typing error.", third: "retracted: The wrong"} {
		if code, out := verify(t, home, url, "--snapshot", id); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("code %d\n%s", code, out)
		}
	}
	firstpick(t, p.data, "snapshot", "promote", p.current)
	firstpick(t, p.data, "snapshot", "prune", "--keep", "1", "--sign", p.key)
	if code, out := verify(t, home, url); code != exitOK || !strings.Contains(out, "0 other snapshots") {
		t.Errorf("after prune: code %d\n%s", code, out)
	}
	if code, out := verify(t, home, url, "--snapshot", p.older); code != exitFailed || !strings.Contains(out, p.older+"/manifest.json: missing") {
		t.Errorf("a pruned one: code %d\n%s", code, out)
	}
	if err := os.RemoveAll(filepath.Join(p.root(), "log")); err != nil {
		t.Fatal(err)
	}
	if code, out := verify(t, t.TempDir(), p.root()); code != exitOK || !strings.Contains(out, "no log") {
		t.Errorf("without a log: code %d\n%s", code, out)
	}
}

// rewrite changes a file of a snapshot.
func (p publisher) rewrite(t *testing.T, name string, change func(string) string) {
	t.Helper()
	path := filepath.Join(p.root(), name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(string(data))
	if changed == string(data) {
		t.Fatalf("%s does not change", name)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(old, other string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, other, 1) }
}

// forge changes a file of the current snapshot, makes every digest fit, and promotes it: as
// a publisher would who wants other figures.
func (p publisher) forge(t *testing.T, name string, change func(string) string) {
	t.Helper()
	var before, after string
	p.rewrite(t, p.current+"/"+name, func(s string) string { before, after = s, change(s); return after })
	digest := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }
	var manifest string
	p.rewrite(t, p.current+"/manifest.json", func(s string) string {
		place := func(of string) string { return fmt.Sprintf(`%s","bytes":%d`, digest(of), len(of)) }
		manifest = replace(place(before), place(after))(s)
		return manifest
	})
	id := digest(manifest)[:20]
	err := errors.Join(
		os.RemoveAll(filepath.Join(p.root(), p.current, "manifest.sig")),
		os.Rename(filepath.Join(p.root(), p.current), filepath.Join(p.root(), id)),
		os.WriteFile(filepath.Join(p.root(), "current"), []byte(id+"\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// relog replaces the log by one of the same key with other entries.
func (p publisher) relog(t *testing.T, entries ...translog.Entry) {
	t.Helper()
	key, err := publish.ReadPrivateKey(p.key)
	if err == nil {
		err = os.RemoveAll(filepath.Join(p.root(), "log"))
	}
	if err == nil {
		_, err = translog.Log{Store: storage.Folder(p.root()), Signer: key}.Append(t.Context(), entries...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p publisher) entries(t *testing.T) []translog.Entry {
	t.Helper()
	v, err := translog.Open(t.Context(), storage.Folder(p.root()))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := v.Entries(t.Context(), 0, v.Size)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// findsAttacks checks that each attack ends with exit code 1 and the place.
func findsAttacks(t *testing.T, base publisher) {
	home, served := t.TempDir(), base.serve(t)
	if code, out := verify(t, home, served); code != exitOK {
		t.Fatal(out)
	}
	heads, err := os.ReadFile(filepath.Join(home, "firstpick", "heads.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, otherPub := keyPair(t, "o")
	board := strings.TrimPrefix(base.runs[1], "demo-twist-")
	board, _, _ = strings.Cut(board, "-")
	for name, tc := range map[string]struct {
		attack func(p publisher)
		args   []string
		want   []string // in the output; CURRENT and OLDER stand for the ids
	}{
		"one changed trial": {func(p publisher) {
			p.rewrite(t, p.current+"/trials.parquet", func(s string) string { return s[:2000] + string(s[2000]^1) + s[2001:] })
		}, nil, []string{"CURRENT/trials.parquet: digest differs"}},
		"one changed trial, digests made to fit, no log": {func(p publisher) {
			data, err := os.ReadFile(filepath.Join(p.root(), p.older, "rows.ndjson.gz"))
			if err != nil {
				t.Fatal(err)
			}
			p.forge(t, "rows.ndjson.gz", func(string) string { return string(data) })
			_ = os.RemoveAll(filepath.Join(p.root(), "log"))
		}, nil, []string{"/rows.ndjson.gz: line 1 differs from trials.parquet: want {"}},
		"one changed figure": {func(p publisher) {
			p.rewrite(t, p.current+"/boards/"+board+".json", replace(`"pickRate":0.`, `"pickRate":0.9`))
		}, nil, []string{"CURRENT/boards/" + board + ".json: "}},
		"one changed figure, digests made to fit": {func(p publisher) {
			p.forge(t, "boards/"+board+".json", replace(`"picks":`, `"picks":1`))
		}, nil, []string{"/boards/" + board + ".json: tools[0].picks (", "is 1", "; the trials of the snapshot give "}},
		"one changed figure, digests made to fit, no log": {func(p publisher) {
			p.forge(t, "boards/"+board+".json", replace(`"picks":`, `"picks":1`))
			_ = os.RemoveAll(filepath.Join(p.root(), "log"))
		}, []string{"--json"}, []string{"boards/" + board + `.json"`, `"field": "tools[0].picks"`, `"board": "` + board, `"is": "1`, `"should": "`}},
		"a snapshot that was not logged": {func(p publisher) { p.forge(t, "refs.json", replace("{", "{ ")) }, []string{"--trust", base.pub}, []string{"log: no entry of snapshot"}},
		"one dropped snapshot": {func(p publisher) {
			_ = os.RemoveAll(filepath.Join(p.root(), p.older))
		}, nil, []string{"OLDER/manifest.json: missing", "entry 0 of the log"}},
		"a forked log": {func(p publisher) {
			entries := p.entries(t)
			entries[0].At = entries[0].At.Add(time.Second)
			p.relog(t, append(entries, translog.Entry{Kind: translog.Erratum, At: entries[0].At, Snapshot: p.older, Text: "x"})...)
		}, nil, []string{"log/checkpoint: the log was rewritten (fork): before: 2 entries, root hash ", "now: 3 entries, root hash"}},
		"a log without one snapshot": {func(p publisher) { p.relog(t, p.entries(t)[1]) }, nil, []string{"log/checkpoint: the log was truncated: before: 2 entries", "now: 1 entries"}},
		"a removed log":              {func(p publisher) { _ = os.RemoveAll(filepath.Join(p.root(), "log")) }, nil, []string{"log/checkpoint: missing: the log was removed; before: 2 entries", "hint: ", "heads.json has the signed head before"}},
		"a log of another key": {func(p publisher) {
			entries := p.entries(t)
			p.key, _ = keyPair(t, "x")
			p.relog(t, entries...)
		}, nil, []string{"log/checkpoint: another key signs the log"}},
		"a changed entry": {func(p publisher) {
			p.rewrite(t, "log/tile/entries/000.p/2", replace(`"kind":"snapshot"`, `"kind":"removal_"`))
		}, nil, []string{"log/tile/entries/000.p/2: entry 0 differs"}},
		"a changed tile": {func(p publisher) {
			p.rewrite(t, "log/tile/0/000.p/2", func(s string) string { return string(s[0]^1) + s[1:] })
		}, []string{"--json"}, []string{"log/tile/0/000.p/2: its hashes do not give the root hash", `"file": "log/tile/0/000.p/2"`}},
		"a changed head": {func(p publisher) { p.rewrite(t, "log/checkpoint", replace("\n2\n", "\n3\n")) }, nil, []string{"log/checkpoint: invalid signature"}},
		"a wrong key":    {func(publisher) {}, []string{"--trust", otherPub}, []string{"log/checkpoint: signed with the key", "not trusted"}},
		"a wrong key, no log": {func(p publisher) {
			_ = os.RemoveAll(filepath.Join(p.root(), "log"))
		}, []string{"--trust", otherPub}, []string{"CURRENT/manifest.sig: "}},
		"an unlisted file": {func(p publisher) {
			_ = os.WriteFile(filepath.Join(p.root(), p.current, "more.json"), nil, 0o600)
		}, []string{}, []string{"CURRENT/more.json: not listed"}},
		"an unlisted link": {func(p publisher) {
			_ = os.Symlink("refs.json", filepath.Join(p.root(), p.current, "boards", "more.json"))
		}, []string{}, []string{"CURRENT/boards/more.json: not listed"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := base.copied(t)
			home, at := t.TempDir(), p.serve(t)
			if tc.args != nil && len(tc.args) == 0 {
				at = p.root() // where files are listed
			}
			if !strings.Contains(name, "no log") { // the person verified before
				err := errors.Join(
					os.Mkdir(filepath.Join(home, "firstpick"), 0o700),
					os.WriteFile(filepath.Join(home, "firstpick", "heads.json"), bytes.ReplaceAll(heads, []byte(served), []byte(at)), 0o600),
				)
				if err != nil {
					t.Fatal(err)
				}
			}
			tc.attack(p)
			code, out := verify(t, home, append([]string{at}, tc.args...)...)
			for _, want := range tc.want {
				want = strings.NewReplacer("CURRENT", p.current, "OLDER", p.older).Replace(want)
				if code != exitFailed || !strings.Contains(out, want) || !strings.Contains(out, at) {
					t.Errorf("code %d, no %q in\n%s", code, want, out)
				}
			}
		})
	}
}

// logKeepsItsKey: another key is refused, the data folder's own one is created once.
func logKeepsItsKey(t *testing.T, p publisher) {
	run := func(args ...string) (int, string) {
		env := OS()
		var out bytes.Buffer
		env.Args, env.Stdout, env.Stderr = append(args, "--data", p.data), &out, &out
		env.Getenv, env.Environ = func(string) string { return "" }, nil
		return Main(env), out.String()
	}
	other, _ := keyPair(t, "o")
	for _, args := range [][]string{
		{"publish"}, {"publish", "--sign", other}, {"snapshot", "prune", "--keep", "1"}, {"log", "retract", p.older, "--reason", "x"},
	} {
		if code, out := run(args...); code != exitUsage || !strings.Contains(out, "signed with another key") || !strings.Contains(out, "--sign KEY") {
			t.Errorf("%q: code %d\n%s", args, code, out)
		}
	}
	if _, err := os.Stat(filepath.Join(p.data, signingKey)); err == nil {
		t.Error("a key was created beside a log of another key")
	}
	if code, out := run("publish", "--snapshots", filepath.Join(p.data, "own")); code != exitOK || !strings.Contains(out, signingKey+" is the new key") {
		t.Errorf("code %d\n%s", code, out)
	}
	stat, err := os.Stat(filepath.Join(p.data, signingKey))
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", stat, err)
	}
	key, err := publish.ReadPrivateKey(filepath.Join(p.data, signingKey))
	if err != nil || len(key) != ed25519.PrivateKeySize {
		t.Error(err)
	}
	if code, out := run("publish", "--snapshots", filepath.Join(p.data, "own"), "--run", p.runs[2]); code != exitOK || strings.Contains(out, "new key") {
		t.Errorf("again: code %d\n%s", code, out)
	}
}
