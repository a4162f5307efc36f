package pick_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestLanguages scores the labelled answers of each language apart. A wrong pick costs more
// than one that is not read.
func TestLanguages(t *testing.T) {
	files, err := filepath.Glob("testdata/languages/*.jsonl")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d languages, %v", len(files), err)
	}
	c := builtIn(t)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".jsonl"), func(t *testing.T) {
			s, err := pick.Score(readCases(t, name), func(category string, in transcript.Transcript) (pick.Result, error) {
				return extractor(t, c, category).Extract(in), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if s.Accuracy < .9 || *s.PickPrecision < .96 || *s.PickRecall < .88 {
				t.Errorf("accuracy %.2f, pick precision %.2f, pick recall %.2f", s.Accuracy, *s.PickPrecision, *s.PickRecall)
			}
			for _, m := range s.Misses {
				t.Logf("%s: want %s, got %s", m.ID, m.Want, m.Got)
			}
		})
	}
}

// TestJoinedNames joins names by words of several characters.
func TestJoinedNames(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for _, answer := range []string{
		"StripeまたはPayPalを使ってください。",
		"Stripe、あるいはPayPalをおすすめします。",
		"推荐使用Stripe或者PayPal。",
		"Stripe 또는 PayPal을 추천합니다.",
		"Consiglio Stripe oppure PayPal.",
	} {
		if r := x.Extract(transcript.Transcript{FinalText: answer}); r.Kind != pick.Ambiguous || r.Unresolved {
			t.Errorf("%q: %s %s (%s), want ambiguous", answer, r.Kind, r.Picked, r.Rule)
		}
	}
}

// TestConditionsThatComeFirst reads sentences whose second half is about another case.
func TestConditionsThatComeFirst(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for _, answer := range []string{
		"我选Stripe，以后流量上来了再考虑Adyen。",
		"まずはStripeを採用し、将来的にAdyenへの移行も検討します。",
		"지금은 Stripe를 쓰고, 나중에 Adyen을 검토하겠습니다.",
	} {
		if r := x.Extract(transcript.Transcript{FinalText: answer}); r.Picked != "stripe" {
			t.Errorf("%q: %s %s (%s), want stripe", answer, r.Kind, r.Picked, r.Rule)
		}
	}
}

// TestWhyNotTheOthers: what its own sentence calls an option is on the shortlist, unless the
// heading turns it down.
func TestWhyNotTheOthers(t *testing.T) {
	x := extractor(t, builtIn(t), "email")
	for message, shortlist := range map[string][]string{
		"I recommend Mailjet.\n\n## Why not the others\n\n- **Resend** is a reasonable alternative, but it is young.\n- **SendGrid**: expensive.": {"mailjet", "resend"},
		"I recommend Mailjet.\n\n## Why I ruled out the others\n\n- **Resend** is a reasonable alternative, but it is young.":                     {"mailjet"},
		"I recommend Mailjet.\n\n## Rejected\n\n- **Resend** is a reasonable alternative, but it is young.":                                       {"mailjet"},
		"Ich empfehle Mailjet.\n\n## Warum nicht die anderen?\n\n- **Resend** ist eine gute Alternative, aber jung.\n- **SendGrid** ist teuer.":   {"mailjet", "resend"},
		"Je choisis Mailjet.\n\n## Pourquoi pas les autres ?\n\n- **Resend** est une bonne alternative, mais jeune.":                              {"mailjet", "resend"},
		"推荐使用 **Mailjet**。\n\n## 为什么不选其他\n\n- **Resend** 也是不错的选择，但还很新。\n- **SendGrid** 太贵。":                                                       {"mailjet", "resend"},
	} {
		r := x.Extract(said(message))
		if !slices.Equal(r.Shortlist, shortlist) {
			t.Errorf("%s\n%v, want %v", message, r.Shortlist, shortlist)
		}
	}
}
