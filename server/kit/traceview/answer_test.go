package traceview

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/publish/trialset"
)

// A command that worked has no mark; one whose exit status is not known is not shown
// as one that failed.
func TestExits(t *testing.T) {
	var d View
	d.answer(&trialset.Answer{
		Commands: []trialset.Command{{Cmd: "a", Exit: new(0)}, {Cmd: "b", Exit: new(7)}, {Cmd: "c"}},
		Sources:  []trialset.Source{{URL: "https://x.example/\x1b", Opened: true}},
	}, nil)
	var got []string
	for _, c := range d.Commands {
		got = append(got, c.Exit)
	}
	if want := []string{"", "7", "unknown"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(d.Sources) != 1 || d.Sources[0] != (Source{"https://x.example/⟨U+001B⟩", true}) {
		t.Errorf("%+v", d.Sources)
	}
}
