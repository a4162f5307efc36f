package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/store/state"
)

// fakeClaude is a program that tells its version, and answers with what it was given.
const fakeClaude = `#!/bin/sh
if [ "$1" = --version ]; then echo "2.0.1 (Claude Code)"; exit 0; fi
same=no; [ "$ANTHROPIC_API_KEY" = sk-ant-of-the-workspace-000111 ] && same=yes
printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"I would use Flask. SAME=%s OPERATOR=%s","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5},"session_id":"s"}\n' "$same" "$OPERATORS_SECRET$ANTHROPIC_AUTH_TOKEN"
`

// TestProgramsOfAWorkspaceSeeItsKeysAlone lets an eval of a workspace run a program.
// It is given the workspace's key, and nothing of the worker's own environment.
func TestProgramsOfAWorkspaceSeeItsKeysAlone(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(fakeClaude), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-operator")
	t.Setenv("OPERATORS_SECRET", "hush-operator")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "hush-token")
	t.Setenv("FIRSTPICK_EVAL_PROGRAMS", "true")
	t.Setenv("FIRSTPICK_SANDBOX", "off") // the program lies in a folder that it would hide
	h := newHouse(t, "sqlite")
	h.workspace("wsp_1", "name: own\ncategory: webserver\nrepeats: 3\nprompts:\n  - {id: p, text: Write an API server.}\nagents:\n  - {name: cli, kind: claude-code, model: opus, trial_cost_usd: 0.5}\n", "sk-unused-here")
	id := h.queue("wsp_1", 1, 5)[0]
	h.start("worker")
	r := h.until("wsp_1", id, func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
	if r.Status != state.RunFailed || !strings.Contains(r.Failure, "The provider keys ANTHROPIC_API_KEY are not set") {
		t.Errorf("without a key of the workspace: %+v", r)
	}
	h.write(func(tx *state.Tx) error {
		return tx.PutProviderKey(t.Context(), "wsp_1", state.ProviderKey{Name: "ANTHROPIC_API_KEY", Shown: "...0111", Hosts: []string{"api.anthropic.com"}}, "sk-ant-of-the-workspace-000111", r.CreatedAt)
	})
	id = h.queue("wsp_1", 1, 5)[0]
	r = h.until("wsp_1", id, func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
	if r.Status != state.RunDone || r.Valid != 3 || r.SpentMicros != 750_000 {
		t.Errorf("%+v", r)
	}
	said := map[string]int{}
	data := filepath.Join(h.dir, ".firstpick")
	if _, err := journal.Scan(evalwork.RunsRoot(data, "wsp_1"), id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult {
			said[r.Answer.Transcript.FinalText]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"I would use Flask. SAME=yes OPERATOR=": 3}; fmt.Sprint(said) != fmt.Sprint(want) {
		t.Errorf("%v", said)
	}
	if left, err := os.ReadDir(filepath.Join(data, "work")); err != nil || len(left) > 0 {
		t.Errorf("left in the work folder: %v, %v", left, err)
	}
}
