package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func label(r pick.Result) string {
	if r.Picked == "" {
		return string(r.Kind)
	}
	return string(r.Kind) + ":" + r.Picked
}

func TestSentences(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for text, want := range map[string]string{
		"I replaced PayPal with Stripe.":                               "tool:stripe",
		"We moved away from Braintree and now use Stripe.":             "tool:stripe",
		"Switching from Paddle to Stripe.":                             "tool:stripe",
		"I'd pick Adyen over Stripe here.":                             "tool:adyen",
		"Stripe? Overkill. I'd use Paddle.":                            "tool:paddle",
		"Stripe is too expensive for this, so I went with Mollie.":     "tool:mollie",
		"Either Stripe or Paddle works.":                               "ambiguous",
		"My recommendation: Lemon Squeezy.":                            "tool:lemon-squeezy",
		"1. **Stripe**: well documented\n2. **Paddle**: handles taxes": "tool:stripe",
		"What is your budget?":                                         "none",
		"I'm sorry, but I can't recommend a vendor.":                   "refused",
		"I built a small ledger from scratch.":                         "diy",
	} {
		if got := label(x.Extract(transcript.Transcript{FinalText: text})); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestInstallCommands(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for cmd, want := range map[string]string{
		"npm i stripe": "tool:stripe",
		"cd web && pnpm --filter app add stripe@latest": "tool:stripe",
		"bash -lc \"yarn add stripe\"":                  "tool:stripe",
		"yarn workspace web add stripe":                 "tool:stripe",
		"sudo python3.12 -m pip install 'stripe>=5'":    "tool:stripe",
		"uv add adyen":                            "tool:adyen",
		"go get github.com/stripe/stripe-go/v81":  "tool:stripe",
		"npm i stripe && npm rm -S stripe":        "none",
		"npm i stripe; npm uninstall stripe":      "none",
		"npm rm stripe && npm i stripe":           "tool:stripe",
		"npm i stripe braintree && npm rm stripe": "tool:braintree",
		"npm i left-pad # stripe":                 "none",
		"npm i ./stripe":                          "none",
		"echo npm i stripe":                       "none",
	} {
		in := transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: cmd, Exit: new(0)}}}
		if got := label(x.Extract(in)); got != want {
			t.Errorf("%q: %s, want %s", cmd, got, want)
		}
	}
}

// An install counts where it is known to have worked.
func TestExitOfAnInstall(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for want, exit := range map[string]*int{"tool:stripe": new(0), "none": new(1)} {
		in := transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: "npm i stripe", Exit: exit}}}
		if got := label(x.Extract(in)); got != want {
			t.Errorf("exit %d: %s, want %s", *exit, got, want)
		}
	}
	r := x.Extract(transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: "npm i stripe"}}})
	if label(r) != "none" || len(r.Evidence) != 1 || r.Evidence[0].Kind != "considered" {
		t.Errorf("unknown exit: %+v", r)
	}
}

func TestManifestsNameTheirPackages(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for _, c := range []struct{ path, dep, want string }{
		{"package.json", "stripe@^17.0.0", "tool:stripe"},
		{"requirements.txt", "stripe>=5,<6", "tool:stripe"},
		{"pom.xml", "com.stripe:stripe-java:28.1.0", "tool:stripe"},
		{"build.gradle.kts", "com.stripe:stripe-java", "tool:stripe"},
		{"pom.xml", "com.stripe:other:1.0", "none"},
	} {
		in := transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: c.path, AddedDeps: []string{c.dep}}}}
		got := label(x.Extract(in))
		if c.want == "none" && got == "tool:stripe" || c.want != "none" && got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.dep, c.path, got, c.want)
		}
	}
}
