package state_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrules "github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestEvalKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		addWorkspace(t, db, "other")
		add := func(id string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				return tx.AddEvalKey(t.Context(), &state.EvalKey{
					ID: id, Hash: []byte("hash of " + id), WorkspaceID: "w", Label: "ci", Shown: "fpe_…1234", Scopes: []string{"read", "run"}, CreatedAt: now, CreatedBy: "acc_1",
				}, 3)
			})
		}
		var full atomic.Int32
		atOnce(8, func(i int) {
			if err := add(fmt.Sprint("k", i)); errors.Is(err, state.ErrTooManyKeys) {
				full.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
		if full.Load() != 5 {
			t.Errorf("%d of 8 refused, with three places", full.Load())
		}
		list, err := db.Read().EvalKeys(t.Context(), "w")
		if err != nil || len(list) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		want := *list[0]
		want.Hash = []byte("hash of " + want.ID)
		k, w, err := db.Read().EvalKeyByHash(t.Context(), want.Hash)
		if err != nil || !cmp.Equal(k, &want) || w.ID != "w" || w.Plan != "free" || !cmp.Equal(k.Scopes, []string{"read", "run"}) || k.CreatedBy != "acc_1" {
			t.Errorf("%+v, %+v, %v", k, w, err)
		}
		for _, c := range []struct {
			at, want time.Duration
			due      bool
		}{{0, 0, true}, {59 * time.Second, 0, false}, {time.Minute, time.Minute, true}, {0, time.Minute, false}} {
			if due := k.TouchDue(now.Add(c.at)); due != c.due {
				t.Errorf("after %s: due %v", c.at, due)
			}
			write(t, db, func(tx *state.Tx) error { return tx.TouchEvalKey(t.Context(), k.ID, now.Add(c.at)) })
			if k, _, err = db.Read().EvalKeyByHash(t.Context(), want.Hash); err != nil || !k.LastUsedAt.Equal(now.Add(c.want)) {
				t.Fatalf("used after %s: %+v, %v", c.at, k, err)
			}
		}
		revoke := func(workspace string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error { return tx.RevokeEvalKey(t.Context(), workspace, k.ID, now) })
		}
		if err := revoke("other"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace revokes: %v", err)
		}
		if err := revoke("w"); err != nil {
			t.Error(err)
		}
		if err := revoke("w"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("revoked twice: %v", err)
		}
		if _, _, err := db.Read().EvalKeyByHash(t.Context(), want.Hash); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("a revoked key: %v", err)
		}
		if err := add("k9"); err != nil {
			t.Errorf("in place of the revoked: %v", err)
		}
		if list, err := db.Read().EvalKeys(t.Context(), "w"); err != nil || len(list) != 4 || !list[0].RevokedAt.Equal(now) {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestProviderKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		addWorkspace(t, db, "other")
		put := func(workspace, name, key, shown string, at time.Time) {
			write(t, db, func(tx *state.Tx) error {
				return tx.PutProviderKey(t.Context(), workspace, state.ProviderKey{Name: name, Shown: shown, Hosts: []string{"api.example.com"}}, state.ProviderSecret(key), at)
			})
		}
		put("w", "OPENAI_API_KEY", "sk-old", "sk-…old", now)
		put("w", "ANTHROPIC_API_KEY", "sk-ant", "sk-…ant", now)
		put("w", "OPENAI_API_KEY", "sk-new", "sk-…new", now.Add(time.Hour))
		put("other", "OPENAI_API_KEY", "sk-other", "sk-…her", now)
		want := []state.ProviderKey{{"ANTHROPIC_API_KEY", "sk-…ant", []string{"api.example.com"}, now, now}, {"OPENAI_API_KEY", "sk-…new", []string{"api.example.com"}, now, now.Add(time.Hour)}}
		if got, err := db.Read().ProviderKeys(t.Context(), "w"); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		secrets, err := db.Read().ProviderSecrets(t.Context(), "w")
		if err != nil || len(secrets) != 2 || string(secrets["OPENAI_API_KEY"].Secret) != "sk-new" || string(secrets["ANTHROPIC_API_KEY"].Secret) != "sk-ant" || !cmp.Equal(secrets["OPENAI_API_KEY"].Hosts, []string{"api.example.com"}) {
			t.Errorf("%d, %v", len(secrets), err)
		}
		var backup bytes.Buffer
		if _, err := db.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		for _, line := range lines(t, backup.Bytes()) {
			if strings.Contains(line, "sk-new") || strings.Contains(line, "c2stbmV3") { // in base64
				t.Errorf("the key stands in the store: %s", line)
			}
		}
		drop := func(workspace string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				return tx.DropProviderKey(t.Context(), workspace, "ANTHROPIC_API_KEY")
			})
		}
		if err := drop("other"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace deletes: %v", err)
		}
		if err := drop("w"); err != nil {
			t.Error(err)
		}
		if got, err := db.Read().ProviderKeys(t.Context(), "w"); err != nil || !cmp.Equal(got, want[1:]) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A provider's key shows itself in no format, log or JSON.
func TestAProviderSecretIsHidden(t *testing.T) {
	secrets := map[string]state.ProviderSecret{"A": "sk-geheim"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%T %[1]v"} {
		fmt.Fprintf(&out, verb+" ", secrets)
		fmt.Fprintf(&out, verb+" ", secrets["A"])
	}
	if err := json.NewEncoder(&out).Encode(secrets); err != nil {
		t.Fatal(err)
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("keys", "one", secrets["A"], "all", secrets)
	}
	if s := out.String(); strings.Contains(s, "geheim") || strings.Contains(s, fmt.Sprintf("%x", "geheim")) || !strings.Contains(s, "provider key") {
		t.Error(s)
	}
}

// A billing event counts once, and only with what it changed.
func TestBillingEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		var first atomic.Int32
		bill := func(workspace, plan string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				fresh, err := tx.AddBillingEvent(t.Context(), "evt_1", "customer.subscription.updated", now)
				if err != nil || !fresh {
					return err
				}
				if err := tx.SetPlanOf(t.Context(), workspace, plan); err != nil {
					return err
				}
				first.Add(1)
				return nil
			})
		}
		if err := bill("none", "paid"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("no such workspace: %v", err)
		}
		atOnce(8, func(int) {
			if err := bill("w", "paid"); err != nil {
				t.Error(err)
			}
		})
		if err := bill("w", "free"); err != nil {
			t.Error(err)
		}
		if w, err := db.Read().Workspace(t.Context(), "w"); err != nil || w.Plan != "paid" || first.Load() != 1 {
			t.Errorf("%+v, %v; %d were first", w, err, first.Load())
		}
	})
}

// What belongs to a workspace goes with it.
func TestAWorkspaceGoesWithItsEvals(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		fill(t, db)
		r := claim(t, db, "worker", now)
		if _, err := db.Sweep(t.Context(), now); err != nil { // fill's workspace was not claimed in time
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if _, err := db.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		left := map[string]int{}
		for _, line := range lines(t, backup.Bytes()) {
			var row struct{ T string }
			if line != "" && json.Unmarshal([]byte(line), &row) == nil && (strings.HasPrefix(row.T, "eval") || row.T == "provider_key" || row.T == "billing_event") {
				left[row.T]++
			}
		}
		if want := map[string]int{"eval_turn": 1, "billing_event": 1}; !cmp.Equal(left, want) {
			t.Errorf("left: %v", left)
		}
		if _, err := beat(t, db, r.Lease(), now, lease, r.RunProgress); !errors.Is(err, state.ErrLeaseLost) {
			t.Errorf("its worker goes on: %v", err)
		}
	})
}

// TestKeysThatAreOlderThanTheirHosts: an upgrade binds them to the provider that their
// name belongs to, or to nobody.
func TestKeysThatAreOlderThanTheirHosts(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			address := statetest.Address(t, engine)
			db := statetest.Open(t, address)
			addWorkspace(t, db, "w")
			names := []string{"ACME_API_KEY", "ANTHROPIC_API_KEY", "CODEX_API_KEY", "COPILOT_GITHUB_TOKEN", "CURSOR_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "GH_TOKEN",
				"GITHUB_TOKEN", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY"}
			write(t, db, func(tx *state.Tx) error {
				for _, name := range names {
					if err := tx.PutProviderKey(t.Context(), "w", state.ProviderKey{Name: name, Shown: "...4567", Hosts: []string{"anywhere.example"}}, "sk-01234567", now); err != nil {
						return err
					}
				}
				return nil
			})
			driver, source := "pgx", address
			if engine == "sqlite" {
				driver, source = "sqlite", strings.TrimPrefix(address, "sqlite://")
			}
			raw, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = raw.Close() }()
			files, err := filepath.Glob("schema/*_provider_key_hosts.sql")
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			upgrade, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []string{"alter table provider_key drop column hosts", string(upgrade)} {
				if _, err := raw.ExecContext(t.Context(), step); err != nil {
					t.Fatal(err)
				}
			}
			keys, err := db.Read().ProviderKeys(t.Context(), "w")
			if err != nil || len(keys) != len(names) {
				t.Fatalf("%+v, %v", keys, err)
			}
			for i, k := range keys {
				if want := evalrules.DefaultHosts(names[i]); k.Name != names[i] || !slices.Equal(k.Hosts, want) {
					t.Errorf("%+v, want %v", k, want)
				}
			}
		})
	}
}
