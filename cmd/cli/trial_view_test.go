package cli

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/transcript"
)

// What is not an ordinary answer is shown as such.
func TestTrialShowsHowItEnded(t *testing.T) {
	a := &journal.Answer{Transcript: transcript.Transcript{
		FinalText: "Installing Stripe.", Stop: transcript.StopIncomplete,
		Commands: []transcript.Command{{Cmd: "npm i stripe", Exit: new(0)}, {Cmd: "npm run dev"}},
		Sources:  []transcript.Source{{URL: "https://stripe.com"}, {URL: "https://docs.stripe.com\x1b[2J", Opened: true}},
	}}
	var b strings.Builder
	(&history{Answer: a}).writeNotes(&b)
	writeAnswer(&b, a, false)
	for _, want := range []string{
		"stopped  incomplete: the agent's program exited before its result", "--- command, exit 0\nnpm i stripe\n", "--- command, exit unknown\nnpm run dev\n",
		"--- web pages\nfound  https://stripe.com\nopened https://docs.stripe.com[2J\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
	b.Reset()
	(&history{Answer: &journal.Answer{}}).writeNotes(&b)
	if b.Len() > 0 {
		t.Errorf("an ordinary end is shown: %q", b.String())
	}
	for _, stop := range []transcript.Stop{
		transcript.StopLength, transcript.StopRefusal, transcript.StopTurns, transcript.StopCost, transcript.StopTime, transcript.StopIncomplete,
	} {
		if text := stopText(stop); !strings.HasPrefix(text, string(stop)+": ") {
			t.Errorf("%s: %q", stop, text)
		}
	}
}
