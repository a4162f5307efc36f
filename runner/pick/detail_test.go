package pick_test

import (
	"fmt"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestDetails reads what an outcome does not say: name and rule of each detail, with the tool
// and the quote of its first evidence.
func TestDetails(t *testing.T) {
	stripe := []transcript.Manifest{{Path: "package.json", Deps: []string{"express@^4", "stripe@^17.0.0"}}}
	for name, tt := range map[string]struct {
		in   transcript.Transcript
		want string
	}{
		"a question about the choice": {
			transcript.Transcript{FinalText: "Stripe and Paddle would both do. Which of the two does your accountant know?"},
			"asked_user (ends with a question): Which of the two does your accountant know?",
		},
		"a request for facts": {
			transcript.Transcript{FinalText: "Stripe is cheaper per charge, Paddle files the taxes. Tell me where your customers are."},
			"asked_user (ends by asking for facts): Tell me where your customers are.",
		},
		"a request in another language": {
			transcript.Transcript{FinalText: "Stripe und Paddle kommen beide in Frage. Nennt mir bitte die Länder eurer Kunden."},
			"asked_user (ends by asking for facts): Nennt mir bitte die Länder eurer Kunden.",
		},
		"nothing is named":         {transcript.Transcript{FinalText: "Before I choose: how many orders a month?"}, "asked_user (ends with a question): Before I choose: how many orders a month?"},
		"a pick and a question":    {transcript.Transcript{FinalText: "I'd go with Stripe. Which currency do you bill in?"}, ""},
		"an offer":                 {transcript.Transcript{FinalText: "Stripe and Paddle would both do. Shall I sketch one?"}, ""},
		"a question in the middle": {transcript.Transcript{FinalText: "Which one? It depends on your customers. Stripe and Paddle are both sound."}, ""},
		"an invitation":            {transcript.Transcript{FinalText: "Stripe and Paddle are both sound. Let me know if you need more."}, ""},
		"actions decide": {transcript.Transcript{
			FinalText: "Which currency do you bill in?",
			Diff:      []transcript.FileChange{{Path: "pay.js", Added: []string{`import Stripe from "stripe"`}}},
		}, ""},
		"the tool that was there": {
			transcript.Transcript{Installed: stripe, Diff: []transcript.FileChange{{Path: "pay.js", Added: []string{`import Stripe from "stripe"`}}}},
			"followed_incumbent (the project's manifests have the picked tool): stripe package.json stripe@^17.0.0",
		},
		"said, of the tool that was there": {
			transcript.Transcript{Installed: stripe, FinalText: "I'd go with Stripe."},
			"followed_incumbent (the project's manifests have the picked tool): stripe package.json stripe@^17.0.0",
		},
		"another tool":                   {transcript.Transcript{Installed: stripe, FinalText: "I'd go with Paddle."}, ""},
		"the same tool in a new project": {transcript.Transcript{FinalText: "I'd go with Stripe."}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, d := range extractor(t, builtIn(t), "payments").Extract(tt.in).Details {
				got += fmt.Sprintf("%s (%s):", d.Name, d.Rule)
				for _, word := range []string{d.Evidence[0].Tool, d.Evidence[0].Path, d.Evidence[0].Quote} {
					if word != "" {
						got += " " + word
					}
				}
			}
			if got != tt.want {
				t.Errorf("details %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDetailsOfLabelledAnswers sees that no answer with a labelled pick asks the user.
func TestDetailsOfLabelledAnswers(t *testing.T) {
	c := builtIn(t)
	asked := 0
	for _, k := range labelled(t) {
		r := extractor(t, c, k.Category).Extract(k.Input)
		if !r.Has(pick.AskedUser) {
			continue
		}
		if asked++; k.Gold.Picked != nil {
			t.Errorf("%s: asked the user and picked %s", k.ID, *k.Gold.Picked)
		}
	}
	t.Logf("%d answers ask the user", asked)
}
