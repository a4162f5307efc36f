package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/runner/journal"
)

// reissue replaces the current snapshot by one with another manifest, and appends its entry
// to the log after others.
func (p *publisher) reissue(t *testing.T, change func(*publish.Manifest) (before []translog.Entry), entry func(*translog.Entry)) {
	t.Helper()
	var m publish.Manifest
	data, err := os.ReadFile(filepath.Join(p.root(), p.current, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	entries := append(p.entries(t)[:1], change(&m)...)
	if data, err = content.JSON(m); err != nil {
		t.Fatal(err)
	}
	e := translog.Entry{Kind: translog.Snapshot, At: entries[0].At, ID: content.Digest(data)[:20], ManifestSHA256: content.Digest(data), AsOf: m.AsOf, Synthetic: m.Synthetic}
	if entry != nil {
		entry(&e)
	}
	err = errors.Join(
		os.RemoveAll(filepath.Join(p.root(), p.current, "manifest.sig")),
		os.WriteFile(filepath.Join(p.root(), p.current, "manifest.json"), data, 0o600),
		os.WriteFile(filepath.Join(p.root(), "current"), []byte(e.ID+"\n"), 0o600),
	)
	if e.ID != p.current {
		err = errors.Join(err, os.Rename(filepath.Join(p.root(), p.current), filepath.Join(p.root(), e.ID)))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.current = e.ID
	p.relog(t, append(entries, e)...)
}

// checksRegistrations: a registration covers one run, and is older than its answers.
func checksRegistrations(t *testing.T, base publisher) {
	key, err := publish.ReadPrivateKey(base.key)
	if err != nil {
		t.Fatal(err)
	}
	name := translog.Origin(publicKey(key))
	for want, change := range map[string]func(m *publish.Manifest, e *translog.Entry, reg *journal.Registered){
		"": func(*publish.Manifest, *translog.Entry, *journal.Registered) {},
		"is the registration of another run, too": func(m *publish.Manifest, _ *translog.Entry, _ *journal.Registered) {
			other := m.Evals[0].Runs[0]
			other.Published = false
			m.Evals[0].Runs = append(m.Evals[0].Runs, other, other)
		},
		"after an answer of the run": func(m *publish.Manifest, e *translog.Entry, reg *journal.Registered) {
			e.At = m.AsOf.Add(time.Minute).Truncate(time.Second)
			reg.At = e.At
		},
		"has the time": func(_ *publish.Manifest, _ *translog.Entry, reg *journal.Registered) {
			reg.At = reg.At.Add(time.Second)
		},
		"planned trials, not":    func(_ *publish.Manifest, e *translog.Entry, _ *journal.Registered) { e.Planned++ },
		"is not a registration":  func(_ *publish.Manifest, _ *translog.Entry, reg *journal.Registered) { reg.Index = 0 },
		"the run names the log ": func(_ *publish.Manifest, _ *translog.Entry, reg *journal.Registered) { reg.Log += "0" },
	} {
		p := base.copied(t)
		p.reissue(t, func(m *publish.Manifest) []translog.Entry {
			eval := &m.Evals[0]
			at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			e := translog.Entry{Kind: translog.Registration, At: at, Eval: eval.Name, Category: eval.Category, SHA256: eval.SHA256, Planned: eval.Runs[0].Planned}
			eval.Runs[0].Registered = &journal.Registered{Index: 1, At: at, Log: name}
			change(m, &e, eval.Runs[0].Registered)
			return []translog.Entry{e}
		}, nil)
		code, out := verify(t, t.TempDir(), p.root())
		if (code == exitOK) != (want == "") || !strings.Contains(out, want) || want != "" && !strings.Contains(out, "manifest.json: a run of eval ") {
			t.Errorf("%q: code %d\n%s", want, code, out)
		}
	}
	for want, change := range map[string]func(*translog.Entry){
		"synthetic is false": func(e *translog.Entry) { e.Synthetic = true },
		"asOf ":              func(e *translog.Entry) { e.AsOf = nil },
	} {
		p := base.copied(t)
		p.reissue(t, func(*publish.Manifest) []translog.Entry { return nil }, change)
		if code, out := verify(t, t.TempDir(), p.root()); code != exitFailed || !strings.Contains(out, want) || !strings.Contains(out, "entry 1 of the log has") {
			t.Errorf("%q: code %d\n%s", want, code, out)
		}
	}
}

// toleratesPublishers: a snapshot that is removed during the check is not missing.
func toleratesPublishers(t *testing.T, base publisher) {
	key, err := publish.ReadPrivateKey(base.key)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		kind translog.Kind
		code int
		want string
	}{
		"removed":   {translog.Removal, exitOK, "3 entries"},
		"retracted": {translog.Retraction, exitOK, "3 entries"},
		"dropped":   {translog.Erratum, exitFailed, "missing"},
		"busy":      {"", exitUnread, "503"},
	} {
		p := base.copied(t)
		files := http.StripPrefix("/snapshots", http.FileServer(http.Dir(p.root())))
		done := false
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path = "/snapshots" + strings.TrimPrefix(r.URL.Path, "/snapshots"); strings.Contains(r.URL.Path, p.older) && !done {
				if tc.kind == "" {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				done = true
				e := translog.Entry{Kind: tc.kind, At: time.Now(), Snapshot: p.older}
				switch tc.kind {
				case translog.Erratum:
					e.Text = "x"
				case translog.Retraction:
					e.Reason = "x"
				case translog.Removal, translog.Snapshot, translog.Registration:
				}
				_, err := translog.Log{Store: storage.Folder(p.root()), Signer: key}.Append(r.Context(), e)
				if err = errors.Join(err, os.RemoveAll(filepath.Join(p.root(), p.older))); err != nil {
					t.Error(err)
				}
			}
			files.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		if code, out := verify(t, t.TempDir(), s.URL); code != tc.code || !strings.Contains(out, tc.want) {
			t.Errorf("%s: code %d\n%s", name, code, out)
		}
		if tc.kind == "" {
			if code, out := verify(t, t.TempDir(), s.URL, "--json"); code != tc.code || !strings.Contains(out, `"error": "`) || !strings.Contains(out, `"ok": false`) {
				t.Errorf("%s: code %d\n%s", name, code, out)
			}
		}
	}
}

// notesWhatIsOdd: nothing is wrong, or the person asked for something else.
func notesWhatIsOdd(t *testing.T, base publisher) {
	p, url := base.copied(t), ""
	err := errors.Join(
		os.WriteFile(filepath.Join(p.root(), "current"), []byte(p.older+"\n"), 0o600),
		os.WriteFile(filepath.Join(p.root(), p.older, "manifest.sig"), []byte("garbage"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	url = p.serve(t)
	home, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.root(), link); err != nil {
		t.Fatal(err)
	}
	noFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(noFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		home string
		args []string
		code int
		want []string
	}{
		{home, []string{url}, exitOK, []string{"first seen", "signed with another key than the log's", "note: the current snapshot is entry 0; the newest snapshot of the log is entry 1 (" + p.current}},
		{home, []string{strings.Replace(url, "http", "HTTP", 1) + "//"}, exitOK, []string{"continues the head"}},
		{home, []string{url, "--json", "--snapshot", p.current[:5]}, exitOK, []string{`"snapshot": "` + p.current, `"signatureChecked": true`}},
		{home, []string{url, "--snapshot", ""}, exitOK, nil},
		{home, []string{url, "--snapshot", "x"}, exitUsage, []string{`"x" is the start of 0 ids`, "hint: firstpick log --snapshots "}},
		{home, []string{p.root()}, exitOK, []string{"first seen"}},
		{home, []string{link}, exitOK, []string{"continues the head"}},
		{home, []string{p.data}, exitUsage, []string{"no current snapshot", "hint: firstpick verify " + filepath.Join(p.data, "snapshots")}},
		{home, []string{"/nonexistent"}, exitUsage, []string{"no folder /nonexistent", "hint: give the address"}},
		{noFolder, []string{p.root()}, exitOK, []string{"note: the head of the log is not remembered: "}},
	} {
		code, out := verify(t, tc.home, tc.args...)
		for _, want := range append(tc.want, "") {
			if code != tc.code || !strings.Contains(out, want) {
				t.Errorf("%q: code %d, no %q in\n%s", tc.args, code, want, out)
			}
		}
	}
}

func TestWebAddress(t *testing.T) {
	for at, want := range map[string]string{
		"http://LOCALHOST:80//": "http://localhost", "HTTPS://Host:443/a//b/": "https://host/a/b", "http://h:8080/a%2Fb": "http://h:8080/a%2Fb",
		"./snapshots": "./snapshots", "s3://Bucket/P/": "s3://Bucket/P/", "C:\\x": "C:\\x",
	} {
		if got := webAddress(at); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}
