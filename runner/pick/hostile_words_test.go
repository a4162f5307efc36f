package pick_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestHostileAnswersGiveNoWrongPick reads answers that were written to mislead. Each line
// of testdata/hostile has the only tool that may be picked, or - if absent. To read nothing is
// allowed, to read something else is not.
func TestHostileAnswersGiveNoWrongPick(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	files, err := filepath.Glob("testdata/hostile/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d groups, %v", len(files), err)
	}
	read, of := 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			want, answer, ok := strings.Cut(strings.TrimSpace(line), " | ")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			n++
			answer = strings.ReplaceAll(answer, `\n`, "\n")
			r := x.Extract(transcript.Transcript{FinalText: answer})
			if r.Kind == pick.Tool && r.Picked != want {
				t.Errorf("%s: %q picks %s (%s), want %s", filepath.Base(name), answer, r.Picked, r.Rule, want)
			}
			if want != "-" {
				of++
				if r.Picked == want {
					read++
				} else {
					t.Logf("%s: %q is not read: %s (%s)", filepath.Base(name), answer, r.Kind, r.Rule)
				}
			}
		}
		if n < 20 {
			t.Errorf("%s has %d answers; want 20", name, n)
		}
	}
	if 4*read < 3*of {
		t.Errorf("of %d answers with a pick only %d are read", of, read)
	}
}
