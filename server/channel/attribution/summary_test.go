package attribution

import (
	"reflect"
	"testing"
)

func TestSummary(t *testing.T) {
	s := tell(t, `
		touch -9d v1 ChatGPT tag
		touch -8d v1 Claude referrer
		touch -9d v2 ChatGPT signed_link
		fetch -20m Gemini /docs/start
		view -10m v3 /docs/start
		signup -7d v1 0 - s1
		paid -6d v1 100 USD o1
		paid -5d v2 51 EUR o2
		paid -4d v9 500 USD o3
		signup -1m v3 0 - s3
		refund -3d - -11 USD r1 o1
		refund -2d - -100 USD r3 o3
		refund -1d - -7 USD r9 o9`)
	usd := Revenue{Currency: "USD", Total: 600 - 118, AgentDriven: 100 - 11, Refunded: 118, AgentRefunded: 11}
	eur := Revenue{Currency: "EUR", Total: 51, AgentDriven: 51}
	for model, want := range map[Model]Totals{
		First: {
			Kinds:   []KindTotal{{Kind: "paid", Total: 3, AgentDriven: 2 * Whole}, {Kind: "signup", Total: 2, AgentDriven: Whole, Possible: 1}},
			Revenue: []Revenue{eur, usd},
			Families: []FamilyTotal{{"ChatGPT", 3 * Whole, map[string]Count{"paid": 2 * Whole, "signup": Whole}, []Money{{"EUR", 51, 0}, {"USD", 89, 11}},
				map[string]Count{Tag: 2 * Whole, SignedLink: Whole}}},
			Problems: map[Problem]int{NoOrder: 1},
		},
		Linear: {
			Kinds:   []KindTotal{{Kind: "paid", Total: 3, AgentDriven: 2 * Whole}, {Kind: "signup", Total: 2, AgentDriven: Whole, Possible: 1}},
			Revenue: []Revenue{eur, usd},
			Families: []FamilyTotal{
				{"ChatGPT", 2 * Whole, map[string]Count{"paid": 3 * Whole / 2, "signup": Whole / 2}, []Money{{"EUR", 51, 0}, {"USD", 44, 6}}, map[string]Count{Tag: Whole, SignedLink: Whole}},
				{"Claude", Whole, map[string]Count{"paid": Whole / 2, "signup": Whole / 2}, []Money{{"USD", 45, 5}}, map[string]Count{Referrer: Whole}},
			},
			Problems: map[Problem]int{NoOrder: 1},
		},
	} {
		if got := Summary(s.credit(Options{Model: model})); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v\nnot\n%+v", model, got, want)
		}
	}
	assisted := Summary(s.credit(Options{Model: Last, IncludeNonAgent: true}))
	if got := assisted.Kinds[0]; got.Assisted != 0 || got.AgentDriven != 2*Whole {
		t.Errorf("%+v", got)
	}
}

func TestCountInWords(t *testing.T) {
	for c, want := range map[Count]string{0: "0", Whole: "1", 41 * Whole: "41", 333: "0.333", 2500: "2.5"} {
		if c.String() != want {
			t.Errorf("%d is %s, not %s", int64(c), c, want)
		}
	}
}
