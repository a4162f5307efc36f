package traceview_test

import (
	"testing"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// TestEvidenceOfTheSameWords: words that several rules read are one line with all their kinds, and own
// work is marked as what decided.
func TestEvidenceOfTheSameWords(t *testing.T) {
	words := func(kind, tool, quote string) trialset.Evidence {
		return trialset.Evidence{Kind: kind, Tool: tool, In: trialset.InText, Quote: quote}
	}
	v := traceview.New(&trialset.Trace{
		Entry: trialset.Entry{Outcome: "diy"},
		Result: &trialset.Result{Method: "statement", Evidence: []trialset.Evidence{
			words("diy", "", "Run it yourself."), words("statement", "", "Run it yourself."), words("mention", "", "Run it yourself."), words("mention", "ash", "Run it yourself."),
		}},
	}, func(slug string) string { return slug })
	if len(v.Evidence) != 2 || v.Evidence[0].Kind.Name != "own work, statement" || !v.Evidence[0].Decided || v.Evidence[1].Tool != "ash" || v.Evidence[1].Number != 2 || v.Evidence[1].Decided {
		t.Errorf("%+v", v.Evidence)
	}
}
