package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
)

// A place is a data folder with a registered run of a simulated agent.
type place struct {
	data string
	at   time.Time // of the clock
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t.TempDir(), time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)}
	p.run(t, "a")
	return p
}

// run registers and runs an eval.
func (p *place) run(t *testing.T, name string) {
	t.Helper()
	file := filepath.Join(p.data, name+".yaml")
	text := "name: " + name + "\ncategory: payments\nrepeats: 20\nprompts: [{id: p0, text: Take payments.}]\n" +
		"agents: [{name: sim, kind: simulated, seed: 3, truth: {stripe: 1}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(t, exitOK, "registered: entry ", "run", file, "--register")
}

// do runs a command a minute after the last one. It must end with a code, and its output
// must have a text.
func (p *place) do(t *testing.T, code int, want string, args ...string) string {
	t.Helper()
	env := OS()
	var out bytes.Buffer
	env.Args, env.Stdin, env.Stdout, env.Stderr = append(args, "--data", p.data), strings.NewReader(""), &out, &out
	env.Getenv, env.Environ = func(string) string { return "" }, nil
	p.at = p.at.Add(time.Minute)
	env.Now = func() time.Time { return p.at }
	if got := Main(env); got != code || !strings.Contains(out.String(), want) {
		t.Errorf("%q: code %d, want %d and %q in\n%s", args, got, code, want, out.String())
	}
	return out.String()
}

func (p *place) publish(t *testing.T, args ...string) (id string) {
	t.Helper()
	p.do(t, exitOK, "snapshot ", append([]string{"publish", "--allow-synthetic"}, args...)...)
	id, err := publish.Local(p.root()).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (p *place) root() string { return filepath.Join(p.data, "snapshots") }

// TestSecondPlaceOfAKey publishes a registered run to a second place, whose log has the same key.
func TestSecondPlaceOfAKey(t *testing.T) {
	p := newPlace(t)
	p.publish(t)
	other := filepath.Join(p.data, "other")
	for range 2 { // the log of the place is empty, and then it has an entry
		p.do(t, exitOK, "is registered in another log", "publish", "--allow-synthetic", "--snapshots", other)
	}
	for _, root := range []string{p.root(), other} {
		p.do(t, exitOK, "documents recomputed from 20 trials", "verify", root)
	}
	p.do(t, exitOK, `"registered": {`, "snapshot", "show")
}

// TestPruneLogsRemovals deletes a snapshot of the log, and enters that another one was lost.
func TestPruneLogsRemovals(t *testing.T) {
	p := newPlace(t)
	lost := p.publish(t)
	p.run(t, "b")
	pruned := p.publish(t)
	current := p.publish(t, "--evidence", "none")
	if err := os.RemoveAll(filepath.Join(p.root(), lost)); err != nil {
		t.Fatal(err)
	}
	p.do(t, exitFailed, "no later entry removes it", "verify", p.root())
	out := p.do(t, exitOK, "deleted 1 snapshots", "snapshot", "prune", "--keep", "1")
	if !strings.Contains(out, lost+" of the log is missing") || !strings.Contains(out, pruned+"\n") {
		t.Errorf("lost %s, pruned %s:\n%s", lost, pruned, out)
	}
	p.do(t, exitOK, current, "verify", p.root())
	p.do(t, exitOK, "deleted 0 snapshots", "snapshot", "prune", "--keep", "1")
	if n := strings.Count(p.do(t, exitOK, "", "log"), "\tremoval\t"); n != 2 {
		t.Errorf("%d removals, want 2", n)
	}
}

// TestPruneBesidePublish publishes a snapshot, and makes the one that is being pruned the
// current one, after the snapshots were listed.
func TestPruneBesidePublish(t *testing.T) {
	p := newPlace(t)
	older := p.publish(t)
	newer := p.publish(t, "--evidence", "none")
	env, third := OS(), ""
	env.Stdout, env.Stderr = io.Discard, io.Discard
	env.Now = func() time.Time { // first of the removals
		if third == "" {
			third = p.publish(t, "--evidence", "full")
			p.do(t, exitOK, "", "snapshot", "promote", older)
		}
		return p.at
	}
	o := &snapshotOptions{app: &app{env: env, cfg: Config{Data: p.data}}, keep: 1, place: publish.Local(p.root())}
	if err := o.prune(t.Context(), nil); err == nil || !strings.Contains(err.Error(), older+" became the current snapshot meanwhile") {
		t.Error(err)
	}
	for _, id := range []string{older, newer, third} {
		p.do(t, exitOK, id, "verify", p.root(), "--snapshot", id)
	}
	if n := strings.Count(p.do(t, exitOK, "", "log"), older); n != 3 {
		t.Errorf("%d entries of the snapshot that stays; want it, its removal, and it again", n)
	}
}

// TestRestoredLog refuses to append to a log that was restored from an older copy, or removed.
func TestRestoredLog(t *testing.T) {
	p := newPlace(t)
	p.publish(t)
	log, older := filepath.Join(p.root(), "log"), filepath.Join(p.data, "older")
	if err := os.CopyFS(older, os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	p.publish(t, "--evidence", "none")
	for _, tt := range []struct { // in this order: the second uses up what the first restored
		reason  string
		restore func() error
	}{
		{"the log was truncated: before: 3 entries", func() error { return os.Rename(older, log) }},
		{"the log was removed; before: 3 entries", func() error { return nil }},
	} {
		if err := errors.Join(os.RemoveAll(log), tt.restore()); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"publish", "--allow-synthetic", "--evidence", "full"},
			{"run", filepath.Join(p.data, "a.yaml"), "--register"},
			{"snapshot", "prune", "--keep", "1"},
		} {
			if out := p.do(t, exitUsage, tt.reason, args...); !strings.Contains(out, "hint: restore the newer copy") || !strings.Contains(out, "heads.json") {
				t.Error(out)
			}
		}
	}
	if err := os.Remove(filepath.Join(p.data, "heads.json")); err != nil {
		t.Fatal(err)
	}
	p.publish(t, "--evidence", "none")
	p.do(t, exitOK, "log: 1 entries", "verify", p.root())
}

// TestRetractionIsSeen: lists show it, promote and publish refuse the snapshot.
func TestRetractionIsSeen(t *testing.T) {
	p := newPlace(t)
	older := p.publish(t)
	current := p.publish(t, "--evidence", "none")
	source := archived{publish.Local(p.root())}
	stamp, err := source.Stamp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.do(t, exitOK, "entry 3 of the log", "log", "erratum", older[:6], "--text", "A typing error.")
	p.do(t, exitOK, "firstpick snapshot promote "+older, "log", "retract", current, "--reason", "The wrong\x1b[1m model.")
	if again, err := source.Stamp(t.Context()); err != nil || again == stamp {
		t.Errorf("the stamp stays, %v", err)
	}
	list, err := source.Snapshots(t.Context())
	if err != nil || len(list) != 2 || !strings.HasPrefix(list[0].Retracted, "The wrong") || !slices.Equal(list[1].Errata, []string{"A typing error."}) {
		t.Errorf("%+v, %v", list, err)
	}
	out := p.do(t, exitOK, "erratum: A typing error.", "snapshot", "list", "--csv")
	if !strings.Contains(out, "retracted: The wrong") || strings.Contains(out, "\x1b") {
		t.Error(out)
	}
	p.do(t, exitOK, `"Retracted": "The wrong`, "snapshot", "list", "--json")
	p.do(t, exitUsage, current+" is retracted: The wrong", "publish", "--allow-synthetic", "--evidence", "none")
	p.do(t, exitOK, "", "snapshot", "promote", older)
	p.do(t, exitUsage, current+" is retracted: The wrong", "snapshot", "promote", current)
	if out := p.do(t, exitOK, "", "log", "retract", older, "--reason", "x"); !strings.Contains(out, "publish --run RUN") {
		t.Error(out)
	}
}

// TestKeyIsCreatedWithTheLog: a command that fails creates none.
func TestKeyIsCreatedWithTheLog(t *testing.T) {
	p := &place{data: t.TempDir()}
	p.do(t, exitUsage, "", "publish")
	if _, err := os.Stat(filepath.Join(p.data, signingKey)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
