package pick_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestWhatIsReadOfALongAnswer: a text is read at both ends, and the evidence says so.
func TestWhatIsReadOfALongAnswer(t *testing.T) {
	x := extractor(t, builtIn(t), "webserver")
	const size = 4500 << 10
	filler := strings.Repeat("Nothing is said here.\n", size/22)
	lines := func(first, last string) []string {
		return append(append([]string{first}, slices.Repeat([]string{"x = 1"}, size/6)...), last)
	}
	tests := map[string]struct {
		in     transcript.Transcript
		picked string
		cut    bool
		line   int // of the strongest evidence
	}{
		"a choice at the beginning counts":        {in: transcript.Transcript{FinalText: "I recommend Flask.\n" + filler}, picked: "flask", cut: true},
		"a choice at the end counts":              {in: transcript.Transcript{FinalText: filler + "\n\nI recommend Flask."}, picked: "flask", cut: true},
		"a name in the middle does not":           {in: transcript.Transcript{FinalText: filler + "I recommend Flask.\n" + filler}, cut: true},
		"one endless line is cut too":             {in: transcript.Transcript{FinalText: "I recommend Flask. " + strings.Repeat("é", size/2)}, picked: "flask", cut: true},
		"code that begins in the middle is code":  {in: transcript.Transcript{FinalText: filler + "```python\n" + strings.Repeat("x = 1\n", size/6) + "from flask import Flask\n```\nDone.\n"}, picked: "flask", cut: true},
		"prose behind code of the middle is read": {in: transcript.Transcript{FinalText: filler + "```python\nimport django\n```\n" + filler + "I recommend Flask.\n"}, picked: "flask", cut: true},
		"a file keeps its numbers of lines":       {in: transcript.Transcript{Diff: []transcript.FileChange{{Path: "app.py", Added: lines("", "from flask import Flask")}}}, picked: "flask", cut: true, line: size/6 + 2},
		"what fits is read whole":                 {in: transcript.Transcript{FinalText: filler[:22*(pick.Window/22)] + "I recommend Flask.\n" + filler[:22*(pick.Window/44)]}, picked: "flask"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := x.ExtractContext(t.Context(), tt.in)
			if err != nil || r.Picked != tt.picked {
				t.Fatalf("picked %q, want %q (%v): %+v", r.Picked, tt.picked, err, r)
			}
			cut := slices.ContainsFunc(r.Evidence, func(e pick.Evidence) bool {
				return e.Kind == "cut" && strings.HasPrefix(e.Quote, "only the first and last 256 KiB of ")
			})
			if cut != tt.cut {
				t.Errorf("marked as cut: %v, want %v: %+v", cut, tt.cut, r.Evidence)
			}
			if tt.line != 0 && r.Evidence[0].Line != tt.line {
				t.Errorf("line %d, want %d", r.Evidence[0].Line, tt.line)
			}
			if d := cmp.Diff(r, x.Extract(tt.in)); d != "" {
				t.Errorf("read again:\n%s", d)
			}
		})
	}
}

// TestReadingEndsWithItsContext: a run that is cancelled does not wait for a text that
// takes long.
func TestReadingEndsWithItsContext(t *testing.T) {
	x := extractor(t, builtIn(t), "webserver")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, in := range map[string]transcript.Transcript{
		"words":    {FinalText: "I recommend Flask."},
		"files":    {Diff: []transcript.FileChange{{Path: "app.py", Added: []string{"import flask"}}}},
		"manifest": {Diff: []transcript.FileChange{{Path: "requirements.txt", Added: []string{"flask"}}}},
		"commands": {Commands: []transcript.Command{{Cmd: "pip install flask"}}},
	} {
		if r, err := x.ExtractContext(ctx, in); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestOneParagraphOfManySentences: names with a condition look for it in the whole
// paragraph, which must not be read once for each sentence.
func TestOneParagraphOfManySentences(t *testing.T) {
	c := builtIn(t)
	for _, category := range c.Categories {
		for _, e := range category.Entries {
			i := slices.IndexFunc(e.Aliases, func(a catalog.Alias) bool { return a.Require != nil })
			if i < 0 {
				continue
			}
			text := strings.Repeat("See "+e.Traces.Aliases[i].Text+" there. ", pick.Window/24)
			began := time.Now()
			extractor(t, c, category.Slug).Extract(transcript.Transcript{FinalText: text})
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%s in %s: %s", e.Traces.Aliases[i].Text, category.Slug, took)
			}
			return
		}
	}
	t.Fatal("no name of the catalogue has a condition")
}
