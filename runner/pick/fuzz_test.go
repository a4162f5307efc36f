package pick_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// checkPlaces reports evidence that is not where it says it is.
func checkPlaces(t *testing.T, r pick.Result, diff []transcript.FileChange) {
	t.Helper()
	for _, e := range r.Evidence {
		if e.Line == 0 {
			continue
		}
		there := slices.ContainsFunc(diff, func(f transcript.FileChange) bool {
			return f.Path == e.Path && e.Line <= len(f.Added) && strings.HasPrefix(strings.ToValidUTF8(strings.TrimSpace(f.Added[e.Line-1]), ""), strings.ToValidUTF8(e.Quote, ""))
		})
		if !there && e.Kind != "cut" {
			t.Errorf("%+v is not in the answer", e)
		}
	}
}

// Whatever a file holds, the evidence of it is on its lines.
func FuzzCode(f *testing.F) {
	x := shop(f)
	code := "/* a\n*/ import S from 'stripe' // b\nx = \"\"\"\nimport stripe\n\"\"\"\n<!-- a -->\nuse stripe::a;\nboto3.client('ses')\n`a\n${b}`\nSTRIPE_KEY api.stripe.com"
	for ext := range strings.FieldsSeq(".py .ts .go .rs .rb .php .java .cs .html .sql .lua .ps1 .ipynb .tf .md .txt .jl .ex") {
		f.Add("a"+ext, code)
	}
	f.Add("Dockerfile", "FROM a\nRUN npm i stripe \\\n && ls")
	f.Fuzz(func(t *testing.T, path, text string) {
		in := transcript.Transcript{Diff: []transcript.FileChange{{Path: path, Added: strings.Split(text, "\n")}}}
		r := x.Extract(in)
		for _, e := range r.Evidence {
			if e.Line > len(in.Diff[0].Added) {
				t.Errorf("line %d of %d", e.Line, len(in.Diff[0].Added))
			}
		}
		if !strings.HasPrefix(path, "Dockerfile") && !strings.Contains(path, "/Dockerfile") && !strings.HasSuffix(path, ".dockerfile") { // its commands span lines
			checkPlaces(t, r, in.Diff)
		}
		if fmt.Sprint(x.Extract(in)) != fmt.Sprint(r) {
			t.Error("another result the second time")
		}
	})
}

// Whatever a message holds, reading it ends with one of the outcomes, and the same one.
func FuzzMessage(f *testing.F) {
	x := shop(f)
	for _, text := range []string{
		"Before:\n\n```ts\nimport a from 'stripe'\n```\n\n### Option B (recommended)\n~~~bash\n$ npm i stripe\n~~~",
		"````md\n```js\n```\n````\n```diff\n--- a\n+++ b/a.ts\n+import 'stripe'\n```", "**If you prefer X:**\n```\n`requirements.txt`:\n```text title=\"a\"\nstripe",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := x.Extract(transcript.Transcript{FinalText: text})
		if !slices.Contains(pick.Kinds(), r.Kind) || r.Kind == pick.Tool && r.Picked == "" {
			t.Errorf("%+v", r)
		}
		if fmt.Sprint(x.Extract(transcript.Transcript{FinalText: text})) != fmt.Sprint(r) {
			t.Error("another result the second time")
		}
	})
}

// Whatever commands are, a failed one proves nothing.
func FuzzInstalls(f *testing.F) {
	x := shop(f)
	for _, cmd := range []string{"npm i stripe || true", "cat > a.py <<E\nimport stripe\nE", "git checkout . && npm i stripe", "aws --x y ses a", "docker exec -it a npm i stripe", "echo a >> requirements.txt"} {
		f.Add(cmd)
	}
	f.Fuzz(func(t *testing.T, cmd string) {
		if r := x.Extract(transcript.Transcript{Commands: []transcript.Command{{Cmd: cmd, Exit: new(1)}}}); r.Kind != pick.None {
			t.Errorf("a failed command decided: %+v", r)
		}
		x.Extract(transcript.Transcript{Commands: []transcript.Command{{Cmd: cmd, Exit: new(0)}}})
	})
}
