package evalwork_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	ownpicks "github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A house is a whole server with a worker, on one store and data folder.
type house struct {
	*servertest.Service
	t       *testing.T
	address string
	data    string
	alerts  *alert.Service
	model   *providertest.Server
}

func newHouse(t *testing.T, engine string) *house {
	t.Helper()
	h := &house{t: t, address: statetest.Address(t, engine), data: t.TempDir()}
	w := newWorld(t, "sqlite").worker // for its catalogue and prices
	h.Service = servertest.New(t, servertest.Options{
		State: h.address, Data: h.data,
		Evals: func(s *evals.Service) {
			s.Checker = &evalwork.Checker{Catalog: w.Catalog, Prices: w.Prices, Policy: w.Policy}
			s.Bundles = bundle.NewCache(filepath.Join(h.data, "bundles"), nil, 4)
		},
	})
	h.alerts = alert.New(alert.Config{
		DB: h.Agents.DB, Secrets: h.Agents.Secrets, Log: slog.New(slog.DiscardHandler), Now: h.Clock.Now, BaseURL: h.URL,
		Mail: h.Agents.Outbox.Put, Kick: h.Agents.Outbox.Kick, Jitter: func() float64 { return 0 },
		Picks: func(context.Context, string, string) (*ownpicks.Measured, error) { return nil, nil },
	})
	h.model = fake(t, providertest.Always(answered()))
	w.DB, w.Data, w.Bundles, w.Shared, w.Now, w.Name = h.Agents.DB, h.data, filepath.Join(h.data, "bundles"), nil, h.Clock.Now, "worker"
	(&world{t: t, db: h.Agents.DB, worker: w, log: &safeBuffer{}}).start()
	return h
}

// A tenancy is a workspace with all that a server keeps of one.
type tenancy struct {
	owner *servertest.Person
	actor evals.Actor
	brand string
	// names are the ids, names and addresses of it.
	names []string
}

func (h *house) until(what string, is func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); _ = sleep(h.t.Context(), 10*time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("not within a minute: %s\n%s", what, h.Log)
		}
	}
}

func (h *house) ended(a evals.Actor, run string) *evals.Report {
	h.t.Helper()
	var r *evals.Report
	h.until("run "+run, func() bool {
		var err error
		if r, err = h.Evals.Report(h.t.Context(), a, run); err != nil {
			h.t.Fatal(err)
		}
		return r.EndedAt != nil
	})
	return r
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err, evals.Issues(err))
		}
		return v
	}
}

// move makes a workspace with everything in it. Each text of it holds the brand.
func (h *house) move(brand string) *tenancy {
	h.t.Helper()
	ctx, site := h.t.Context(), brand+"-co.example"
	owner := servertest.NewPerson(h.t, h.Service, "dana@"+site)
	slug := owner.Workspace("https://" + site)
	path := "/workspaces/" + slug
	w := must[*state.Workspace](h.t)(h.Agents.DB.Read().WorkspaceBySlug(ctx, slug))
	v := &tenancy{owner: owner, actor: evals.Actor{Workspace: w, By: owner.Account().ID}, brand: brand}
	v.names = []string{w.ID, slug, site, brand, owner.Account().ID}
	if err := h.Agents.SetPlan(ctx, nil, slug, state.PlanPaid); err != nil { // in the operator's log
		h.t.Fatal(err)
	}
	w.Plan = state.PlanPaid
	owner.Must("", path+"/settings", "name", brand+" Works", "site", "https://"+site, "retention", "90", "currency", "EUR")
	owner.Must("", path+"/settings/keys", "kind", "secret", "label", brand+" server")
	owner.Must("", path+"/settings/webhooks", "url", "https://hooks."+site+"/x", "format", "")
	owner.Must("Invitation sent.", path+"/settings/members/invite", "email", "frank@"+site, "role", "viewer")
	if err := h.alerts.FollowTool(ctx, w.ID, v.actor.By, brand+"-tool", true); err != nil {
		h.t.Fatal(err)
	}
	if err := h.Agents.DB.Write(ctx, func(tx *state.Tx) error {
		_, err := tx.AddEvents(ctx, []state.CollectedEvent{{WorkspaceID: w.ID, ID: "e-" + brand, ReceivedAt: h.Clock.Now(), Body: []byte(`{"type":"touch","host":"` + site + `"}`)}})
		return err
	}); err != nil {
		h.t.Fatal(err)
	}

	// Own catalogue, eval, schedule, a run that is started with MCP.
	for n := range 2 {
		if _, _, err := h.Evals.PutCatalog(ctx, v.actor, []byte("category: {slug: webserver}\ntools: [{slug: "+brand+"-tool, name: "+brand+" Tool"+strings.Repeat("s", n)+"}]\n"), n); err != nil {
			h.t.Fatal(err, evals.Issues(err))
		}
	}
	host := must[string](h.t)(evals.KeyHost(h.model.URL))
	if _, err := h.Evals.SetProviderKey(ctx, v.actor, evals.KeyChange{Name: "FAKE_API_KEY", Value: theKey, Hosts: []string{host}}); err != nil {
		h.t.Fatal(err)
	}
	put := func(source string, put func() (*evals.Eval, bool, bool, error)) *evals.Eval {
		e, _, _, err := put()
		if err != nil {
			h.t.Fatal(err, evals.Issues(err), source)
		}
		v.names = append(v.names, e.ID)
		return e
	}
	source := strings.Replace(asked(3, model(brand+"-agent", h.model.URL)), "name: own", "name: "+brand+"-eval", 1)
	e := put(source, func() (*evals.Eval, bool, bool, error) { return h.Evals.Put(ctx, v.actor, []byte(source)) })
	if _, _, err := h.Evals.PutSchedule(ctx, v.actor, evals.ScheduleRequest{EvalID: e.ID, Cron: "0 4 * * *", BudgetUSD: 1, MonthlyBudgetUSD: 20}); err != nil {
		h.t.Fatal(err)
	}
	req := must[*http.Request](h.t)(http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/api/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"startEvalRun","arguments":{"evalId":"`+e.ID+`","budgetUsd":1}}}`)))
	for k, text := range map[string]string{"Authorization": "Bearer " + h.EvalKey(h.t, w), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"} {
		req.Header.Set(k, text)
	}
	if status, body := owner.Do(req); status != http.StatusOK || strings.Contains(body, `"isError":true`) {
		h.t.Fatalf("MCP: %d %s", status, body)
	}
	runs, _, err := h.Evals.Runs(ctx, v.actor, evals.RunQuery{})
	if err != nil || len(runs) != 1 {
		h.t.Fatal(runs, err)
	}
	done := h.ended(v.actor, runs[0].ID)
	if done.Status != state.RunDone {
		h.t.Fatalf("%+v", done.Run)
	}
	row := must[*state.EvalRun](h.t)(h.Agents.DB.Read().Run(ctx, w.ID, done.ID))
	v.names = append(v.names, done.ID, row.Bundle)
	if _, err := os.Stat(filepath.Join(h.data, "bundles", w.ID, row.Bundle, "explanations.json")); err != nil {
		h.t.Fatal("no explanations:", err)
	}

	// A pushed run, one with an own template that is not accepted, and one that is half here.
	folder := filepath.Join(evalwork.RunsRoot(h.data, w.ID), done.ID)
	plan := must[[]byte](h.t)(os.ReadFile(filepath.Join(folder, "run.json")))
	log := must[[]byte](h.t)(os.ReadFile(filepath.Join(folder, "journal-000001.ndjson")))
	template := bytes.Replace(plan, []byte("{"), []byte(`{"templates": ["`+brand+`-template"],`), 1)
	for i, plan := range [][]byte{plan, template, plan} {
		h.Clock.Add(time.Second)
		files := []resource.AnnouncedFile{announce("run.json", plan), announce("journal-000001.ndjson", log)}
		u, _, err := h.Evals.BeginUpload(ctx, v.actor, e.ID, evals.UploadRequest{Run: done.ID + []string{"", "-template", "-half"}[i], EvalDigest: e.Digest, Files: files})
		if err != nil {
			h.t.Fatal(err)
		}
		v.names = append(v.names, u.ID)
		must[*evals.Upload](h.t)(h.Evals.Receive(ctx, v.actor, u.ID, "run.json", 0, bytes.NewReader(plan)))
		if i == 2 {
			continue
		}
		must[*evals.Upload](h.t)(h.Evals.Receive(ctx, v.actor, u.ID, "journal-000001.ndjson", 0, bytes.NewReader(log)))
		if _, _, err := h.Evals.CompleteUpload(ctx, v.actor, u.ID); err != nil {
			h.t.Fatal(err)
		}
		if r, want := h.ended(v.actor, u.ID), []string{state.RunDone, state.RunFailed}[i]; r.Status != want {
			h.t.Fatalf("push %d: %+v", i, r.Run)
		}
	}
	return v
}

func announce(name string, text []byte) resource.AnnouncedFile {
	sum := sha256.Sum256(text)
	return resource.AnnouncedFile{Name: name, Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}

// places returns where texts are in the store, and in the files of the data folder, of the
// store and of mails; by text.
func (h *house) places(texts []string) map[string][]string {
	h.t.Helper()
	roots := []string{h.data, string(h.Mail)}
	if file, ok := strings.CutPrefix(h.address, "sqlite://"); ok {
		roots = append(roots, file, file+"-wal", file+"-shm")
	}
	out := map[string][]string{}
	found, err := erasure.SearchFiles(h.t.Context(), roots, texts)
	if err != nil || len(found.Failed) > 0 {
		h.t.Fatal(err, found.Failed)
	}
	for _, f := range found.Finds {
		out[f.Text] = append(out[f.Text], f.Path)
	}
	rows, _, err := h.Agents.DB.Search(h.t.Context(), texts)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range rows {
		out[f.Text] = append(out[f.Text], "table "+f.Table)
	}
	return out
}

// TestAWorkspaceWithEverything erases, by its owner's form, a workspace that has all that a
// server keeps of one, and then the account. Of neither a name, id or address is left in the
// store or in a file, nor in a restored backup; those of a second workspace stay.
func TestAWorkspaceWithEverything(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			ctx, h := t.Context(), newHouse(t, engine)
			gone, stays := h.move("wombat"), h.move("lyrebird")
			h.Clock.Add(6 * time.Minute) // a look is due: at the pushed run that was not accepted
			if err := h.alerts.LookAtPicks(ctx); err != nil {
				t.Fatal(err)
			}
			h.Clock.Add(servertest.Start().Add(18*time.Hour + 30*time.Second).Sub(h.Clock.Now())) // 04:00: the schedules start runs, and looks for alerts are due
			if err := (&evals.Scheduler{Service: h.Evals}).Step(ctx); err != nil {
				t.Fatal(err)
			}
			for _, v := range []*tenancy{gone, stays} {
				h.until("a scheduled run", func() bool {
					runs, _, err := h.Evals.Runs(ctx, v.actor, evals.RunQuery{})
					if err != nil || len(runs) != 4 || runs[0].EndedAt == nil {
						return false
					}
					v.names = append(v.names, runs[0].ID)
					return true
				})
			}
			before := h.places(append(gone.names, stays.names...))
			for _, name := range append(gone.names, stays.names...) {
				if len(before[name]) == 0 {
					t.Errorf("%s is nowhere: the search proves nothing", name)
				}
			}
			if mails := before["wombat"]; !slices.ContainsFunc(mails, func(at string) bool { return strings.HasSuffix(at, ".eml") }) {
				t.Errorf("no mail about it: %q", mails)
			}
			for _, table := range []string{
				"alert", "alert_delivery", "alert_channel", "alert_told", "audit", "collected_event", "collector_key", "eval", "eval_key", "eval_run", "eval_run_event", "eval_schedule", "eval_schedule_tick",
				"eval_upload", "eval_version", "invitation", "member", "pick_watch", "provider_key", "workspace", "workspace_catalog",
			} {
				found := false
				for _, name := range gone.names {
					for _, at := range before[name] {
						found = found || at == "table "+table
					}
				}
				if !found {
					t.Errorf("table %s has nothing of it: the test proves nothing there", table)
				}
			}
			var backup bytes.Buffer
			if _, err := h.Agents.DB.Backup(ctx, &backup); err != nil {
				t.Fatal(err)
			}

			gone.owner.SignIn() // a session ends after hours
			gone.owner.Must("", "/workspaces/"+gone.actor.Workspace.Slug+"/settings/delete", "confirm", gone.actor.Workspace.Slug)
			if err := h.Agents.EraseOwnAccount(ctx, &registrations.Caller{}, gone.owner.Account(), gone.owner.Email); err != nil {
				t.Fatal(err)
			}
			h.until("the erasure", func() bool {
				h.Clock.Add(2 * time.Second)
				open, err := h.Agents.DB.Read().Erasures(ctx, true)
				return err == nil && len(open) == 0
			})
			for name, at := range h.places(gone.names) {
				t.Errorf("%s is still in %q", name, at)
			}
			after := h.places(stays.names)
			for _, name := range stays.names {
				if len(after[name]) == 0 {
					t.Errorf("%s of another workspace is gone", name)
				}
			}

			db := statetest.Open(t, statetest.Address(t, engine))
			if _, err := db.Restore(ctx, &backup); err != nil {
				t.Fatal(err)
			}
			restored := func() map[string]bool {
				rows, _, err := db.Search(ctx, gone.names)
				if err != nil {
					t.Fatal(err)
				}
				out := map[string]bool{}
				for _, f := range rows {
					out[f.Text] = true
				}
				return out
			}
			if back := restored(); len(back) < len(gone.names)-2 {
				t.Errorf("the backup has only %v", back)
			}
			svc := &erasure.Service{DB: db, Secrets: secret.Source{Rand: rand.Reader}, Log: slog.New(slog.DiscardHandler), Now: h.Clock.Now}
			if _, _, err := svc.Apply(ctx, erasure.List(filepath.Join(h.data, erasure.ListFile))); err != nil {
				t.Fatal(err)
			}
			if back := restored(); len(back) > 0 {
				t.Errorf("after the restore: %v", back)
			}
			if _, err := db.Read().Workspace(ctx, stays.actor.Workspace.ID); errors.Is(err, state.ErrNotFound) {
				t.Error("the restore lost another workspace")
			}
		})
	}
}
