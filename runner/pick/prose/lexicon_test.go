package prose

import (
	"strings"
	"testing"
)

func TestLexiconsParse(t *testing.T) {
	all, err := Lexicons()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"de", "en", "es", "fr", "it", "ja", "ko", "pt", "zh"} {
		if all[want] == nil {
			t.Fatalf("no lexicon of %s", want)
		}
		if len(all[want].tree().words) < 100 {
			t.Errorf("%s has %d words in phrases", want, len(all[want].tree().words))
		}
	}
}

// TestElisionBeforeGroup matches a phrase whose elided word stands before a group.
func TestElisionBeforeGroup(t *testing.T) {
	x, err := Parse("fr", "[commits]\nj'(irais|opte) (pour|d'|vers) X\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"J'irais vers Algolia":  1,
		"j'opte pour Algolia":   1,
		"j'opte d'Algolia":      1,
		"je irais vers Algolia": 0,
	} {
		tokens := Tokens(text)
		for i := range tokens {
			if tokens[i].Key == "algolia" {
				tokens[i].Slot = 1
			}
		}
		if got := x.Match(tokens); len(got) != want {
			t.Errorf("%q: %d hits, want %d", text, len(got), want)
		}
	}
}

// TestLanguagesOfShortAnswers tells languages by a sentence or two.
func TestLanguagesOfShortAnswers(t *testing.T) {
	all, err := Lexicons()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Ich würde Stripe nehmen.":                                  "de",
		"Fazit: Stripe.":                                            "de",
		"Je partirais sur Stripe.":                                  "fr",
		"En résumé : je prendrais Stripe.":                          "fr",
		"Yo iría con Stripe.":                                       "es",
		"No me corresponde recomendar a un proveedor concreto.":     "es",
		"Eu iria de Stripe.":                                        "pt",
		"Io userei Stripe per questo progetto.":                     "it",
		"Stripeを使います。":                                              "ja",
		"我推荐使用Stripe。":                                              "zh",
		"Stripe를 추천합니다.":                                            "ko",
		"Não posso ajudar com essa escolha.":                        "pt",
		"I'd go with Stripe, since the team already knows its API.": "en",
	} {
		if got := Languages(all, Tokens(text)); got[0] != want {
			t.Errorf("%q: %s, want %s", text, strings.Join(got, " "), want)
		}
	}
	if got := Languages(all, nil); got[0] != "en" {
		t.Errorf("no text: %v", got)
	}
}
