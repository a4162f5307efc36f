package cliagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/clitest"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/provider/providertest"
)

// The tests of this file run the real CLIs, as `make test-cli` installs them,
// against a fake of their providers. FIRSTPICK_CLIS names the folder.

// A realCLI is one of them.
type realCLI struct {
	kind, program, model, path string
	ladder                     bool // it tells of a refusal before it gives up
}

func realCLIs() []realCLI {
	return []realCLI{
		{kind: eval.KindClaudeCode, program: "claude", model: "claude-sonnet-4-5-20250929", ladder: true},
		{kind: eval.KindCodex, program: "codex", model: "gpt-5.1-codex", path: "/v1", ladder: true},
		{kind: eval.KindGeminiCLI, program: "gemini", model: "gemini-2.5-pro", ladder: true},
		{kind: eval.KindOpenCode, program: "opencode", model: "anthropic/claude-sonnet-4-5-20250929", path: "/v1"},
		{kind: eval.KindCopilot, program: "copilot", model: "gpt-5.1", path: "/v1", ladder: true},
	}
}

// eachCLI runs a test with every CLI that is installed.
func eachCLI(t *testing.T, test func(t *testing.T, c realCLI, a eval.Agent, d Deps)) {
	dir := clitest.Folder(t)
	for _, c := range realCLIs() {
		t.Run(c.kind, func(t *testing.T) {
			binary := clitest.Program(t, dir, c.program)
			home, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			d := deps(t)
			d.Sandbox, err = sandbox.Detect(t.Context(), sandbox.Config{
				LookPath: exec.LookPath, Home: home, Superuser: os.Getuid() == 0,
				Try: func(ctx context.Context, argv []string) error {
					return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			git, err := exec.LookPath("git")
			if err != nil {
				t.Log("no git: the workspaces are no repositories")
			}
			d.Workspaces.Git = git
			d.Workspaces.Load = func(string) (fs.FS, error) {
				return fstest.MapFS{
					"package.json": {Data: []byte("{\n  \"name\": \"shop\",\n  \"dependencies\": {}\n}\n")},
					"README.md":    {Data: []byte("# A shop\n")},
				}, nil
			}
			// Not below /tmp, where Codex refuses to put its helpers.
			if d.Root, err = os.MkdirTemp(home, ".firstpick-test-"); err != nil { //nolint:usetesting // see above
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = RemoveAll(d.Root) })
			a := eval.Agent{Name: c.kind, Kind: c.kind, Model: c.model, CLI: &eval.CLI{Binary: binary, WallS: 120, StallS: 100, GraceS: 10}}
			test(t, c, a, d)
		})
	}
}

// trial asks a real CLI against a server with a script.
func trial(t *testing.T, c realCLI, a eval.Agent, d Deps, script providertest.Script) (agent.Reply, *heard, *providertest.Server, error) {
	t.Helper()
	s := providertest.New(script)
	t.Cleanup(s.Close)
	a.BaseURL, a.APIKeyEnv = s.URL+c.path, "PROVIDER_KEY"
	p, err := New(a, d)
	if err != nil {
		t.Fatal(err)
	}
	h := &heard{}
	began := time.Now()
	r, err := p.Ask(t.Context(), task("Add payments to this app. Choose whatever you think is best.", h))
	took := time.Since(began)
	verdict := "answer " + cmp.Or(string(r.Transcript.Stop), "whole")
	if err != nil {
		verdict = fmt.Sprintf("%.200s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	m := p.Profile().Manifest
	t.Logf("| %s | %s | %s | %s | %.1f s | %d requests | %d signals | %s |",
		a.Kind, m.Version, m.Sandbox, t.Name(), took.Seconds(), len(s.Requests()), len(h.signals), verdict)
	return r, h, s, err
}

func TestRealAnswer(t *testing.T) {
	eachCLI(t, func(t *testing.T, c realCLI, a eval.Agent, d Deps) {
		r, _, s, err := trial(t, c, a, d, providertest.Say("I would take **Stripe** here, rather than Paddle."))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Transcript.FinalText, "**Stripe**") || len(r.Transcript.Diff) > 0 || len(r.Transcript.Commands) > 0 {
			t.Errorf("%+v", r.Transcript)
		}
		if r.Usage == nil || r.OutTokens == 0 || r.InTokens == 0 || r.WallMS == 0 || len(r.Raw) == 0 {
			t.Errorf("usage %+v, %d tokens written, %d ms, %d bytes", r.Usage, r.OutTokens, r.WallMS, len(r.Raw))
		}
		for _, q := range s.Requests() {
			if !strings.HasSuffix(a.Model, q.Model) {
				t.Errorf("%s was asked as well", q.Model)
			}
		}
		empty(t, d)
	})
}

// working is a model that installs a package and writes a file. Some tools want
// whole paths, so it takes that of the workspace from what it is told.
func working(root string) providertest.Script {
	workspace := regexp.MustCompile(regexp.QuoteMeta(root) + `/t-\d+/app`)
	return func(r providertest.Request) providertest.Step {
		switch r.Turn {
		case 0:
			return providertest.Step{Text: "I will add it.", Calls: []providertest.Call{{
				Shell: `npm install stripe --offline --no-audit >/dev/null 2>&1; mkdir -p src; printf '{\n  "name": "shop",\n  "dependencies": {"stripe": "^17.0.0"}\n}\n' > package.json; echo added 1 package`,
			}}}
		case 1:
			return providertest.Step{Calls: []providertest.Call{{
				Write:   string(workspace.Find(r.Body)) + "/src/pay.js",
				Content: "import Stripe from 'stripe';\nexport const stripe = new Stripe(process.env.STRIPE_SECRET_KEY);\n",
			}}}
		}
		return providertest.Step{Text: "Done: payments go through **Stripe**."}
	}
}

// TestRealWork: what an agent does is in the transcript, and the pick comes out.
func TestRealWork(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	payments, ok := cat.Category("payments")
	if !ok {
		t.Fatal("there is no category payments")
	}
	eachCLI(t, func(t *testing.T, c realCLI, a eval.Agent, d Deps) {
		r, _, _, err := trial(t, c, a, d, working(d.Root))
		if err != nil {
			t.Fatal(err)
		}
		tr := r.Transcript
		if len(tr.Commands) == 0 || !strings.HasPrefix(tr.Commands[0].Cmd, "npm install stripe") {
			t.Errorf("commands: %+v", tr.Commands)
		}
		found := map[string]bool{}
		for _, f := range tr.Diff {
			found[f.Path] = true
			if f.Path == "package.json" && (len(f.AddedDeps) != 1 || !strings.HasPrefix(f.AddedDeps[0], "stripe")) {
				t.Errorf("dependencies: %v", f.AddedDeps)
			}
		}
		if !found["package.json"] || !found["src/pay.js"] {
			t.Errorf("diff: %+v", tr.Diff)
		}
		result := pick.New(payments, "test").Extract(tr)
		if result.Kind != pick.Tool || result.Picked != "stripe" || result.Method != pick.MethodAction {
			t.Errorf("result %+v", result)
		}
	})
}

// TestRealUnauthorized: a key that is not taken ends the program at once.
func TestRealUnauthorized(t *testing.T) {
	eachCLI(t, func(t *testing.T, c realCLI, a eval.Agent, d Deps) {
		_, _, _, err := trial(t, c, a, d, providertest.Always(providertest.Step{Do: providertest.Unauthorized}))
		var infra *agent.InfraError
		if !errors.As(err, &infra) || infra.Reason != agent.ReasonAuth || !infra.Lane {
			t.Errorf("%v", err)
		}
	})
}

// TestRealLimited: a program that is refused twice goes on to its answer, and the
// limiter hears of it where the program tells.
func TestRealLimited(t *testing.T) {
	eachCLI(t, func(t *testing.T, c realCLI, a eval.Agent, d Deps) {
		limited := providertest.Step{Do: providertest.Limited, Wait: time.Second}
		if c.kind == eval.KindGeminiCLI {
			limited.Style = providertest.InText // it reads no headers
		}
		r, h, _, err := trial(t, c, a, d, providertest.InOrder(limited, limited, providertest.Step{Text: "I would take **Stripe** here."}))
		if err != nil || !strings.Contains(r.Transcript.FinalText, "Stripe") {
			t.Errorf("%q, %v", r.Transcript.FinalText, err)
		}
		heardOf := 0
		for _, s := range h.signals {
			if s.Verdict == limiter.Limited {
				heardOf++
			}
		}
		if c.ladder && heardOf == 0 {
			t.Error("the limiter heard nothing")
		}
	})
}

// TestRealOverload: a provider that is down for long is no answer.
func TestRealOverload(t *testing.T) {
	eachCLI(t, func(t *testing.T, c realCLI, a eval.Agent, d Deps) {
		a.CLI.WallS = 20
		_, _, _, err := trial(t, c, a, d, providertest.Always(providertest.Step{Do: providertest.Overloaded}))
		var infra *agent.InfraError
		if !errors.As(err, &infra) || infra.Lane || !infra.Retry {
			t.Errorf("%v", err)
		}
	})
}
