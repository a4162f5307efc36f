package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
)

const verifyScript = "../../server/public/docs/pages/verify.py"

// python skips, or fails where FIRSTPICK_REQUIRE names python.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "python") {
		t.Fatal("FIRSTPICK_REQUIRE names python, and there is no python3")
	}
	t.Skip("there is no python3")
	return ""
}

// recompute runs the script of the documents.
func recompute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), append([]string{verifyScript}, args...)...).CombinedOutput()
	return string(out), err
}

// Two evals of one category: agents with weights, families of one and of three prompts,
// and an agent that answers half of the families.
const unevenEvals = `name: uneven
category: payments
repeats: 50
weights: {a: 3, b: 1, c: 0.5}
prompts:
  - {id: p0, text: Take payments in project 0., family: shop}
  - {id: p1, text: Take payments in project 1., family: shop}
  - {id: p2, text: Take payments in project 2., family: shop}
  - {id: p3, text: Take payments in project 3., family: blog}
  - {id: p4, text: Take payments in project 4.}
  - {id: p5, text: Take payments in project 5.}
  - {id: p6, text: Take payments in project 6., family: rent}
  - {id: p7, text: Take payments in project 7., family: rent}
  - {id: p8, text: Take payments in project 8.}
  - {id: p9, text: Take payments in project 9.}
agents:
  - {name: a, kind: simulated, seed: 1, truth: {stripe: 2, paypal: 1}}
  - {name: b, kind: simulated, seed: 2, truth: {stripe: 1, paypal: 1, square: 1}}
  - {name: c, kind: simulated, seed: 3, truth: {adyen: 1, stripe: 3}}
---
name: more
category: payments
repeats: 50
weights: {c: 0.5}
prompts:
  - {id: p0, text: Refund an order in project 0., family: refund}
  - {id: p1, text: Refund an order in project 1., family: refund}
  - {id: p2, text: Refund an order in project 2., family: other}
  - {id: p3, text: Refund an order in project 3., family: blog}
  - {id: p4, text: Refund an order in project 4.}
  - {id: p5, text: Refund an order in project 5.}
  - {id: p6, text: Refund an order in project 6.}
  - {id: p7, text: Refund an order in project 7.}
  - {id: p8, text: Refund an order in project 8.}
  - {id: p9, text: Refund an order in project 9.}
agents:
  - {name: c, kind: simulated, seed: 4, truth: {mollie: 1, stripe: 1}}
`

// pythonAgrees checks that script and program agree on every rate of the recorded study.
func pythonAgrees(t *testing.T, p publisher) {
	p.publish(t)
	url := p.serve(t)
	for _, args := range [][]string{{url, "--key", p.pub}, {p.root()}, {url, "--snapshot", p.older}} {
		out, err := recompute(t, args...)
		if err != nil || !strings.Contains(out, "rates of ") || !strings.Contains(out, "log of 3 entries has the snapshot") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	out, err := recompute(t, url)
	if err != nil || !strings.Contains(out, "4000 trials give the rates of 60 tools on 5 boards") {
		t.Errorf("%v\n%s", err, out)
	}
	_, other := keyPair(t, "o")
	if out, err := recompute(t, url, "--key", other); err == nil || !strings.Contains(out, "did not sign it") {
		t.Errorf("another key: %v\n%s", err, out)
	}
}

// newUneven publishes two snapshots of uneven designs: of the eval more, then of both evals,
// which have 2,000 trials. The log has their registrations.
func newUneven(t *testing.T) publisher {
	t.Helper()
	p := publisher{data: t.TempDir()}
	p.key = filepath.Join(p.data, signingKey)
	texts := strings.Split(unevenEvals, "---\n")
	for i, id := range []*string{&p.older, &p.current} {
		file := filepath.Join(p.data, []string{"more.yaml", "uneven.yaml"}[i])
		if err := os.WriteFile(file, []byte(texts[1-i]), 0o600); err != nil {
			t.Fatal(err)
		}
		firstpick(t, p.data, "run", file, "--register")
		firstpick(t, p.data, "publish", "--allow-synthetic")
		var err error
		if *id, err = publish.Local(p.root()).Current(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestPython checks that the script agrees with the program: on what is right, on attacks,
// and that it reads nothing without a limit.
func TestPython(t *testing.T) {
	python(t)
	base, demo := newUneven(t), publisher{data: t.TempDir()}
	demo.key = filepath.Join(demo.data, signingKey)
	firstpick(t, demo.data, "demo", "--no-serve")
	var err error
	if demo.current, err = publish.Local(demo.root()).Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("uneven design", func(t *testing.T) { t.Parallel(); pythonAgreesOnAnUnevenDesign(t, base) })
	t.Run("both studies", func(t *testing.T) {
		t.Parallel()
		out, err := recompute(t, demo.root())
		if err != nil || !strings.Contains(out, "4000 trials give the rates of 60 tools on 5 boards; 452 observed use rates") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	small := publisher{data: base.data, key: base.key, current: base.older, older: base.current}
	t.Run("attacks", func(t *testing.T) { pythonFindsAttacks(t, small, demo) })
	t.Run("log", func(t *testing.T) { t.Parallel(); pythonReadsTheLog(t, base.copied(t)) })
	t.Run("limits", func(t *testing.T) { t.Parallel(); pythonHasLimits(t, small) })
}

func pythonAgreesOnAnUnevenDesign(t *testing.T, p publisher) {
	out, err := recompute(t, p.root())
	if err != nil || !strings.Contains(out, "2000 trials give the rates of") || !strings.Contains(out, "log of 4 entries") || !strings.Contains(out, "that are there: 1;") {
		t.Errorf("%v\n%s", err, out)
	}
	if code, out := verify(t, t.TempDir(), p.root()); code != exitOK || strings.Contains(out, "registration") {
		t.Errorf("code %d\n%s", code, out)
	}
	s, err := publish.LoadSigned(p.root(), p.current, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range s.Manifest.Evals { // sorted by name: more, uneven
		if reg := e.Runs[0].Registered; reg == nil || reg.Index != int64(2*i) || reg.At.IsZero() {
			t.Errorf("eval %s: registered %+v", e.Name, reg)
		}
	}
	b, _ := s.Board("payments")
	if raw := b.Tools[0].RawRate; raw == nil || *raw == b.Tools[0].PickRate {
		t.Error("the design is not uneven: every trial counts the same")
	}
}

// A forgery is a snapshot that its publisher changes: its files by name, and its manifest.
type forgery struct {
	t        *testing.T
	dir      string
	manifest map[string]any
}

// edit changes a JSON file.
func (d forgery) edit(name string, change func(doc map[string]any)) {
	d.t.Helper()
	var doc map[string]any
	d.write(name, func(data []byte) []byte {
		if err := json.Unmarshal(data, &doc); err != nil {
			d.t.Fatal(err)
		}
		change(doc)
		out, err := content.JSON(doc)
		if err != nil {
			d.t.Fatal(err)
		}
		return out
	})
}

// write changes a file.
func (d forgery) write(name string, change func(data []byte) []byte) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// add lists a file with a content.
func (d forgery) add(name string) {
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte("{}\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.manifest["files"] = append(list(d.manifest["files"]), map[string]any{"path": name})
}

// remove removes the files with a prefix.
func (d forgery) remove(prefix string) {
	d.manifest["files"] = slices.DeleteFunc(list(d.manifest["files"]), func(f any) bool {
		path := object(f)["path"].(string)
		return strings.HasPrefix(path, prefix) && os.Remove(filepath.Join(d.dir, filepath.FromSlash(path))) == nil
	})
}

func list(v any) []any               { return v.([]any) }
func object(v any) map[string]any    { return v.(map[string]any) }
func tools(doc map[string]any) []any { return list(doc["tools"]) }

// reseal returns a copy of the publisher with a changed snapshot, whose digests, id and log fit.
func (p publisher) reseal(t *testing.T, change func(d forgery)) publisher {
	t.Helper()
	q := p
	q.data = t.TempDir()
	if err := os.CopyFS(q.root(), os.DirFS(p.root())); err != nil {
		t.Fatal(err)
	}
	d := forgery{t: t, dir: filepath.Join(q.root(), p.current)}
	d.edit("manifest.json", func(m map[string]any) {
		d.manifest = m
		change(d)
		for _, f := range list(m["files"]) {
			data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(object(f)["path"].(string))))
			if err != nil {
				t.Fatal(err)
			}
			object(f)["sha256"], object(f)["bytes"] = content.Digest(data), len(data)
		}
	})
	data, err := os.ReadFile(filepath.Join(d.dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	digest := content.Digest(data)
	q.current = digest[:20]
	err = errors.Join(os.Rename(d.dir, filepath.Join(q.root(), q.current)), os.WriteFile(filepath.Join(q.root(), "current"), []byte(q.current+"\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	entries := q.entries(t)
	for i := range entries {
		if entries[i].ID == p.current {
			entries[i].ID, entries[i].ManifestSHA256 = q.current, digest
		}
	}
	q.relog(t, entries...)
	return q
}

// pythonFindsAttacks checks attacks by the publisher himself, who has the key of the log.
func pythonFindsAttacks(t *testing.T, small, demo publisher) {
	board := func(change func(b map[string]any)) func(d forgery) {
		return func(d forgery) { d.edit("boards/payments.json", change) }
	}
	leader := func(b map[string]any) {
		b["tools"] = tools(b)[1:]
		for i, tool := range tools(b) {
			object(tool)["rank"] = i + 1
		}
	}
	same := func(forgery) {}
	for name, tc := range map[string]struct {
		base   publisher
		change func(d forgery)
		after  func(p publisher)
		want   string
	}{
		"the leader is not on the board": {small, board(leader), nil, "boards/payments.json: its tools are not those of catalog.json"},
		"the leader is not in the catalogue": {small, func(d forgery) {
			board(leader)(d)
			d.remove("reports/payments/stripe.json")
			d.edit("catalog.json", func(c map[string]any) {
				category := object(list(c["categories"])[0])
				category["entries"] = slices.DeleteFunc(list(category["entries"]), func(e any) bool { return object(e)["slug"] == "stripe" })
			})
		}, nil, "rows.ndjson.gz: trial ['payments', 'more', "},
		"no boards": {small, func(d forgery) {
			for _, prefix := range []string{"boards/", "reports/", "prompts/"} {
				d.remove(prefix)
			}
			d.edit("categories.json", func(c map[string]any) { c["categories"] = []any{} })
		}, nil, "categories.json: not the categories of the manifest's evals"},
		"a changed rank": {small, func(d forgery) {
			board(func(b map[string]any) { object(tools(b)[1])["rank"] = 1 })(d)
			d.edit("reports/payments/stripe.json", func(r map[string]any) { r["rank"] = 1 })
		}, nil, "boards/payments.json: "},
		"a changed rate":   {small, board(func(b map[string]any) { object(tools(b)[0])["pickRate"] = 0.9 }), nil, "boards/payments.json: stripe: pickRate is 0.9, computed: 0.5"},
		"changed outcomes": {small, board(func(b map[string]any) { object(b["outcomes"])["diy"] = 7 }), nil, "boards/payments.json: total: diy is 7, computed: 0"},
		"a changed report": {small, func(d forgery) {
			d.edit("reports/payments/stripe.json", func(r map[string]any) { r["ciLow"] = 0.4 })
		}, nil, "reports/payments/stripe.json: ['ciLow'] differ"},
		"a changed prompt": {small, func(d forgery) {
			d.edit("prompts/payments.json", func(l map[string]any) { object(list(l["prompts"])[0])["text"] = "Use Stripe." })
		}, nil, "prompts/payments.json: the text of p0"},
		"a trial twice": {small, func(d forgery) { d.write("rows.ndjson.gz", func(data []byte) []byte { return append(data, data...) }) }, nil, "occurs twice"},
		"a file twice": {small, func(d forgery) {
			d.manifest["files"] = append(list(d.manifest["files"]), list(d.manifest["files"])[0])
		}, nil, "manifest.json: lists a file twice"},
		"another file":       {small, func(d forgery) { d.add("zzz.json") }, nil, "zzz.json: unexpected file"},
		"an unlisted file":   {small, same, func(p publisher) { _ = os.WriteFile(filepath.Join(p.root(), p.current, "more.json"), nil, 0o600) }, "not listed in the manifest: {'more.json'}"},
		"a later layout":     {small, func(d forgery) { d.manifest["schemaVersion"] = 9 }, nil, "unknown schemaVersion 9"},
		"later statistics":   {small, func(d forgery) { d.manifest["statistics"] = 99 }, nil, "statistics 99"},
		"a dropped snapshot": {small, same, func(p publisher) { _ = os.RemoveAll(filepath.Join(p.root(), p.older)) }, small.older + "/manifest.json: missing"},
		"an invalid signature": {small, same, func(p publisher) {
			p.rewrite(t, "log/checkpoint", func(s string) string { return s[:len(s)-20] + strings.Repeat("A", 17) + s[len(s)-3:] })
		}, "log/checkpoint: invalid signature"},
		"a changed use rate": {demo, func(d forgery) {
			d.edit("observed/auth.json", func(b map[string]any) { object(tools(b)[0])["useRate"] = 0.99 })
		}, nil, "observed/auth.json: "},
		"a missing observed board": {demo, func(d forgery) {
			d.remove("observed/auth.json")
			d.edit("observed.json", func(l map[string]any) { l["categories"] = slices.Delete(list(l["categories"]), 1, 2) })
		}, nil, "observed.json: a category of catalog.json is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tc.base.reseal(t, tc.change)
			if tc.after != nil {
				tc.after(p)
			}
			pythonRefuses(t, tc.want, p.root())
			want := exitFailed
			if strings.HasPrefix(name, "a later") || strings.HasPrefix(name, "later") {
				want = exitUnread // by this version
			}
			if code, out := verify(t, t.TempDir(), p.root()); code != want {
				t.Errorf("the program: code %d, want %d\n%s", code, want, out)
			}
		})
	}
}

// pythonRefuses checks that the script ends with one line and code 1.
func pythonRefuses(t *testing.T, want string, args ...string) {
	t.Helper()
	pythonFails(t, exitFailed, want, args...)
}

// pythonFails checks that the script ends with one line and the code.
func pythonFails(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	out, err := recompute(t, args...)
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.HasPrefix(out, "error: ") || strings.Count(out, "\n") != 1 || !strings.Contains(out, want) {
		t.Errorf("%v, no %q in\n%s", err, want, out)
	}
}

// pythonReadsTheLog checks what the log says of snapshots, and weights that count nothing.
func pythonReadsTheLog(t *testing.T, p publisher) {
	firstpick(t, p.data, "log", "erratum", p.current, "--text", "A typing error.")
	firstpick(t, p.data, "log", "retract", p.older, "--reason", "The wrong\nmodel.")
	for id, want := range map[string]string{p.current: "ERRATUM: A typing error.", p.older: "RETRACTION: The wrong?model."} {
		if out, err := recompute(t, p.root(), "--snapshot", id); err != nil || !strings.Contains(out, want+"\n") {
			t.Errorf("%v, no %q in\n%s", err, want, out)
		}
	}
	firstpick(t, p.data, "snapshot", "prune", "--keep", "1")
	if out, err := recompute(t, p.root()); err != nil || !strings.Contains(out, "that are there: 0;") {
		t.Errorf("after prune: %v\n%s", err, out)
	}
}

// pythonHasLimits checks that a hostile place gets no memory, no other host and no traceback.
func pythonHasLimits(t *testing.T, p publisher) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inside.Close)
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/redirect/"):
			http.Redirect(w, r, inside.URL, http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/current"):
			_, _ = io.WriteString(w, p.current)
		default:
			for page := make([]byte, 1<<20); ; {
				if _, err := w.Write(page); err != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(hostile.Close)
	pythonRefuses(t, "/manifest.json: more than 67108864 bytes", hostile.URL)
	if pythonFails(t, exitUnread, "HTTP Error 302: Found", hostile.URL+"/redirect"); asked.Load() > 0 {
		t.Error("a redirect to another host was followed")
	}
	pythonFails(t, exitUnread, "current: URLError: ", "http://127.0.0.1:1")
	bomb := p.reseal(t, func(d forgery) {
		d.write("rows.ndjson.gz", func([]byte) []byte {
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			_, err1 := io.CopyN(zip, zeros{}, 32<<20)
			if err := errors.Join(err1, zip.Close()); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		})
	})
	pythonRefuses(t, "rows.ndjson.gz: JSONDecodeError", bomb.root())
	empty := p.reseal(t, func(forgery) {})
	empty.rewrite(t, "log/checkpoint", replace("\n4\n", "\n0\n"))
	pythonRefuses(t, "log/checkpoint: invalid signature", empty.root())
	weightless := p.reseal(t, func(d forgery) { object(list(d.manifest["evals"])[0])["weights"] = map[string]any{"c": 0} })
	if code, out := verify(t, t.TempDir(), weightless.root()); code != exitOK {
		t.Errorf("the program: code %d\n%s", code, out)
	}
	if out, err := recompute(t, weightless.root()); err != nil {
		t.Errorf("weights of 0: %v\n%s", err, out)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
