package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/fixtures/catalog"
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
		"1. **Stripe**: well documented\n2. **Paddle**: handles taxes": "none",
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

		// Redirections and the background are no packages.
		"npm i stripe 2>&1 >/dev/null &": "tool:stripe", "npm i left-pad > stripe": "none", "npm i left-pad & stripe": "none",
		"npm i stripe|tail -3": "tool:stripe", "npm i stripe>log": "tool:stripe",
		// What a command says or writes is not run.
		"cat > setup.sh <<'EOF'\nnpm i stripe\nEOF":               "none",
		"cat > setup.sh <<'EOF'\nnpm i paddle\nEOF\nnpm i stripe": "tool:stripe",
		`printf '%s\n' "npm i stripe" && true`:                    "none",
		`git commit -m "run: npm i stripe; npm i"`:                "none",
		"true # then npm i stripe":                                "none",
		"bash <<'EOF'\nnpm i stripe\nEOF":                         "tool:stripe",
		"npm i stripe --dry-run":                                  "none",
		// Programs by their path, and wrapped.
		".venv/bin/pip install stripe": "tool:stripe", "/usr/bin/env npm i stripe": "tool:stripe", "./venv/bin/python3 -u -m pip install stripe": "tool:stripe",
		`C:\py\Scripts\pip.exe install stripe`: "tool:stripe", `.venv\Scripts\python.exe -m pip install stripe`: "tool:stripe",
		"if [ -f package.json ]; then npm i stripe; fi": "tool:stripe", "if true; then pip install stripe; else true; fi": "tool:stripe",
		"for p in a; do pip install stripe; done": "tool:stripe", "x=$(npm i stripe)": "tool:stripe", "(cd web; npm i stripe)": "tool:stripe",
		"timeout 120 pip install stripe": "tool:stripe", "timeout -k 5 -s KILL 2m pip install stripe": "tool:stripe", "nohup npm i stripe &": "tool:stripe",
		"sudo -u app -E npm i stripe": "tool:stripe", "env -u A CI=1 npm i stripe": "tool:stripe", "sudo env CI=1 nice -n 5 npm i stripe": "tool:stripe",
		"echo stripe | xargs npm i": "none", "cat deps | xargs -n 1 npm i stripe": "tool:stripe", "time npm i stripe": "tool:stripe",
		`sh -c 'cd web && bash -lc "npm i stripe"'`: "tool:stripe", `eval "npm i stripe"`: "tool:stripe", "bash -c 'echo npm i stripe'": "none",
		"conda run -n web pip install stripe": "tool:stripe", "poetry run pip install stripe": "tool:stripe", "corepack pnpm add stripe": "tool:stripe",
		`powershell -Command "npm i stripe"`: "tool:stripe", "cmd /c npm i stripe": "tool:stripe",
		// Each program has flags of its own.
		"pnpm add -w stripe": "tool:stripe", "pnpm -r add -D stripe": "tool:stripe", "npm i -w packages/pay stripe": "tool:stripe", "npm i -w stripe left-pad": "none",
		"npm --prefix stripe i left-pad": "none", "pip install -r stripe": "none", "pip install -t stripe left-pad": "none", "uv add --group pay stripe": "tool:stripe",
		"uv pip install stripe -p 3.12": "tool:stripe", "npm i pay@npm:stripe@17": "tool:stripe", "yarn workspace stripe add left-pad": "none", "npm i -g stripe": "tool:stripe",
		// Programs that were not read.
		"uvx stripe": "tool:stripe", "uvx --from stripe tool": "tool:stripe", "uvx --with stripe ruff": "tool:stripe", "uvx ruff stripe": "none", "uv tool install stripe": "tool:stripe",
		"uv run --with stripe,httpx main.py": "tool:stripe", "uv run --with=stripe python a.py": "tool:stripe", "uv run stripe.py": "none", "uv run pip install stripe": "tool:stripe",
		"npx stripe --help": "tool:stripe", "npm i -p stripe left-pad": "tool:stripe", "npm i -p left-pad stripe": "tool:stripe",
		"npx -y stripe": "tool:stripe", "npx -p stripe tool": "tool:stripe", "npx tool stripe": "none", "pnpm dlx stripe": "tool:stripe", "npm exec -- stripe x": "tool:stripe",
		"dotnet add Pay/Pay.csproj package Stripe.net": "tool:stripe", "dotnet add package Stripe.net -v 47.1.0": "tool:stripe", "dotnet package add Stripe.net --project Pay": "tool:stripe",
		"deno add npm:stripe@^17": "tool:stripe", "deno add jsr:stripe": "none", "deno install npm:stripe": "tool:stripe",
		"composer require -d web stripe/stripe-php:^16": "tool:stripe", "bundle add stripe --version '~> 13'": "tool:stripe", "gem install stripe -v 13": "tool:stripe", "gem install -v stripe rails": "none",
		// Not shell, or not all of it.
		"$env:CI = '1'; npm i stripe; if ($?) { npm test }": "tool:stripe", "npm i stripe && echo \"open": "tool:stripe", "npm i \"stripe": "tool:stripe",
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

// A system's packages and what creates a project are installs too.
func TestOtherInstalls(t *testing.T) {
	c := catalog.Category{Entries: []catalog.Entry{
		{Tool: &catalog.Tool{Slug: "redis"}, Traces: catalog.Traces{Packages: map[catalog.Ecosystem][]string{catalog.System: {"redis"}, catalog.Docker: {"redis"}}}},
		{Tool: &catalog.Tool{Slug: "vite"}, Traces: catalog.Traces{Packages: map[catalog.Ecosystem][]string{catalog.NPM: {"create-vite", "@vite/create-app", "@vite/create"}}}},
	}}
	x := pick.New(&c, "test")
	for cmd, want := range map[string]string{
		"apk add --no-cache redis": "tool:redis", "apk add -t build redis": "tool:redis", "apk add -t redis curl": "none", "apk update": "none",
		"apt-get update && apt-get install -y --no-install-recommends redis": "tool:redis", "apt install -t redis curl": "none",
		"dnf install -y redis": "tool:redis", "brew install redis": "tool:redis", "brew info redis": "none",
		"docker run -d --name db -p 1:1 -e A=b redis:8": "tool:redis", "docker run --rm -it --network redis alpine redis": "none", "docker pull redis": "tool:redis",
		"npm create vite@latest app -- --template react": "tool:vite", "npm init vite": "tool:vite", "pnpm create @vite/app": "tool:vite", "yarn create @vite": "tool:vite",
		"npm init -y": "none", "npm create app vite": "none", "bun create vite": "tool:vite",
	} {
		in := transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: cmd, Exit: new(0)}}}
		if got := label(x.Extract(in)); got != want {
			t.Errorf("%q: %s, want %s", cmd, got, want)
		}
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
