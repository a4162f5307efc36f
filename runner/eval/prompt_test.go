package eval_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

func TestTextKey(t *testing.T) {
	key := func(text string) string { return eval.Prompt{Text: text}.TextKey() }
	base := key("Add payments to the shop.")
	for name, tt := range map[string]struct {
		text string
		same bool
	}{
		"the same":                {"Add payments to the shop.", true},
		"another case":            {"ADD Payments to the shop.", true},
		"other white space":       {"  Add payments\n\tto the\u00a0shop. ", true},
		"full-width letters":      {"Ａｄｄ payments to the shop.", true},
		"a ligature":              {"Add payments to the \u017fhop.", true},
		"another word":            {"Add payment to the shop.", false},
		"without the punctuation": {"Add payments to the shop", false},
	} {
		if got := key(tt.text) == base; got != tt.same {
			t.Errorf("%s: same is %t", name, got)
		}
	}
	if got := key(" \n"); got != "" {
		t.Errorf("an unknown text has the key %q", got)
	}
}

func TestLintRefusesOneTextUnderTwoIDs(t *testing.T) {
	ev, err := eval.Parse("e.yaml", []byte(`name: e
category: payments
prompts:
  - {id: a, text: Take payments.}
  - {id: b, text: Take cards.}
  - {id: c, text: "take  PAYMENTS."}
agents:
  - {name: s, kind: simulated, truth: {stripe: 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	payments, _ := cat.Category("payments")
	errs := ev.Lint(payments)
	if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), `e.yaml:6: prompt "c" has the text of prompt "a" on line 4`) {
		t.Errorf("got %v", errs)
	}
}
