package attribution

import (
	"reflect"
	"testing"
)

// TestLandings: a conversion is divided among the pages of the visits that the model credits,
// without refunds and without families that are filtered out.
func TestLandings(t *testing.T) {
	s := tell(t, `
		touch -9d v1 ChatGPT tag /pricing
		touch -8d v1 Claude referrer /docs
		touch -9d v2 ChatGPT signed_link /docs
		signup -7d v1 0 - s1
		paid -6d v1 100 USD o1
		paid -5d v2 51 EUR o2
		paid -4d v9 500 USD o3
		refund -3d - -11 USD r1 o1`)
	for model, want := range map[Model][]LandingTotal{
		First: {
			{"acme.dev", "/pricing", 2 * Whole, map[string]Count{"paid": Whole, "signup": Whole}, []string{"ChatGPT"}},
			{"acme.dev", "/docs", Whole, map[string]Count{"paid": Whole}, []string{"ChatGPT"}},
		},
		Last: {{"acme.dev", "/docs", 3 * Whole, map[string]Count{"paid": 2 * Whole, "signup": Whole}, []string{"ChatGPT", "Claude"}}},
		Linear: {
			{"acme.dev", "/docs", 2 * Whole, map[string]Count{"paid": 3 * Whole / 2, "signup": Whole / 2}, []string{"ChatGPT", "Claude"}},
			{"acme.dev", "/pricing", Whole, map[string]Count{"paid": Whole / 2, "signup": Whole / 2}, []string{"ChatGPT"}},
		},
	} {
		credited := s.credit(Options{Model: model})
		if got := Landings(credited, model); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v\nnot\n%+v", model, got, want)
		}
		for i := range credited { // as a filter by assistant does
			for _, share := range credited[i].Shares {
				if share.Family == "Claude" {
					credited[i].Shares = []Share{share}
				}
			}
		}
		if model != Linear {
			continue
		}
		if got := Landings(credited, model)[0]; got.Path != "/docs" || got.Conversions != 2*Whole {
			t.Errorf("filtered: %+v", got)
		}
	}
}
