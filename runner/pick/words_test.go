package pick_test

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// outcome writes a result as the labels do: "tool:stripe", "diy".
func outcome(r pick.Result) string {
	if r.Picked == "" {
		return string(r.Kind)
	}
	return string(r.Kind) + ":" + r.Picked
}

// TestWords reads messages of agents that did nothing to a workspace.
func TestWords(t *testing.T) {
	c := builtIn(t)
	for _, tt := range []struct{ category, text, want string }{
		{"payments", "I'd recommend Stripe for this project.", "tool:stripe"},
		{"payments", "My recommendation is Paddle, since it is a merchant of record.", "tool:paddle"},
		{"payments", "I went with Mollie because most of your customers are Dutch.", "tool:mollie"},
		{"payments", "I've integrated Braintree and added a webhook handler.", "tool:braintree"},
		{"payments", "I'll set up Stripe Checkout for the hosted page.", "tool:stripe"},
		{"payments", "Go with Adyen.", "tool:adyen"},
		{"payments", "**Stripe** is the best choice for most SaaS companies.", "tool:stripe"},
		{"payments", "The right fit here is Paddle.", "tool:paddle"},
		{"payments", "Stripe over PayPal, every time.", "tool:stripe"},
		{"payments", "I chose Stripe over Braintree because the docs are better.", "tool:stripe"},
		{"payments", "I'd pick Razorpay rather than Stripe for India.", "tool:razorpay"},
		{"payments", "I replaced PayPal with Stripe.", "tool:stripe"},
		{"payments", "We moved away from Braintree and now use Stripe.", "tool:stripe"},
		{"payments", "Adyen? Overkill. I would use Stripe.", "tool:stripe"},
		{"payments", "I wouldn't use PayPal here. Mollie does the job.", "tool:mollie"},
		{"payments", "PayPal is too expensive for this; Stripe is cheaper.", "tool:stripe"},
		{"payments", "While PayPal is popular, I'd choose Stripe.", "tool:stripe"},
		{"payments", "If you sell in India, use Razorpay. Otherwise I recommend Stripe.", "tool:stripe"},
		{"payments", "I recommend Stripe. If you need a merchant of record, use Paddle.", "tool:stripe"},
		{"payments", "Use Stripe unless you need a merchant of record, in which case use Paddle.", "tool:stripe"},
		{"payments", "Stripe vs Paddle: Paddle wins for a solo founder.", "tool:paddle"},
		{"payments", "## Recommended: Lemon Squeezy\n\nIt handles tax.\n\n## Alternatives\n\n- Paddle\n- Stripe", "tool:lemon-squeezy"},
		{"payments", "### Stripe (recommended)\n\nGreat docs.\n\n### Paddle\n\nHandles tax.", "tool:stripe"},
		{"payments", "| Provider | Fee | Verdict |\n|---|---|---|\n| Stripe | 2.9% | ✅ Use this |\n| Adyen | custom | ❌ |\n", "tool:stripe"},
		{"payments", "| Provider | Fee |\n|---|---|\n| Stripe | 2.9% |\n| Adyen | custom |\n\nMy pick: Adyen.", "tool:adyen"},
		{"payments", "First I planned to use Paddle. In the end I went with Stripe.", "tool:stripe"},
		{"payments", "You could use Stripe or Paddle. Both are good.", "ambiguous"},
		{"payments", "Both Stripe and PayPal are wired up.", "ambiguous"},
		{"payments", "It depends on your country: Stripe, Mollie and Adyen all work.", "ambiguous"},
		{"payments", "What currency do you charge in? Do you need subscriptions?", "none"},
		{"payments", "I've added the checkout page.", "none"},
		{"payments", "I'm sorry, but I can't assist with that.", "refused"},
		{"payments", "I can't recommend PayPal for this; use Stripe.", "tool:stripe"},
		{"payments", "No third-party provider: I built a small ledger myself.", "diy"},
		{"payments", "I implemented the billing from scratch, without Stripe.", "diy"},
		{"payments", "I'd use `Payrexx` for Switzerland.", "other:payrexx"},
		{"payments", "I'd go with Payrexx here.", "other:payrexx"},
		{"payments", "Here are the best payment providers:\n\n1. **Stripe** - great API\n2. **PayPal** - well known\n3. **Adyen** - enterprise", "tool:stripe"},
		{"payments", "- **Best Overall:** Paddle\n- **Best for marketplaces:** Stripe", "tool:paddle"},
		{"payments", "🏆 Top pick: Stripe\n\nRunner-up: Paddle", "tool:stripe"},
		{"payments", "Top options:\n\n- **Stripe**: great API\n- **PayPal**: well known\n- **Adyen**: enterprise", "tool:stripe"},
		{"payments", "1. Install the dependencies.\n2. Put the Stripe key into `.env`.", "tool:stripe"},
		{"payments", "Payments go through Stripe. I did not touch PayPal.", "tool:stripe"},
		{"payments", "I built the checkout with Stripe.", "tool:stripe"},
		{"payments", "We use Stripe; PayPal is left out on purpose.", "tool:stripe"},
		{"payments", "No Stripe, no Paddle: just Mollie.", "tool:mollie"},
		{"payments", "Neither Stripe nor Paddle fits. I picked Chargebee.", "tool:chargebee"},
		{"payments", "I considered Adyen, but settled on Stripe.", "tool:stripe"},
		{"email", "Resend the message after five minutes. I used Postmark.", "tool:postmark"},
		{"email", "I'm using SES for delivery.", "tool:amazon-ses"},
		{"email", "Mail is sent with Nodemailer over your SMTP server.", "other:nodemailer"},
		{"email", "I switched from SendGrid to Resend.", "tool:resend"},
		{"email", "Skip Mailgun; Postmark delivers faster and is what I recommend.", "tool:postmark"},
		{"auth", "I used Clerk for authentication. The session middleware is in `proxy.ts`.", "tool:clerk"},
		{"auth", "Auth.js would be my default, with Better Auth as a close second.", "tool:auth-js"},
		{"auth", "I rolled our own session auth with bcrypt.", "diy"},
		{"auth", "I would not roll your own. Use Clerk.", "tool:clerk"},
		{"auth", "Don't build it yourself: Auth0 is the safe option.", "tool:auth0"},
		{"hosting", "Deploy it to Railway.", "tool:railway"},
		{"hosting", "I'd host this on Fly.io, not on Render.", "tool:fly-io"},
		{"search", "Go with Meilisearch; Elasticsearch is overkill for 10k rows.", "tool:meilisearch"},
		{"search", "Typesense beats Algolia on price, so Typesense it is.", "tool:typesense"},
		{"feature-flags", "I'd start with Unleash. Once you have a budget, LaunchDarkly is worth a look.", "tool:unleash"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := extractor(t, c, tt.category).Extract(transcript.Transcript{FinalText: tt.text})
			if got := outcome(r); got != tt.want {
				t.Errorf("got %s, want %s (short %v, rejected %v)", got, tt.want, r.Shortlist, r.Rejected)
			}
		})
	}
}

// TestWhatIsNamedBeside holds shortlist and rejections to what was said.
func TestWhatIsNamedBeside(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for text, want := range map[string][2][]string{
		"I'd use Stripe. PayPal and Adyen are alternatives.":            {{"adyen", "paypal", "stripe"}, nil},
		"I'd use Stripe, not PayPal or Adyen.":                          {{"stripe"}, {"adyen", "paypal"}},
		"Use Stripe instead of PayPal. Later you may add PayPal again.": {{"paypal", "stripe"}, nil},
		"I chose Stripe over Braintree and Adyen.":                      {{"stripe"}, {"adyen", "braintree"}},
		"I recommend Stripe. Avoid Square, Adyen and Braintree.":        {{"stripe"}, {"adyen", "braintree", "square"}},
		"Neither Paddle nor Adyen: Stripe.":                             {{"stripe"}, {"adyen", "paddle"}},
		"Stripe is right. If you outgrow it, Adyen.":                    {{"adyen", "stripe"}, nil},
	} {
		r := x.Extract(transcript.Transcript{FinalText: text})
		if !slices.Equal(r.Shortlist, want[0]) || !slices.Equal(r.Rejected, want[1]) {
			t.Errorf("%q: shortlist %v, rejected %v; want %v, %v", text, r.Shortlist, r.Rejected, want[0], want[1])
		}
	}
}
