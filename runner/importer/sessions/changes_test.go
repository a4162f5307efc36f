package sessions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/importer/sessions"
)

// The added lines of a session are bounded by what is left at its end, and a note says
// when some were left out.
func TestAddedLinesAreBounded(t *testing.T) {
	writes := func(times int, name func(int) string) []string {
		lines := []string{prompted}
		for i := range times {
			lines = append(lines,
				fmt.Sprintf(`{"type":"assistant","sessionId":"ID","message":{"content":[{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"/w/%s","content":%q}}]}}`, i, name(i), strings.Repeat("line\n", 10_000)),
				fmt.Sprintf(`{"type":"user","sessionId":"ID","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":""}]}}`, i))
		}
		return append(lines, answered)
	}
	for name, tt := range map[string]struct {
		lines []string
		files int
		note  string
	}{
		"one file again and again": {writes(60, func(int) string { return "a.js" }), 1, ""},
		"many files":               {writes(60, func(i int) string { return fmt.Sprintf("%d.js", i) }), 60, "added lines above 2 MiB were left out"},
		"a large file": {slices.Insert(writes(1, func(int) string { return "a.js" }), 1,
			`{"type":"assistant","sessionId":"ID","message":{"content":[{"type":"tool_use","id":"x","name":"Write","input":{"file_path":"/w/b.js","content":"`+strings.Repeat("b", 70_000)+`"}}]}}`,
			`{"type":"user","sessionId":"ID","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":""}]}}`), 2, "the text of a file above 64 KiB was left out"},
	} {
		r := read(t, sessions.Options{Kind: "claude-code"}, write(t, t.TempDir(), map[string]string{"a.jsonl": session("s", tt.lines...)}))
		if len(r.Sessions) != 1 {
			t.Fatalf("%s: skipped %v", name, r.Skipped)
		}
		s := r.Sessions[0]
		if len(s.Answer.Diff) != tt.files || strings.Join(s.Notes, ", ") != tt.note || len(s.Answer.Diff[0].Added) != 10_000 {
			t.Errorf("%s: %d files, %d lines in the first, notes %q", name, len(s.Answer.Diff), len(s.Answer.Diff[0].Added), s.Notes)
		}
	}
}
