package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// An operator is a person with a data folder and a shell.
type operator struct {
	t    *testing.T
	data string
	now  time.Time
}

// call runs a command; sleeping moves the clock.
func (o *operator) call(args ...string) (code int, stdout, stderr string) {
	o.t.Helper()
	var out, report bytes.Buffer
	env := OS()
	env.Args, env.Stdin, env.Stdout, env.Stderr, env.Terminal = append([]string{"--data", o.data}, args...), strings.NewReader(""), &out, &report, nil
	env.StdinIsTTY, env.StdoutIsTTY, env.StderrIsTTY = false, false, false
	env.Getenv = func(string) string { return "" }
	env.Environ = func() []string { return nil }
	env.Now = func() time.Time { return o.now }
	env.Sleep = func(_ context.Context, d time.Duration) error {
		o.now = o.now.Add(d)
		return nil
	}
	env.Signals = func(context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(o.t.Context()) }
	return Main(env), out.String(), report.String()
}

// fill stores an account with a workspace, an event, an eval and files.
func (o *operator) fill() {
	o.t.Helper()
	a := &app{cfg: Config{Data: o.data, DataSet: true}}
	db, _, err := a.openState(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	ctx := o.t.Context()
	if err := db.Write(ctx, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "wsp_acme", Slug: "calm-otter-77", OwnerID: "acc_dana", Plan: "paid", CreatedAt: o.now, ClaimedAt: o.now})
		_, taken := tx.AddEvents(ctx, []state.CollectedEvent{{WorkspaceID: "wsp_acme", ID: "e1", ReceivedAt: o.now, Body: []byte(`{"type":"touch","host":"acme.example"}`)}})
		v := state.EvalVersion{Source: []byte("name: secret-eval"), Digest: "d", Summary: []byte("{}"), CreatedAt: o.now}
		_, _, put := tx.PutEval(ctx, &state.Eval{ID: "evl_acme", WorkspaceID: "wsp_acme", Name: "secret-eval", Latest: v}, state.EvalCap{Evals: 9, Versions: 9})
		_, _, queued := tx.AddRun(ctx, &state.EvalRun{ID: "run_acme", WorkspaceID: "wsp_acme", EvalID: "evl_acme", Version: 1, CreatedAt: o.now}, 9)
		_, _, own := tx.PutCatalog(ctx, &state.CatalogVersion{WorkspaceID: "wsp_acme", Source: []byte("# Acme Inc's secret-eval"), Digest: "d", CreatedAt: o.now, CreatedBy: "acc_dana"}, 0, 9)
		return errors.Join(err, taken, put, queued, own, tx.SetSettings(ctx, "wsp_acme", state.Settings{Name: "Acme Inc", Site: "https://acme.example", RetentionDays: 30}),
			tx.AddAccount(ctx, &state.Account{ID: "acc_dana", Email: "dana@acme.example", VerifiedAt: o.now, CreatedAt: o.now}))
	}); err != nil {
		o.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		o.t.Fatal(err)
	}
	dir := filepath.Join(o.data, "evals", "wsp_acme", "runs", "run_acme")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "journal.ndjson"), []byte("secret-eval"), 0o600)); err != nil {
		o.t.Fatal(err)
	}
}

// TestAdminErase deletes an account, proves it, and restores a backup without it.
func TestAdminErase(t *testing.T) {
	o := &operator{t: t, data: t.TempDir(), now: time.Date(2026, 11, 9, 10, 0, 0, 0, time.UTC)}
	o.fill()
	backup := filepath.Join(t.TempDir(), "state.backup")
	if code, _, report := o.call("admin", "backup", backup); code != exitOK {
		t.Fatal(report)
	}
	names := []string{"acc_dana", "dana@acme.example", "wsp_acme", "calm-otter-77", "Acme Inc", "acme.example", "secret-eval", "run_acme"}
	check := append([]string{"admin", "erase", "--check"}, names...)
	if code, out, report := o.call(check...); code != exitFailed || !strings.Contains(out, "table account") || !strings.Contains(out, "journal.ndjson") || !strings.Contains(report, "out of reach: backups") {
		t.Fatalf("before: %d %s%s", code, out, report)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"account", "dana@acme.example"}, exitUsage, "add --yes"},
		{[]string{"account", "nobody@acme.example", "--yes"}, exitUsage, "no account"},
		{[]string{"workspace", "no-such-1", "--yes"}, exitUsage, "no workspace"},
		{[]string{"eval", "evl_none", "--yes"}, exitUsage, "no eval"},
		{[]string{"planet", "mars"}, exitUsage, "account, workspace, eval, run"},
		{[]string{"--check", "ab"}, exitUsage, "too short"},
		{[]string{"account", "dana@acme.example", "--yes"}, exitOK, "firstpick admin erase --check acc_dana dana@acme.example wsp_acme calm-otter-77 'Acme Inc' acme.example"},
	} {
		if code, _, report := o.call(append([]string{"admin", "erase"}, c.args...)...); code != c.code || !strings.Contains(report, c.want) {
			t.Errorf("%v: %d %s", c.args, code, report)
		}
	}
	if code, out, report := o.call(check...); code != exitOK || out != "" || !strings.Contains(report, "nothing found in") {
		t.Errorf("after: %d %s%s", code, out, report)
	}
	session := filepath.Join(o.data, agentFile)
	if err := os.WriteFile(session, []byte(`{"workspace":"calm-otter-77"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, report := o.call(check...); code != exitFailed || !strings.Contains(report, "error: found in 1 place, of ") || !strings.Contains(report, "hint: "+session+" is the session of firstpick agent on this machine: firstpick agent forget deletes it") {
		t.Errorf("with a session: %d %s", code, report)
	}
	if err := os.Remove(session); err != nil {
		t.Fatal(err)
	}

	list := filepath.Join(o.data, "erasures.ndjson")
	r := &operator{t: t, data: t.TempDir(), now: o.now}
	key, err := os.ReadFile(filepath.Join(o.data, state.MasterFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.data, state.MasterFile), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, report := r.call("admin", "restore", backup, "--erasures", filepath.Join(r.data, "none")); code != exitUsage {
		t.Errorf("a missing list: %d %s", code, report)
	}
	if code, _, report := r.call("admin", "restore", backup, "--erasures", list); code != exitOK || !strings.Contains(report, "erased again") {
		t.Fatalf("restore: %d %s", code, report)
	}
	if code, out, report := r.call(check...); code != exitOK {
		t.Errorf("after the restore: %d %s%s", code, out, report)
	}
	w := &operator{t: t, data: t.TempDir(), now: o.now}
	if err := os.WriteFile(filepath.Join(w.data, state.MasterFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, report := w.call("admin", "restore", backup); code != exitOK || !strings.Contains(report, "no erasure list at") {
		t.Errorf("restore without a list: %d %s", code, report)
	}
	if code, _, _ := w.call(check...); code != exitFailed {
		t.Error("the backup has nothing that the list could erase: the test proves nothing")
	}
}
