package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestTableIsInert(t *testing.T) {
	for name, tt := range map[string]struct {
		format format
		want   string
	}{
		"csv":      {format{csv: true}, "agent,change\n'=cmd|calc!A1,+1.0 pp\n\"a,b\nc]0;pwn\",-\n"},
		"markdown": {format{md: true}, "| =cmd\\|calc!A1 | +1.0 pp |\n| a,b c]0;pwn | - |\n"},
		"tabs":     {format{}, "=cmd|calc!A1\t+1.0 pp\na,b c]0;pwn\t-\n"},
	} {
		var out bytes.Buffer
		list := table{header: []string{"agent", "change"}}
		list.add("\u2066\u200b=cmd|calc!A1", "+1.0 pp")
		list.add("a,b\nc\x1b]0;pwn\x07", "-")
		if err := list.print(&Env{Stdout: &out}, tt.format); err != nil || !strings.HasSuffix(out.String(), tt.want) {
			t.Errorf("%s: %q %v, want %q", name, out.String(), err, tt.want)
		}
	}
}
