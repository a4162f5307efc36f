package evalwork_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// push queues a copy of a run's plan and journal as a pushed run, as a server does. The
// version of its eval has the digest.
func (w *world) push(from, digest string, change func(dir string)) string {
	w.t.Helper()
	w.workers++
	id := "run_pushed_" + string(rune('a'+w.workers))
	dir := filepath.Join(evalwork.PushedRoot(w.worker.Data, workspaceID, id), from)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	for _, name := range []string{"run.json", "journal-000001.ndjson"} {
		data, err := os.ReadFile(filepath.Join(evalwork.RunsRoot(w.worker.Data, workspaceID), from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	if change != nil {
		change(dir)
	}
	w.write(func(tx *state.Tx) error {
		ctx, now := w.t.Context(), time.Now()
		e, _, err := tx.PutEval(ctx, &state.Eval{ID: "evl_" + id, WorkspaceID: workspaceID, Name: id, Latest: state.EvalVersion{
			Source: []byte("not read"), Digest: digest, Summary: []byte("{}"), CreatedAt: now, CreatedBy: "acc",
		}}, state.EvalCap{Evals: 100, Versions: 100})
		if err != nil {
			return err
		}
		if _, _, err := tx.PutUpload(ctx, &state.Upload{
			ID: id, WorkspaceID: workspaceID, EvalID: e.ID, Version: 1, LocalRun: from, Files: []byte("[]"), CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		}, state.UploadCap{Bytes: 1, Open: 1}); err != nil {
			return err
		}
		if err := tx.CompleteUpload(ctx, workspaceID, id, now); err != nil {
			return err
		}
		_, _, err = tx.AddRun(ctx, &state.EvalRun{
			ID: id, WorkspaceID: workspaceID, EvalID: e.ID, Version: 1, EvalName: id, Category: "webserver", CreatedAt: now, CreatedBy: "evk_1", Origin: state.OriginPushed,
		}, 100)
		return err
	})
	return id
}

// digestOf is the digest of the eval of a run.
func (w *world) digestOf(id string) string {
	w.t.Helper()
	run, err := journal.ReadRun(evalwork.RunsRoot(w.worker.Data, workspaceID), id)
	if err != nil {
		w.t.Fatal(err)
	}
	digest, err := bundle.EvalDigest(run.Eval)
	if err != nil {
		w.t.Fatal(err)
	}
	return digest
}

// TestPushedRuns: a worker accepts a whole journal of the eval, with the very results of the
// run where it was made, and asks no model. It accepts no other journal, and says why.
func TestPushedRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		w.worker.Counts = &evalwork.Counts{}
		made := w.queue(asked(3, model("api", f.URL)), 1)
		w.start()
		first := w.ended(made)
		asked, counted := len(f.Requests()), w.worker.Counts.Read()
		digest := w.digestOf(made)

		got := w.run(w.push(made, digest, nil))
		got = w.ended(got.ID)
		if got.Status != state.RunDone || got.Failure != "" || got.Valid != 3 || got.Planned != 3 || got.SpentMicros != first.SpentMicros || got.Bundle != first.Bundle {
			t.Errorf("pushed: %+v\nmade: %+v", got, first)
		}
		w.results(got)
		if now := w.worker.Counts.Read(); len(f.Requests()) != asked || now.SpentUSD != counted.SpentUSD || now.Trials != counted.Trials {
			t.Errorf("a pushed run cost %d requests, and %+v after %+v", len(f.Requests())-asked, now, counted)
		}

		lines := func(change func(lines [][]byte) [][]byte) func(dir string) {
			return func(dir string) {
				path := filepath.Join(dir, "journal-000001.ndjson")
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, bytes.Join(change(bytes.SplitAfter(data, []byte("\n"))), nil), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		plan := func(old, replacement string) func(dir string) {
			return func(dir string) {
				path := filepath.Join(dir, "run.json")
				data, err := os.ReadFile(path)
				if err == nil && !bytes.Contains(data, []byte(old)) {
					t.Fatalf("no %s in %s", old, data)
				}
				if err == nil {
					err = os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(replacement), 1), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		moved, err := journal.ReadRun(evalwork.RunsRoot(w.worker.Data, workspaceID), made)
		if err != nil {
			t.Fatal(err)
		}
		moved.Eval.Category = "gone"
		movedDigest, err := bundle.EvalDigest(moved.Eval)
		if err != nil {
			t.Fatal(err)
		}
		result := func(lines [][]byte) int {
			for i, line := range lines {
				if bytes.Contains(line, []byte(`{"kind":"result"`)) {
					return i
				}
			}
			t.Fatal("no result in the journal")
			return 0
		}
		for name, c := range map[string]struct {
			digest string
			change func(dir string)
			why    string
		}{
			"another eval": {"other", nil, "it is a run of another eval than version 1"},
			"a changed byte": {digest, lines(func(l [][]byte) [][]byte {
				i := result(l)
				l[i] = bytes.Replace(l[i], []byte("Flask"), []byte("flask"), 1)
				return l
			}), "journal-000001.ndjson, byte"},
			"a trial twice":           {digest, lines(func(l [][]byte) [][]byte { i := result(l); return append(l[:len(l)-1:len(l)-1], l[i], nil) }), "has two answers"},
			"a missing answer":        {digest, lines(func(l [][]byte) [][]byte { i := result(l); return append(l[:i:i], l[i+1:]...) }), "1 of 3 planned trials have neither an answer nor an exclusion"},
			"a shorter plan":          {digest, plan(`"planned": 3`, `"planned": 2`), "its plan has 3 trials, and run.json says 2"},
			"another prompt":          {digest, plan("Write an API server.", "Write an API server!"), "it is a run of another eval"},
			"less than no repeats":    {digest, plan(`"repeats": 3`, `"repeats": -1`), "it is a run of another eval"},
			"too many repeats":        {digest, plan(`"repeats": 3`, `"repeats": 1000000000000`), "it is a run of another eval"},
			"a category that is gone": {movedDigest, plan(`"category": "webserver"`, `"category": "gone"`), "it measures gone, which the workspace's own catalogue does not have"},
			"imported answers":        {digest, plan(`"imported": false`, `"imported": true`), "its answers were imported"},
			"a mark that is missing":  {digest, plan(`"synthetic": false`, `"synthetic": true`), "mark for simulated answers"},
			"a plan that is not JSON": {digest, plan("{", ""), "run.json, byte 0"},
		} {
			t.Run(name, func(t *testing.T) {
				r := w.ended(w.push(made, c.digest, c.change))
				if r.Status != state.RunFailed || r.Bundle != "" || !strings.HasPrefix(r.Failure, "The pushed journal was not accepted: ") || !strings.Contains(r.Failure, c.why) || strings.Contains(r.Failure, w.worker.Data) {
					t.Errorf("%s %q", r.Status, r.Failure)
				}
			})
		}
		if len(f.Requests()) != asked {
			t.Error("a model was asked")
		}
	})
}

// TestPushedFilesElsewhere: a worker without the files does not end the run; one with them does.
func TestPushedFilesElsewhere(t *testing.T) {
	w := newWorld(t, "sqlite")
	f := fake(t, providertest.Always(answered()))
	made := w.queue(asked(1, model("api", f.URL)), 1)
	stop := w.start()
	w.ended(made)
	stop()
	id := w.push(made, w.digestOf(made), nil)
	there := evalwork.PushedRoot(w.worker.Data, workspaceID, id)
	if err := os.Rename(there, there+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.until(id, "given back", func(r *state.EvalRun) bool {
		return r.Attempt == 1 && r.LeaseUntil.After(time.Now().Add(time.Second/2)) && strings.Contains(w.log.String(), "the same data folder")
	})
	if err := os.Rename(there+"-elsewhere", there); err != nil {
		t.Fatal(err)
	}
	if r := w.ended(id); r.Status != state.RunDone {
		t.Errorf("%s %q", r.Status, r.Failure)
	}
}

// TestEvalsOfPushedRuns may have what does not run on the server, but no file of it.
func TestEvalsOfPushedRuns(t *testing.T) {
	c := newChecker(t, evalwork.Policy{})
	for name, one := range map[string]struct {
		agent  string
		pushed bool
	}{
		"a program":            {"{name: claude, kind: claude-code, model: opus}", true},
		"its arguments":        {"{name: claude, kind: claude-code, model: opus, args: [--verbose], env: [MINE]}", true},
		"a command":            {"{name: sh, kind: command, command: [sh, -c, 'echo {prompt}']}", true},
		"a private address":    {"{name: own, kind: openai-chat, base_url: 'http://127.0.0.1:8080/v1', model: m}", true},
		"a key of another end": {"{name: own, kind: openai-chat, base_url: 'https://models.example/v1', model: m, api_key_env: MINE}", true},
		"an unknown price":     {"{name: own, kind: openai-chat, base_url: 'https://models.example/v1', model: m}", true},
		"a file":               {"{name: own, kind: recorded, file: /etc/passwd}", false},
		"an unknown kind":      {"{name: own, kind: nothing}", false},
	} {
		t.Run(name, func(t *testing.T) {
			source := []byte(asked(2, one.agent))
			if _, issues := c.Check(source); len(issues) == 0 {
				t.Error("it may run on the server")
			}
			got, issues := c.CheckPushed(source)
			if (len(issues) == 0) != one.pushed {
				t.Fatalf("%v", issues)
			}
			if one.pushed && (got.Name != "own" || got.Trials != 2 || len(got.Digest) != 64) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSettingsOfPushedRuns: an eval of a pushed run may have a command and own templates.
func TestSettingsOfPushedRuns(t *testing.T) {
	c := newChecker(t, evalwork.Policy{})
	for name, settings := range map[string]string{
		"builds":                        "builds: {command: npm test, timeout_s: 3600}\n",
		"an own folder":                 "templates: [none, {name: mine, dir: templates/mine}]\n",
		"an own commit, with incumbent": "incumbent: flask\ntemplates: [{name: mine, git: 'https://git.example/mine', ref: 0123456789abcdef0123456789abcdef01234567}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			source := []byte(settings + asked(2, "{name: sh, kind: command, command: [sh, -c, 'echo {prompt}']}"))
			if _, issues := c.Check(source); len(issues) < 2 {
				t.Errorf("it may run on the server: %v", issues)
			}
			digests := map[string]bool{}
			for _, files := range []string{strings.Repeat("a", 64), strings.Repeat("b", 64)} {
				read, err := eval.Parse("eval", source)
				if err != nil {
					t.Fatal(err)
				}
				for i := range read.Sources {
					read.Sources[i].Digest = files // as a run stores it
				}
				pinned, err := eval.Pin(source, map[string]string{"mine": files})
				if err != nil {
					t.Fatal(err)
				}
				got, issues := c.CheckPushed(pinned)
				if len(issues) > 0 {
					t.Fatalf("%v", issues)
				}
				if digest, err := bundle.EvalDigest(*read); digest != got.Digest || err != nil {
					t.Errorf("the run's eval has another digest: %v", err)
				}
				digests[got.Digest] = true
			}
			if own := strings.Contains(settings, "mine"); len(digests) != map[bool]int{true: 2, false: 1}[own] {
				t.Errorf("%d digests of evals whose templates have other files", len(digests))
			}
		})
	}
	if _, issues := c.CheckPushed([]byte("templates: [mine]\n" + asked(2, "{name: sh, kind: command, command: [sh]}"))); len(issues) != 1 || !strings.Contains(issues[0].Message, "is unknown") {
		t.Errorf("a template that nobody has: %v", issues)
	}
}
