package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func file(path string, lines ...string) transcript.FileChange {
	return transcript.FileChange{Path: path, Added: lines}
}

func deps(path string, names ...string) transcript.FileChange {
	return transcript.FileChange{Path: path, AddedDeps: names}
}

// TestDeeds reads workspaces.
func TestDeeds(t *testing.T) {
	c := builtIn(t)
	type diff = []transcript.FileChange
	for name, tt := range map[string]struct {
		category, text, want string
		diff                 diff
	}{
		"extras and ranges are no part of a name":        {"payments", "", "tool:square", diff{deps("requirements.txt", "squareup[async]>=40,<41 ; python_version > '3.9'")}},
		"a scope is part of a name":                      {"email", "", "tool:sendgrid", diff{deps("package.json", "@sendgrid/mail@^8")}},
		"another ecosystem's name is another package":    {"payments", "", "none", diff{deps("requirements.txt", "@stripe/stripe-js")}},
		"an unknown manifest tries every ecosystem":      {"payments", "", "tool:square", diff{deps("deps.lock", "squareup==40")}},
		"a line of requirements.txt":                     {"payments", "", "tool:stripe", diff{file("api/requirements.txt", "flask==3", "stripe==12.0.0")}},
		"a line of requirements.txt without a version":   {"payments", "", "tool:stripe", diff{file("requirements.txt", "stripe")}},
		"a line of package.json":                         {"payments", "", "tool:stripe", diff{file("package.json", `    "stripe": "^17.0.0",`)}},
		"a line of go.mod":                               {"payments", "", "tool:stripe", diff{file("go.mod", "require github.com/stripe/stripe-go/v82 v82.0.0")}},
		"a line in the require block of go.mod":          {"payments", "", "tool:stripe", diff{file("go.mod", "\tgithub.com/stripe/stripe-go/v82 v82.0.0 // indirect")}},
		"a line of a Gemfile":                            {"payments", "", "tool:stripe", diff{file("Gemfile", `gem "stripe", "~> 12"`)}},
		"a line of pyproject.toml":                       {"payments", "", "tool:stripe", diff{file("pyproject.toml", "dependencies = [", `    "stripe>=12",`, "]")}},
		"a comment in requirements.txt":                  {"payments", "", "none", diff{file("requirements.txt", "# stripe")}},
		"a comment in code":                              {"payments", "", "none", diff{file("a.py", "# import stripe")}},
		"a comment behind code":                          {"payments", "", "none", diff{file("a.ts", "const x = 1 // import Stripe from 'stripe'")}},
		"import with an alias":                           {"payments", "", "tool:stripe", diff{file("a.py", "import os, stripe as s")}},
		"import indented in a function":                  {"payments", "", "tool:stripe", diff{file("a.py", "    from stripe.checkout import Session")}},
		"a module of the same beginning is another":      {"payments", "", "none", diff{file("a.py", "import stripelib")}},
		"require":                                        {"payments", "", "tool:stripe", diff{file("a.js", "const stripe = require('stripe')(process.env.KEY)")}},
		"dynamic import":                                 {"payments", "", "tool:stripe", diff{file("a.mjs", "const { loadStripe } = await import('@stripe/stripe-js')")}},
		"an import for its effects":                      {"payments", "", "tool:stripe", diff{file("a.ts", "import 'stripe'")}},
		"a type import":                                  {"payments", "", "tool:stripe", diff{file("a.ts", "import type Stripe from \"stripe\"")}},
		"the end of an import of many lines":             {"payments", "", "tool:stripe", diff{file("a.ts", "import {", "  loadStripe,", "} from '@stripe/stripe-js'")}},
		"a Go import":                                    {"payments", "", "tool:stripe", diff{file("a.go", "import (", "\t\"github.com/stripe/stripe-go/v82/customer\"", ")")}},
		"Ruby":                                           {"payments", "", "tool:stripe", diff{file("a.rb", "require 'stripe'")}},
		"a host in a string":                             {"payments", "", "tool:mollie", diff{file("a.go", `const base = "https://api.mollie.com/v2"`)}},
		"a host that only ends alike":                    {"payments", "", "none", diff{file("a.go", `const base = "https://notapi.mollie.com.example.org"`)}},
		"a variable":                                     {"payments", "", "tool:mollie", diff{file(".env.example", "MOLLIE_API_KEY=")}},
		"only in a test, beside a live one":              {"payments", "", "tool:mollie", diff{file("a.py", "import mollie"), file("tests/test_a.py", "import stripe"), deps("requirements.txt", "mollie-api-python")}},
		"a manifest and an import beat an import":        {"payments", "", "tool:stripe", diff{deps("package.json", "stripe@1"), file("a.ts", "import Stripe from 'stripe'"), file("b.ts", "import b from 'braintree'")}},
		"three times as many files":                      {"payments", "", "tool:stripe", diff{file("a.ts", "import S from 'stripe'"), file("b.ts", "import S from 'stripe'"), file("c.ts", "import S from 'stripe'"), file("d.ts", "import b from 'braintree'")}},
		"two live ones":                                  {"payments", "", "ambiguous", diff{file("a.ts", "import S from 'stripe'"), file("b.ts", "import b from 'braintree'")}},
		"code that imports nothing known":                {"auth", "", "none", diff{file("a.py", "import json")}},
		"an outsider alone":                              {"auth", "", "other:lucia", diff{deps("package.json", "lucia@3")}},
		"an outsider beside a tool":                      {"auth", "", "tool:clerk", diff{deps("package.json", "lucia@3", "@clerk/nextjs@6")}},
		"the libraries one builds it with":               {"auth", "", "diy", diff{file("a.js", "import bcrypt from 'bcrypt'")}},
		"those libraries beside a tool":                  {"auth", "", "tool:clerk", diff{deps("package.json", "bcrypt@5", "@clerk/nextjs@6")}},
		"code beats words":                               {"payments", "I used Paddle.", "tool:stripe", diff{file("a.py", "import stripe")}},
		"a name in a document is not a deed":             {"payments", "", "none", diff{file("README.md", "Stripe is not used here.")}},
		"an import that a document shows is a weak deed": {"payments", "", "tool:stripe", diff{file("README.md", "import Stripe from 'stripe'")}},
	} {
		t.Run(name, func(t *testing.T) {
			r := extractor(t, c, tt.category).Extract(transcript.Transcript{FinalText: tt.text, Diff: tt.diff})
			if got := outcome(r); got != tt.want {
				t.Errorf("got %s, want %s (%+v)", got, tt.want, r.Evidence)
			}
		})
	}
}

// TestCommands reads what an agent ran where the workspace shows nothing.
func TestCommands(t *testing.T) {
	c := builtIn(t)
	for _, tt := range []struct{ cmd, want string }{
		{"npm i stripe", "tool:stripe"},
		{"npm install --save-exact stripe@17.1.0 zod", "tool:stripe"},
		{"cd web && pnpm --filter app add stripe@latest && echo ok", "tool:stripe"},
		{"yarn workspace web add stripe", "tool:stripe"},
		{"bun add @stripe/stripe-js", "tool:stripe"},
		{"python -m pip install -q 'stripe>=12'", "tool:stripe"},
		{"python3.12 -m pip install stripe", "tool:stripe"},
		{"PIP_NO_CACHE=1 pip install -r requirements.txt stripe", "tool:stripe"},
		{"uv pip install stripe", "tool:stripe"},
		{"uv add --dev stripe", "tool:stripe"},
		{"poetry add stripe@^12", "tool:stripe"},
		{"bash -lc \"npm i stripe && npm test\"", "tool:stripe"},
		{"bash -c 'sudo -E npm i -g stripe'", "tool:stripe"},
		{"(cd web; npm i stripe)", "tool:stripe"},
		{"go get github.com/stripe/stripe-go/v82@latest", "tool:stripe"},
		{"composer require stripe/stripe-php:^17", "tool:stripe"},
		{"bundle add stripe --version '~> 12'", "tool:stripe"},
		{"gem install stripe -v 12.0.0", "tool:stripe"},
		{"dotnet add package Stripe.net --version 48", "tool:stripe"},
		{"dotnet add src/App.csproj package Stripe.net", "tool:stripe"},
		{"npm i git+https://github.com/stripe/stripe-node.git", "none"},
		{"npm i ./stripe", "none"},
		{"npm run stripe", "none"},
		{"echo npm i stripe", "none"},
		{"grep -r 'npm i stripe' .", "none"},
		{"npm install", "none"},
		{"npm i auth0 # stripe", "none"},
		{"npm i stripe; npm uninstall stripe", "none"},
		{"npm i stripe && npm rm -S stripe", "none"},
		{"npm i stripe braintree && npm rm stripe", "tool:braintree"},
		{"npm rm stripe && npm i stripe", "tool:stripe"},
	} {
		t.Run(tt.cmd, func(t *testing.T) {
			r := extractor(t, c, "payments").Extract(transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: tt.cmd}}})
			if got := outcome(r); got != tt.want {
				t.Errorf("got %s, want %s (%+v)", got, tt.want, r.Evidence)
			}
		})
	}
}

// TestConsidered tells tried from chosen.
func TestConsidered(t *testing.T) {
	x := extractor(t, builtIn(t), "payments")
	for name, in := range map[string]transcript.Transcript{
		"a failed install":          {Commands: []transcript.Command{{Cmd: "npm i stripe", Exit: 1}}},
		"an install undone later":   {Commands: []transcript.Command{{Cmd: "npm i stripe"}, {Cmd: "npm rm stripe"}}},
		"absent from the final tree": {Commands: []transcript.Command{{Cmd: "npm i stripe"}}, Diff: []transcript.FileChange{deps("package.json", "zod@3")}},
	} {
		r := x.Extract(in)
		if r.Kind != pick.None || len(r.Shortlist) != 1 || r.Shortlist[0] != "stripe" {
			t.Errorf("%s: %s, shortlist %v", name, outcome(r), r.Shortlist)
		}
	}
}
