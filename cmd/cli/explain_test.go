package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics/explain"
)

// answers are three answers in the payments category: one takes Stripe, one turns it down after
// a search, one never names it.
const answers = `{"agent":"a","category":"payments","prompt_id":"p","prompt":"Task.","repeat":1,"input":{"final_text":"Use Stripe."}}
{"agent":"a","category":"payments","prompt_id":"p","prompt":"Task.","repeat":2,"input":{"final_text":"I'd go with Paddle. Stripe is too expensive here, and it isn't complex.","sources":[{"url":"https://docs.stripe.com/billing","opened":true}]}}
{"agent":"b","category":"payments","prompt_id":"p","prompt":"Task.","repeat":1,"input":{"final_text":"Use Mollie."}}
`

func TestExplain(t *testing.T) {
	in := newImports(t)
	if err := os.WriteFile(in.file, []byte(answers), 0o600); err != nil {
		t.Fatal(err)
	}
	in.run(0, []string{"import", in.file, "--eval", "e"})
	var r explain.Report
	if err := json.Unmarshal([]byte(in.run(0, []string{"explain", "Stripe", "--category", "payments", "--json"})), &r); err != nil {
		t.Fatal(err)
	}
	if r.Slug != "stripe" || r.NTrials != 3 || r.Picked != 1 || r.Lost != 1 || r.NotConsidered != 1 {
		t.Errorf("%+v", r)
	}
	for _, g := range r.Reasons {
		switch {
		case g.NTrials != 1, g.Reason != "price" && g.Reason != explain.NotConsidered:
			t.Errorf("%+v", g)
		case g.Reason == "price" && (len(g.Quotes) != 1 || g.Quotes[0].Picked != "paddle" || !strings.HasPrefix(g.Quotes[0].Text, "Stripe is too expensive")):
			t.Errorf("%+v", g.Quotes)
		}
	}
	if len(r.Sources) != 1 || !r.Sources[0].Own || r.Sources[0].Opened != 1 {
		t.Errorf("%+v", r.Sources)
	}
	text := in.run(0, []string{"explain", "stripe"})
	for _, want := range []string{
		"Stripe in payments: 3 answers, 1 picked, 1 considered and lost (50.0% of those that considered it), 1 never named it\n",
		"\nprice\t1\t50.0%\n", "\tpaddle\tStripe is too expensive here, and it isn't complex.\n",
		"\npaddle\ttool\t1\t0\n", "\nmollie\ttool\t0\t1\n", "\nb\t1\t0\t0\t-\t1\tnot considered\tmollie\n", "\ndocs.stripe.com (own)\t1\t1\t0\thttps://docs.stripe.com/billing\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := in.run(0, []string{"explain", "stripe", "--json"}); !strings.Contains(got, `"explanations": [`) {
		t.Error(got)
	}
}

func TestExplainRejects(t *testing.T) {
	in := newImports(t)
	in.run(exitUsage, []string{"explain", "stripe"}, "no runs in")
	in.run(0, []string{"import", in.file, "--eval", "e"})
	in.run(exitUsage, []string{"explain", "strip"}, `no tool "strip" in the catalogue`, "did you mean stripe")
	in.run(exitUsage, []string{"explain", "stripe", "--category", "paymets"}, `no category "paymets"`, "did you mean payments?")
	in.run(exitUsage, []string{"explain", "stripe", "--category", "auth"}, "stripe is not in category auth", "it is in payments")
	in.run(exitUsage, []string{"explain", "stripe", "--run", "nope"}, "nope")
	in.run(exitUsage, []string{"explain", "stripe", "--quotes", "-1"}, "--quotes must be at least 0")
}
