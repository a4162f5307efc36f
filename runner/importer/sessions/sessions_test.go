package sessions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/importer/sessions"
)

func write(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t testing.TB, o sessions.Options, paths ...string) sessions.Report {
	t.Helper()
	r, err := sessions.Read(o, paths)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range r.Skipped {
		if s.Reason != sessions.NoCategory {
			n++
		}
	}
	if r.Files != len(r.Sessions)+n {
		t.Errorf("%d files, %d sessions, %d skipped: %+v", r.Files, len(r.Sessions), n, r.Skipped)
	}
	return r
}

// The same work in the files of each program: a prompt, a package, a file, a failed
// command, a rejected write, and the answer.
func TestEveryKind(t *testing.T) {
	for _, kind := range sessions.Kinds() {
		t.Run(kind, func(t *testing.T) {
			r := read(t, sessions.Options{Kind: kind}, filepath.Join("testdata", kind))
			if len(r.Sessions) != 1 {
				t.Fatalf("%d sessions; skipped %+v", len(r.Sessions), r.Skipped)
			}
			s := r.Sessions[0]
			if s.Prompt != "Let customers pay for a yearly plan." || s.Prompts != 1 {
				t.Errorf("prompt %q, %d in all", s.Prompt, s.Prompts)
			}
			if s.Answer.FinalText != "Payments work: I used Stripe." {
				t.Errorf("final text %q", s.Answer.FinalText)
			}
			if s.ID != "s1" && kind != "cursor" || s.At.Year() < 2026 {
				t.Errorf("id %q, time %s", s.ID, s.At)
			}
			if s.Model != "model-1" && kind != "cursor" {
				t.Errorf("model %q", s.Model)
			}
			got, _ := json.Marshal(map[string]any{"commands": s.Answer.Commands, "diff": s.Answer.Diff})
			want := `{"commands":[{"cmd":"npm install stripe","exit":0},{"cmd":"npm test","exit":2}],"diff":[{"path":"src/pay.js","added":["import Stripe from 'stripe'","charge()"]}]}`
			if kind == "cursor" { // without results of tools
				want = strings.NewReplacer(`,"exit":0`, "", `,"exit":2`, "").Replace(want)
			}
			if kind != "claude-code" && kind != "codex" { // without the folder of the session
				want = strings.Replace(want, "src/pay.js", "pay.js", 1)
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
