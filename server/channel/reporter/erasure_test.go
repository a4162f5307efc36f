package reporter_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A household is a data folder with a store, a read model and files, of an account with a
// workspace that has everything, and of another workspace, which must stay.
type household struct {
	t       *testing.T
	now     time.Time
	db      *state.DB
	address string // of db
	data    string
	model   *trafficdb.DB
	svc     *erasure.Service
}

// personal are all texts that name the account and the workspace.
var personal = []string{
	"acc_dana", "dana@acme.example", "+4915112345", "wsp_acme", "calm-otter-77", "acme.example", "Acme of Dana", "reg_acme", "evl_acme", "pricing-eval", "run_acme", "bnd_acme", "whk_acme",
	"key_acme", "sk-secret-of-acme", "visitor-of-acme", "hooks.acme.example",
}

func newHousehold(t *testing.T, engine string) *household {
	t.Helper()
	h := &household{t: t, now: time.Date(2026, 11, 9, 10, 0, 0, 0, time.UTC), address: statetest.Address(t, engine), data: t.TempDir()}
	h.db = statetest.Open(t, h.address)
	h.open()
	return h
}

// open opens the read model and makes the service, as a process does.
func (h *household) open() {
	h.t.Helper()
	var err error
	if h.model, err = trafficdb.Open(h.t.Context(), filepath.Join(h.data, "traffic.duckdb")); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.model.Close() })
	if _, err := reporter.Adopt(h.t.Context(), h.db, h.model); err != nil {
		h.t.Fatal(err)
	}
	h.svc = &erasure.Service{
		DB: h.db, List: erasure.List(filepath.Join(h.data, erasure.ListFile)), Models: []erasure.Model{h.model},
		Folders: erasure.Folders{
			Journals: filepath.Join(h.data, "evals"), Bundles: filepath.Join(h.data, "bundles"), Work: filepath.Join(h.data, "work"),
			Adopted: filepath.Join(h.data, "runs"), Trials: filepath.Join(h.data, "trials.duckdb"), Mails: filepath.Join(h.data, "mail"),
		},
		Secrets: secret.Source{Rand: rand.Reader}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return h.now },
	}
}

func (h *household) write(fn func(tx *state.Tx) error) {
	h.t.Helper()
	if err := h.db.Write(h.t.Context(), fn); err != nil {
		h.t.Fatal(err)
	}
}

// fill stores everything that an account and a workspace can have.
func (h *household) fill() {
	h.t.Helper()
	ctx, now := h.t.Context(), h.now
	h.write(func(tx *state.Tx) error {
		add := func(id, slug, owner string) error {
			_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: id, Slug: slug, OwnerID: owner, Plan: "paid", CreatedAt: now, ClaimedAt: now})
			return err
		}
		return errors.Join(
			tx.AddAccount(ctx, &state.Account{ID: "acc_dana", Email: "dana@acme.example", Phone: "+4915112345", VerifiedAt: now, CreatedAt: now}),
			tx.AddAccount(ctx, &state.Account{ID: "acc_kim", Email: "kim@other.example", VerifiedAt: now, CreatedAt: now}),
			add("wsp_acme", "calm-otter-77", "acc_dana"), add("wsp_other", "quiet-fox-1", "acc_kim"),
			tx.SetSettings(ctx, "wsp_acme", state.Settings{Name: "Acme of Dana", Site: "https://acme.example", RetentionDays: 30}),
			tx.AddRegistration(ctx, &identity.Registration{ID: "reg_acme", Kind: identity.Anonymous, WorkspaceID: "wsp_acme", AccountID: "acc_dana", Email: "dana@acme.example", ClaimHash: []byte("h"), CreatedAt: now, ClaimedAt: now}),
			tx.AddCollectorKey(ctx, &state.CollectorKey{ID: "key_acme", Hash: []byte("k"), WorkspaceID: "wsp_acme", Kind: "secret", Label: "Acme of Dana"}),
			tx.AddSession(ctx, &state.Session{Hash: []byte("s"), AccountID: "acc_dana", CreatedAt: now}),
			tx.AddSignIn(ctx, &state.SignIn{Hash: []byte("l"), Email: "dana@acme.example", ExpiresAt: now.Add(time.Hour)}),
			tx.AddSignInIdentity(ctx, "https://idp.example", "dana", "acc_dana", now),
			tx.SaveDelegation(ctx, &state.Delegation{ISS: "https://idp.example", Sub: "dana", AccountID: "acc_dana"}),
			tx.AddChannel(ctx, &state.AlertChannel{ID: "whk_acme", WorkspaceID: "wsp_acme", URL: "https://hooks.acme.example/x", Secret: "sk-secret-of-acme"}),
			tx.AddDelivery(ctx, &state.Delivery{ID: "msg", WorkspaceID: "wsp_acme", ChannelID: "whk_acme", State: state.DeliveryPending, CreatedAt: now}),
			tx.SetAlertMail(ctx, "wsp_acme", false, now),
			tx.PutProviderKey(ctx, "wsp_acme", state.ProviderKey{Name: "OPENAI_API_KEY", Shown: "..."}, "sk-secret-of-acme", now),
			tx.AddMail(ctx, "m1", []byte(`{"to":"dana@acme.example"}`), now), tx.AddMail(ctx, "m2", []byte(`{"to":"kim@other.example"}`), now),
			tx.Audit(ctx, state.AuditEntry{ID: "aud_1", At: now, Event: "key.created", WorkspaceID: "wsp_acme", AccountID: "acc_dana", IP: "203.0.113.7", Detail: map[string]string{"key": "key_acme"}}),
		)
	})
	h.write(func(tx *state.Tx) error {
		_, alert := tx.AddAlert(ctx, &state.Alert{ID: "alr_1", WorkspaceID: "wsp_acme", What: "x", At: now, Body: []byte(`{"workspace":"calm-otter-77"}`)}, "", now)
		v := state.EvalVersion{Source: []byte("name: pricing-eval"), Digest: "d", Summary: []byte("{}"), CreatedAt: now, CreatedBy: "acc_dana"}
		_, _, put := tx.PutEval(ctx, &state.Eval{ID: "evl_acme", WorkspaceID: "wsp_acme", Name: "pricing-eval", Latest: v}, state.EvalCap{Evals: 9, Versions: 9})
		_, _, started := tx.AddRun(ctx, &state.EvalRun{ID: "run_acme", WorkspaceID: "wsp_acme", EvalID: "evl_acme", EvalName: "pricing-eval", Version: 1, CreatedAt: now, CreatedBy: "acc_dana"}, 9)
		keyed := tx.AddEvalKey(ctx, &state.EvalKey{ID: "key_acme_2", Hash: []byte("e"), WorkspaceID: "wsp_acme", CreatedBy: "acc_dana"}, 9)
		_, _, own := tx.PutCatalog(ctx, &state.CatalogVersion{WorkspaceID: "wsp_acme", Source: []byte("# pricing-eval, acme.example"), Digest: "d", CreatedAt: now, CreatedBy: "acc_dana"}, 0, 9)
		return errors.Join(alert, put, started, keyed, own, tx.AppendRunEvents(ctx, "run_acme", []state.RunEvent{{At: now, Body: []byte(`{"eval":"pricing-eval"}`)}}))
	})
	h.finishRun()
	h.addEvents("wsp_acme", "visitor-of-acme", 400)
	h.addEvents("wsp_other", "visitor-of-other", 50)
	h.files()
}

func (h *household) finishRun() {
	h.t.Helper()
	h.write(func(tx *state.Tx) error {
		r, err := tx.ClaimRun(h.t.Context(), "worker", h.now, time.Minute)
		if err != nil || r == nil {
			return errors.Join(err, errors.New("no run to claim"))
		}
		return tx.FinishRun(h.t.Context(), r.Lease(), h.now, state.RunOutcome{Status: state.RunDone, Bundle: "bnd_acme"})
	})
}

// addEvents stores events of a workspace and loads them into the read model.
func (h *household) addEvents(workspace, visitor string, n int) {
	h.t.Helper()
	h.write(func(tx *state.Tx) error {
		var events []state.CollectedEvent
		for i := range n {
			r := event.Record{ID: fmt.Sprint(workspace, i), Type: event.Touch, At: h.now, ReceivedAt: h.now, Visitor: visitor, Path: strings.Repeat("/page", i%40)}
			if workspace == "wsp_acme" {
				r.Host = "acme.example"
			}
			body, err := json.Marshal(r)
			if err != nil {
				return err
			}
			events = append(events, state.CollectedEvent{WorkspaceID: workspace, ID: r.ID, OrderKey: "paid:" + r.ID, ReceivedAt: h.now, Body: body})
		}
		_, err := tx.AddEvents(h.t.Context(), events)
		return err
	})
	l := &trafficdb.Loader{DB: h.model, Log: slog.New(slog.DiscardHandler), Source: reporter.StoredEvents(h.db)}
	if _, err := l.Step(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if err := h.model.Checkpoint(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// files writes what workers, operators and mail leave in the data folder.
func (h *household) files() {
	h.t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	packed := z.EncodeAll(bytes.Repeat([]byte("the answer for calm-otter-77 "), 100), nil)
	for name, data := range map[string][]byte{
		"evals/wsp_acme/runs/run_acme/journal-1.ndjson": []byte(`{"eval":"pricing-eval"}`),
		"evals/wsp_acme/runs/run_acme/raw-1.zst":        packed,
		"evals/wsp_other/runs/run_other/journal.ndjson": []byte("kept"),
		"bundles/wsp_acme/bnd_acme/manifest.json":       []byte(`{"name":"pricing-eval"}`),
		"bundles/wsp_other/bnd_other/manifest.json":     []byte("kept"),
		"work/run_acme/project/README.md":               []byte("acme.example"),
		"runs/run_acme/run.json":                        []byte(`{"eval":"pricing-eval"}`),
		"runs/run_own/run.json":                         []byte("kept"),
		"trials.duckdb":                                 []byte("rows of run_acme"),
		"mail/1.eml":                                    []byte("To: <Dana@acme.exam=\r\nple>\r\n\r\nhello"),
		"mail/2.eml":                                    []byte("To: <kim@other.example>\r\n\r\nkept"),
	} {
		path := filepath.Join(h.data, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
			h.t.Fatal(err)
		}
	}
}

// found returns where the texts are: in tables, in files, in the read model.
func (h *household) found(texts []string) (out []string) {
	h.t.Helper()
	rows, _, err := h.db.Search(h.t.Context(), texts)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range rows {
		out = append(out, "table "+f.Table+"."+f.Column+": "+f.Text)
	}
	if err := h.model.Close(); err != nil { // to read its file
		h.t.Fatal(err)
	}
	columns, err := duck.Search(h.t.Context(), filepath.Join(h.data, "traffic.duckdb"), texts)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range columns {
		out = append(out, "read model "+f.Table+"."+f.Column+": "+f.Text)
	}
	paths := []string{h.data}
	if file, sqlite := strings.CutPrefix(h.address, "sqlite://"); sqlite {
		paths = append(paths, file, file+"-wal", file+"-shm")
	}
	files, err := erasure.SearchFiles(h.t.Context(), paths, texts)
	if err != nil || len(files.Failed) > 0 {
		h.t.Fatal(err, files.Failed)
	}
	for _, f := range files.Finds {
		out = append(out, fmt.Sprintf("file %s at %d: %s", f.Path, f.At, f.Text))
	}
	h.open()
	return out
}

// stays checks that nothing of others is gone.
func (h *household) stays() {
	h.t.Helper()
	for _, name := range []string{"evals/wsp_other/runs/run_other", "bundles/wsp_other/bnd_other", "runs/run_own", "mail/2.eml"} {
		if _, err := os.Stat(filepath.Join(h.data, filepath.FromSlash(name))); err != nil {
			h.t.Error(err)
		}
	}
	if found, _, err := h.db.Search(h.t.Context(), []string{"kim@other.example", "visitor-of-other"}); err != nil || len(found) < 4 {
		h.t.Errorf("of others only %+v, %v", found, err)
	}
	if list, err := h.model.Workspaces(h.t.Context()); err != nil || len(list) != 1 || list[0] != "wsp_other" {
		h.t.Errorf("the read model has %v, %v", list, err)
	}
}

func (h *household) work(want int) {
	h.t.Helper()
	if n, err := h.svc.Work(h.t.Context()); err != nil || n != want {
		h.t.Fatalf("%d wait, want %d: %v", n, want, err)
	}
}

// TestEverythingOfAnAccountIsErased: of an account and its workspace nothing is left in any
// table and in any byte of any file.
func TestEverythingOfAnAccountIsErased(t *testing.T) {
	for _, engine := range statetest.Engines() {
		for kind, id := range map[string]string{state.EraseAccount: "acc_dana", state.EraseWorkspace: "wsp_acme"} {
			t.Run(engine+" "+kind, func(t *testing.T) {
				t.Parallel()
				h := newHousehold(t, engine)
				h.fill()
				wanted := personal
				if kind == state.EraseWorkspace { // the account stays
					wanted = personal[3:]
					h.write(func(tx *state.Tx) error { return tx.DropMail(t.Context(), "m1") })
				}
				if before := h.found(wanted); len(before) < 30 {
					t.Fatalf("before: %s", strings.Join(before, "\n"))
				}
				if err := h.svc.Request(t.Context(), kind, id); err != nil {
					t.Fatal(err)
				}
				h.work(map[string]int{state.EraseAccount: 2, state.EraseWorkspace: 1}[kind]) // servers may still accept the key
				h.now = h.now.Add(time.Minute)
				h.work(0)
				var after []string
				for _, place := range h.found(wanted) {
					// The account's address has the host of the site, and it stays.
					if kind != state.EraseWorkspace || !strings.HasPrefix(place, "table account.") && !strings.HasPrefix(place, "table sign_in.") && !strings.Contains(place, "mail") {
						after = append(after, place)
					}
				}
				if len(after) > 0 {
					t.Errorf("after:\n%s", strings.Join(after, "\n"))
				}
				h.stays()
				if list, err := h.svc.List.Read(); err != nil || len(list) < 4 {
					t.Errorf("the list has %d lines, %v", len(list), err)
				}
			})
		}
	}
}

// TestRestoredBackupsAreErasedAgain: a backup of the store, and copies of the files, bring
// nothing back when the erasure list is applied.
func TestRestoredBackupsAreErasedAgain(t *testing.T) {
	h := newHousehold(t, "sqlite")
	h.fill()
	var backup bytes.Buffer
	if _, err := h.db.Backup(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	if err := h.svc.Request(t.Context(), state.EraseAccount, "acc_dana"); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Minute)
	h.work(0)

	list := h.svc.List
	r := newHousehold(t, "sqlite")
	r.now = h.now
	r.files()
	if _, err := r.db.Restore(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	if before := r.found(personal); len(before) < 20 {
		t.Fatalf("the backup has nothing to erase: %v", before)
	}
	if n, _, err := r.svc.Apply(t.Context(), list); err != nil || n == 0 {
		t.Fatalf("%d applied, %v", n, err)
	}
	if after := r.found(personal); len(after) > 0 {
		t.Errorf("after:\n%s", strings.Join(after, "\n"))
	}
	if again, err := r.svc.List.Read(); err != nil || len(again) < 4 {
		t.Errorf("the restored store's list has %d lines, %v", len(again), err)
	}
}

// failing is a read model of a process that dies.
type failing struct{}

func (failing) EraseWorkspaces(context.Context, func(string) bool) error { return errors.New("killed") }

// TestAnInterruptedErasureIsCompleted by the next call, of another process.
func TestAnInterruptedErasureIsCompleted(t *testing.T) {
	h := newHousehold(t, "sqlite")
	h.fill()
	if err := h.svc.Request(t.Context(), state.EraseAccount, "acc_dana"); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Minute)
	h.svc.Models = []erasure.Model{failing{}}
	if n, err := h.svc.Work(t.Context()); err == nil || n == 0 {
		t.Fatalf("%d wait, %v", n, err)
	}
	h.files() // the rows are gone, and the files are as if they never went
	if err := h.model.Close(); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.work(0)
	// The mail is of the step that was complete.
	if err := os.Remove(filepath.Join(h.data, "mail", "1.eml")); err != nil {
		t.Fatal(err)
	}
	if after := h.found(personal); len(after) > 0 {
		t.Errorf("after:\n%s", strings.Join(after, "\n"))
	}
	h.stays()
}

// TestAdopt: the read model of another store is refused; that of a store which this one
// was restored from is rebuilt.
func TestAdopt(t *testing.T) {
	h := newHousehold(t, "sqlite")
	h.fill()
	var backup bytes.Buffer
	if _, err := h.db.Backup(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	other := statetest.Open(t, statetest.Address(t, "sqlite"))
	var foreign *trafficdb.ForeignError
	if _, err := reporter.Adopt(t.Context(), other, h.model); !errors.As(err, &foreign) {
		t.Fatalf("another store's read model is taken: %v", err)
	}
	if _, err := other.Restore(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	if why, err := reporter.Adopt(t.Context(), other, h.model); err != nil || why == "" {
		t.Fatalf("%q, %v", why, err)
	}
	if mark, err := h.model.Mark(t.Context()); err != nil || mark != 0 {
		t.Errorf("mark %d, %v", mark, err)
	}
	if why, err := reporter.Adopt(t.Context(), other, h.model); err != nil || why != "" {
		t.Errorf("the second time: %q, %v", why, err)
	}
}
