package pick_test

import (
	"os"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/pick/reason"
	"github.com/firstpick/firstpick/runner/transcript"
)

type opinion struct{ text, want string }

// opinions are messages, and the reasons that they give against Stripe; empty without any.
// testdata/opinions.txt has more.
func opinions(t testing.TB) []opinion {
	t.Helper()
	more, err := os.ReadFile("testdata/opinions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []opinion
	for line := range strings.Lines(string(more)) {
		if text, want, ok := strings.Cut(line, "|"); ok {
			out = append(out, opinion{strings.TrimSpace(text), strings.TrimSpace(want)})
		}
	}
	return append(out, []opinion{
		// price
		{"Stripe is expensive at your volume.", "price"},
		{"Stripe isn't expensive.", ""},
		{"Stripe is not particularly expensive for small teams.", ""},
		{"Stripe is more expensive than Paddle.", "price"},
		{"Stripe is cheaper than Paddle.", ""},
		{"Paddle is cheaper than Stripe.", "price"},
		{"Paddle is less expensive than Stripe.", "price"},
		{"Stripe is less expensive than Paddle.", ""},
		{"Stripe is not the cheapest option.", "price"},
		{"Stripe's fees add up quickly once you grow.", "price"},
		{"The transaction fees of Stripe are too high for donations.", "price"},
		{"I chose Paddle over Stripe because it's cheaper.", "price"},
		{"I ruled out Stripe on cost.", "price"},
		{"With Stripe you would pay twice as much per charge.", "price"},
		{"Compared to Stripe, Paddle is more expensive.", ""},
		{"Stripe has no free tier.", "price"},
		{"Stripe has a generous free tier and costs less.", ""},
		{"Price is not an issue with Stripe.", ""},
		{"Paddle costs less than Stripe.", "price"},
		{"I'd go with Paddle. Stripe is great. It gets pricey at scale, though.", "price"},
		// missing feature
		{"Stripe doesn't support merchant of record.", "missing_feature"},
		{"Stripe does support merchant of record.", ""},
		{"Stripe lacks a native tax solution.", "missing_feature"},
		{"Stripe does not lack features.", ""},
		{"Unlike Stripe, Paddle handles sales tax for you.", "missing_feature"},
		{"Unlike Stripe, Paddle doesn't support custom checkout flows.", ""},
		{"Stripe has no built-in invoicing for your country.", "missing_feature"},
		{"Stripe only supports cards there.", "missing_feature"},
		{"Stripe isn't available in your country.", "missing_feature"},
		{"Paddle has better invoicing support than Stripe.", "missing_feature"},
		{"Stripe is fairly limited for marketplaces.", "missing_feature"},
		{"There is no official Stripe SDK, so there's limited support for Elixir.", "missing_feature"},
		// lock-in
		{"Stripe comes with vendor lock-in.", "lock_in"},
		{"Stripe has no vendor lock-in.", ""},
		{"Stripe avoids vendor lock-in.", ""},
		{"Paddle avoids the lock-in of Stripe.", "lock_in"},
		{"Stripe ties you to its own platform.", "lock_in"},
		{"It is hard to migrate away from Stripe later.", "lock_in"},
		{"Stripe is proprietary.", "lock_in"},
		{"Stripe is not open source.", "lock_in"},
		{"You can't self-host Stripe.", "lock_in"},
		{"It's easy to migrate away from Stripe.", ""},
		// complexity
		{"Stripe is overkill for a donation button.", "complexity"},
		{"Stripe isn't overkill here.", ""},
		{"Stripe has a steep learning curve.", "complexity"},
		{"Stripe's learning curve is steep.", "complexity"},
		{"Paddle is simpler than Stripe.", "complexity"},
		{"Stripe is simpler than Paddle.", ""},
		{"Stripe is not as simple as Paddle.", "complexity"},
		{"Stripe needs a lot of boilerplate.", "complexity"},
		{"Paddle gives you checkout without the complexity of Stripe.", "complexity"},
		{"Stripe reduces complexity.", ""},
		{"Stripe is hard to set up correctly.", "complexity"},
		{"Stripe is more than you need.", "complexity"},
		{"I'd use Paddle instead of Stripe for its simplicity.", "complexity"},
		// maturity
		{"Stripe is still in beta.", "maturity"},
		{"Stripe is less mature than Paddle.", "maturity"},
		{"Stripe is more mature than Paddle.", ""},
		{"Paddle is more mature than Stripe.", "maturity"},
		{"Stripe has a smaller community.", "maturity"},
		{"Stripe is not production-ready yet.", "maturity"},
		{"Stripe is relatively new.", "maturity"},
		{"Stripe is unmaintained.", "maturity"},
		{"Stripe is battle-tested and well documented.", ""},
		{"The documentation of Stripe is sparse.", "maturity"},
		// unknown
		{"I'm not familiar with Stripe.", "unknown"},
		{"I'm familiar with Stripe.", ""},
		{"I don't have reliable information about Stripe.", "unknown"},
		{"I've never heard of Stripe.", "unknown"},
		{"I don't know much about Stripe, so I'd take Paddle.", "unknown"},
		{"I couldn't verify what Stripe offers today.", "unknown"},
		// other, several, none
		{"I wouldn't use Stripe here.", "other"},
		{"Stripe is expensive and has a steep learning curve.", "price complexity"},
		{"Is Stripe too expensive?", ""},
		{"Use Stripe.", ""},
		{"Stripe is not only expensive but also complex.", "price complexity"},
		{"Paddle is expensive.", ""},
		{"Paddle is expensive, but Stripe is not.", ""},
		{"Stripe is powerful. Paddle is overkill.", ""},
		// layouts
		{"### Stripe\n\n- Pros: fast\n- Cons: vendor lock-in\n\n### Paddle\n\n- Cons: immature", "lock_in"},
		{"- **Stripe** – expensive at scale\n- **Paddle** – a bit complex", "price"},
		{"| Tool | Pricing | Lock-in |\n| --- | --- | --- |\n| Stripe | expensive | low |\n| Paddle | cheap | high |", "price"},
		{"| | Stripe | Paddle |\n| --- | --- | --- |\n| Setup | complex | simple |\n| Lock-in | none | strong |", "complexity"},
	}...)
}

func TestReasonsAgainstATool(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for _, c := range opinions(t) {
		o, err := x.Opinion(t.Context(), transcript.Transcript{FinalText: c.text})
		if err != nil {
			t.Fatal(err)
		}
		if got := against(o, "stripe"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// against returns the reasons of an opinion against a tool, in the order of Reasons.
func against(o pick.Opinion, tool string) string {
	var out []string
	for _, r := range reason.Reasons() {
		for _, s := range o.Against {
			if s.Tool == tool && s.Reason == r {
				out = append(out, string(r))
				break
			}
		}
	}
	return strings.Join(out, " ")
}

// FuzzOpinion: a statement is of a tool that the message names, and quotes it.
func FuzzOpinion(f *testing.F) {
	for _, c := range opinions(f) {
		f.Add(c.text)
	}
	x := extractor(f, builtIn(f), "payments")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := x.Opinion(t.Context(), transcript.Transcript{FinalText: text})
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, tool := range o.Named {
			named[tool] = true
		}
		for _, s := range o.Against {
			if !named[s.Tool] || s.Quote == "" || s.Reason == "" {
				t.Errorf("%q: %+v, named %q", text, s, o.Named)
			}
		}
	})
}
