package reason_test

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/pick/prose"
	"github.com/firstpick/firstpick/runner/pick/reason"
)

// sentence makes a sentence in which the words acme and bolt are names.
func sentence(text, topic string, against ...string) reason.Sentence {
	s := reason.Sentence{Text: text, Tokens: prose.Tokens(text), Topic: topic, Against: against}
	for i, t := range s.Tokens {
		if t.Key == "acme" || t.Key == "bolt" {
			s.Slots = append(s.Slots, []string{t.Key})
			s.Tokens[i].Slot = len(s.Slots)
		}
	}
	return s
}

func TestRead(t *testing.T) {
	r, err := reason.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   reason.Sentence
		want []string // tool and reason
	}{
		{sentence("It is expensive.", "acme"), []string{"acme price"}},
		{sentence("It is expensive.", ""), nil},
		{sentence("Bolt is expensive.", "acme"), []string{"bolt price"}},
		{sentence("It is cheaper than Bolt.", "acme"), []string{"bolt price"}},
		{sentence("Acme is out.", "", "acme"), []string{"acme other"}},
		{sentence("Acme is out: too complex.", "", "acme"), []string{"acme complexity"}},
		{sentence("Acme is pricey and Bolt is immature.", ""), []string{"acme price", "bolt maturity"}},
		{sentence("", ""), nil},
	} {
		var got []string
		for _, s := range r.Read(c.in) {
			got = append(got, s.Tool+" "+string(s.Reason))
			if s.Quote != c.in.Text {
				t.Errorf("quote %q of %q", s.Quote, c.in.Text)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in.Text, got, c.want)
		}
	}
}
