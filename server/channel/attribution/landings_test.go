package attribution

import (
	"reflect"
	"testing"
)

// TestLandings: a conversion is divided among the pages of the visits that the model credits,
// less refunds and without families that are filtered out.
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
			{"acme.dev", "/pricing", 2 * Whole, map[string]Count{"paid": Whole, "signup": Whole}, []string{"ChatGPT"}, []Money{{"USD", 89, 11}}},
			{"acme.dev", "/docs", Whole, map[string]Count{"paid": Whole}, []string{"ChatGPT"}, []Money{{"EUR", 51, 0}}},
		},
		Last: {{"acme.dev", "/docs", 3 * Whole, map[string]Count{"paid": 2 * Whole, "signup": Whole}, []string{"ChatGPT", "Claude"}, []Money{{"EUR", 51, 0}, {"USD", 89, 11}}}},
		Linear: {
			{"acme.dev", "/docs", 2 * Whole, map[string]Count{"paid": 3 * Whole / 2, "signup": Whole / 2}, []string{"ChatGPT", "Claude"}, []Money{{"EUR", 51, 0}, {"USD", 45, 5}}},
			{"acme.dev", "/pricing", Whole, map[string]Count{"paid": Whole / 2, "signup": Whole / 2}, []string{"ChatGPT"}, []Money{{"USD", 44, 6}}},
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

// TestOnPages: the conversions of a page have the shares of the visits to it, and all pages
// together have what agents have; a probable conversion is of the page of its landing.
func TestOnPages(t *testing.T) {
	s := tell(t, `
		touch -9d v1 ChatGPT tag /pricing
		touch -8d v1 ChatGPT referrer /docs/start
		touch -8d v1 Claude declared /docs/start
		fetch -20m Gemini /docs/start
		view -10m v3 /docs/start
		paid -6d v1 100 USD o1
		paid -5d v9 500 USD o3
		signup -1m v3 0 - s3
		refund -3d - -11 USD r1 o1`)
	only := func(path string) func(string, string) bool { return func(_, p string) bool { return p == path } }
	for _, model := range []Model{First, Last, Linear, Position} {
		all := s.credit(Options{Model: model})
		whole, sum := Summary(all), Count(0)
		money := int64(0)
		for _, path := range []string{"/pricing", "/docs/start", "/other"} {
			part := Summary(OnPages(all, model, only(path)))
			for _, l := range Landings(all, model) {
				for _, f := range part.Families {
					if l.Path == path {
						l.Conversions -= f.Conversions
					}
				}
				if l.Path == path && l.Conversions != 0 {
					t.Errorf("%s %s: landings and the page differ by %s", model, path, l.Conversions)
				}
			}
			for _, k := range part.Kinds {
				sum += k.AgentDriven
			}
			for _, r := range part.Revenue {
				money += r.AgentDriven
			}
			if possible := path == "/docs/start"; len(part.Kinds) > 0 && part.Kinds[len(part.Kinds)-1].Possible > 0 != possible {
				t.Errorf("%s %s: %+v", model, path, part.Kinds)
			}
		}
		if sum != Whole || len(whole.Revenue) != 1 || money != whole.Revenue[0].AgentDriven || money != 89 {
			t.Errorf("%s: %s conversions and %d of %+v on the pages", model, sum, money, whole)
		}
	}
	got := OnPages(s.credit(Options{Model: Linear}), Linear, only("/docs/start"))
	want := []Share{{"ChatGPT", Referrer, 333, 33}, {"Claude", Declared, 333, 33}}
	if len(got) != 3 || !reflect.DeepEqual(got[0].Shares, want) || got[0].Evidence != Referrer || got[1].Shares[0].Value+got[1].Shares[1].Value != -7 || got[2].Possible == nil {
		t.Errorf("of /docs/start: %+v", got)
	}
}
