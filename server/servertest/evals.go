package servertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing" //nolint:depguard // a package of tests
	"testing/fstest"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// EvalText is an eval that the bundle of Finish is the result of.
const EvalText = `name: web-weekly
category: web
repeats: 2
agents:
  - {name: opus, kind: anthropic, model: claude-opus-4-5}
  - {name: gpt, kind: openai-responses, model: gpt-5.2}
prompts:
  - {id: api, text: Build a small web API that stores notes.}
  - {id: site, text: Set up a website with a login.}
  - {id: hook, text: Add an endpoint that takes webhooks.}
`

// An evalChecker reads evals as the command line does, and knows less of agents.
type evalChecker struct{}

// Check implements evals.Checker.
func (evalChecker) Check(source []byte) (evals.Checked, []evals.Issue) {
	e, err := eval.Parse("eval", source)
	if err != nil {
		return evals.Checked{}, issues(err)
	}
	c := evals.Checked{Name: e.Name, Digest: fmt.Sprintf("%x", plan.New(e)[0].ID), Warnings: []string{}}
	c.Summary = evals.Summary{
		Category: e.Category, Description: e.Description, Prompts: len(e.Prompts), Templates: e.Templates, Repeats: e.Repeats,
		Trials: len(plan.New(e)), ProviderKeys: []string{}, Agents: []evals.AgentSummary{},
	}
	for _, a := range e.Agents {
		c.Agents = append(c.Agents, evals.AgentSummary{Name: a.Name, Kind: a.Kind, Model: a.Model})
		if name := map[string]string{eval.KindAnthropic: "ANTHROPIC_API_KEY", eval.KindOpenAIResponses: "OPENAI_API_KEY"}[a.Kind]; name != "" {
			c.ProviderKeys = append(c.ProviderKeys, name)
		}
	}
	slices.Sort(c.ProviderKeys)
	c.ProviderKeys = slices.Compact(c.ProviderKeys)
	c.Digest = fmt.Sprintf("%s x%d", c.Digest, c.Trials)
	return c, nil
}

// serverCatalog is what own catalogues of workspaces overlay.
const serverCatalog = `category: {slug: web, name: Web frameworks, domain: dev-tools}
tools:
  - {slug: flask, name: Flask, packages: {pypi: [flask]}}
  - {slug: django, name: Django, packages: {pypi: [django]}}
`

// Overlay implements evals.Checker. The category of an eval is not checked, as by Check.
func (c evalChecker) Overlay(own []byte) (evals.Checker, *catalog.Catalog, []evals.Issue) {
	base, err := catalog.Load(fstest.MapFS{"catalog/web.yaml": {Data: []byte(serverCatalog)}}, "catalog")
	if err == nil && len(own) > 0 {
		base, err = base.Overlay("catalogue", own)
	}
	if err != nil {
		return nil, nil, issues(err)
	}
	return c, base, nil
}

// Propose implements evals.Proposer: the site of a product is one that nobody reads.
func (evalChecker) Propose(_ context.Context, _ []byte, address, category string) (*evals.Product, error) {
	switch {
	case strings.Contains(address, "user:"):
		return nil, apierr.InvalidRequest("The site cannot be read: want an address without a name and password.")
	case strings.Contains(address, "unreadable"):
		return &evals.Product{Name: "quill", Slug: "quill", Domains: []string{"quill.example"}, Repeats: 2, Unread: "No public address was found for the name unreadable.example."}, nil
	case strings.Contains(address, "unknown"):
		return &evals.Product{Name: "Unknown", Slug: "unknown", Category: category, Nearest: []string{"web"}, Read: []string{address}, Repeats: 2}, nil
	}
	return &evals.Product{
		Name: "Quill", Slug: "quill", Aliases: []string{"Quill.js"}, Domains: []string{"quill.example"}, Packages: []string{"pypi:quill"}, Category: "web", Nearest: []string{"web"},
		Rivals: []string{"Django", "Flask"}, Named: 1, Read: []string{address, address + "/llms.txt"}, Repeats: 2,
	}, nil
}

// Draft implements evals.Proposer.
func (c evalChecker) Draft(own []byte, p *evals.Product) (*evals.Draft, []evals.Issue) {
	d := &evals.Draft{Product: *p}
	if p.Category != "web" {
		return nil, []evals.Issue{{Message: "no category " + p.Category}}
	}
	if len(d.Prompts) == 0 {
		d.Prompts, d.Rivals, d.Named = []string{"Build a small web API that stores notes.", "Set up a website with a login."}, []string{"Django", "Flask"}, 0
	}
	for i, prompt := range p.Prompts { // as the checks of the CLI say it
		if p.Name != "" && strings.Contains(prompt, p.Name) {
			return nil, []evals.Issue{{Line: 3, Message: fmt.Sprintf("prompt \"own-%d\" names %s (%q): prompts stay unbranded, a name steers the answer; describe the task without it", i+1, p.Name, p.Name)}}
		}
	}
	_, merged, wrong := c.Overlay(own)
	if wrong != nil {
		return nil, wrong
	}
	if web, _ := merged.Category("web"); slices.ContainsFunc(web.Entries, func(e catalog.Entry) bool { return e.Tool.Slug == p.Slug }) {
		d.Known = true
	} else {
		member := catalog.NewMember{Slug: p.Slug, Name: p.Name, Domains: p.Domains}
		var err error
		if d.Entry, err = member.Line(); err != nil {
			return nil, issues(err)
		}
		if d.Catalog, err = catalog.InsertOverlay(own, p.Category, member); err != nil {
			return nil, issues(err)
		}
		if _, _, wrong := c.Overlay(d.Catalog); wrong != nil {
			return nil, wrong
		}
	}
	text := fmt.Sprintf("name: %s\ncategory: web\nrepeats: %d\nagents:\n", cmp.Or(p.Eval, p.Slug), max(1, p.Repeats))
	for _, a := range p.Agents {
		at := ""
		if a.BaseURL != "" {
			at = fmt.Sprintf(", base_url: %q, api_key_env: %s", a.BaseURL, a.Key)
		}
		text += fmt.Sprintf("  - {name: %q, kind: %s, model: %q, max_tokens: 9%s}\n", a.Model, a.Kind, a.Model, at)
	}
	if len(p.Agents) == 0 {
		text += "  - {name: rehearsal, kind: simulated, truth: {flask: 1}}\n"
	}
	text += "prompts:\n"
	for i, prompt := range d.Prompts {
		text += fmt.Sprintf("  - {id: p%d, text: %q}\n", i, prompt)
	}
	d.Source = []byte(text)
	if d.Checked, wrong = c.Check(d.Source); wrong != nil {
		return nil, wrong
	}
	worst := float64(d.Checked.Trials) / 100
	d.Checked.WorstUSD, d.Checked.Synthetic = &worst, len(p.Agents) == 0
	for range append(c.Models(), slices.DeleteFunc(slices.Clone(p.Agents), func(a evals.ProposedAgent) bool { return a.BaseURL == "" })...) {
		d.Costs = append(d.Costs, evals.Cost{Worst: &worst})
	}
	large := d.Checked
	large.Detectable = new(float64)
	*large.Detectable = 0.405
	d.Sizes = []evals.Size{{Repeats: d.Repeats, Checked: d.Checked}, {Repeats: 9, Checked: large}}
	return d, nil
}

// Models implements evals.Proposer.
func (evalChecker) Models() []evals.ProposedAgent {
	return []evals.ProposedAgent{{Kind: eval.KindAnthropic, Model: "claude-opus-4-5", Key: "ANTHROPIC_API_KEY"}, {Kind: eval.KindOpenAIResponses, Model: "gpt-5.2", Key: "OPENAI_API_KEY"}}
}

// Prompts implements evals.Proposer.
func (evalChecker) Prompts(source []byte) (out []string) {
	e, err := eval.Parse("eval", source)
	if err != nil {
		return nil
	}
	for _, p := range e.Prompts {
		out = append(out, p.Text)
	}
	return out
}

func issues(err error) []evals.Issue {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		var out []evals.Issue
		for _, one := range many.Unwrap() {
			out = append(out, issues(one)...)
		}
		return out
	}
	var at *strictyaml.Error
	if errors.As(err, &at) {
		return []evals.Issue{{Line: at.Line, Message: at.Msg}}
	}
	return []evals.Issue{{Message: err.Error()}}
}

// Workspace makes a workspace with an owner of its own.
func (s *Service) Workspace(t testing.TB, slug, plan string) *state.Workspace {
	t.Helper()
	now := s.Clock.Now()
	w := &state.Workspace{ID: "ws_" + slug, Slug: slug, OwnerID: "acc_" + slug, Plan: plan, CreatedAt: now, ClaimedAt: now}
	s.write(t, func(ctx context.Context, tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, w)
		return errors.Join(tx.AddAccount(ctx, &state.Account{ID: w.OwnerID, Email: slug + "@example.com", CreatedAt: now, VerifiedAt: now}), err)
	})
	return w
}

// Unclaimed makes a paid workspace that nobody owns.
func (s *Service) Unclaimed(t testing.TB, slug string) *state.Workspace {
	t.Helper()
	w := &state.Workspace{ID: "ws_" + slug, Slug: slug, Plan: state.PlanPaid, CreatedAt: s.Clock.Now(), ClaimExpires: s.Clock.Now().Add(time.Hour)}
	s.write(t, func(ctx context.Context, tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, w)
		return err
	})
	return w
}

// Join makes an account a member of a workspace.
func (s *Service) Join(t testing.TB, w *state.Workspace, account string, role identity.Role) {
	t.Helper()
	s.write(t, func(ctx context.Context, tx *state.Tx) error {
		return tx.PutMember(ctx, w.ID, account, role, s.Clock.Now())
	})
}

// Owner is who owns a workspace.
func Owner(w *state.Workspace) evals.Actor { return evals.Actor{Workspace: w, By: w.OwnerID} }

// EvalKey mints a key of a workspace that may do all, or what scopes say.
func (s *Service) EvalKey(t testing.TB, w *state.Workspace, scopes ...string) string {
	t.Helper()
	_, token, err := s.Evals.CreateKey(t.Context(), Owner(w), evals.KeyRequest{Label: "test", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// MemberKey mints a key of a workspace by a member.
func (s *Service) MemberKey(t testing.TB, w *state.Workspace, account string, role identity.Role) string {
	t.Helper()
	_, token, err := s.Evals.CreateKey(t.Context(), evals.Actor{Workspace: w, By: account, Role: role}, evals.KeyRequest{Label: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Ready sets the provider keys of EvalText, stores it and starts a run of it.
func (s *Service) Ready(t testing.TB, w *state.Workspace) (*evals.Eval, *evals.Run) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		if _, err := s.Evals.SetProviderKey(t.Context(), Owner(w), evals.KeyChange{Name: name, Value: "sk-of-" + w.Slug}); err != nil {
			t.Fatal(err)
		}
	}
	e, _, _, err := s.Evals.Put(t.Context(), Owner(w), []byte(EvalText))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Evals.Start(t.Context(), Owner(w), evals.StartRequest{EvalID: e.ID, BudgetUSD: 5})
	if err != nil {
		t.Fatal(err)
	}
	return e, r
}

// Begin takes the next run, as a worker does, and tells that it began.
func (s *Service) Begin(t testing.TB) *state.EvalRun {
	t.Helper()
	var r *state.EvalRun
	s.write(t, func(ctx context.Context, tx *state.Tx) (err error) {
		r, err = tx.ClaimRun(ctx, "worker", s.Clock.Now(), time.Hour)
		return err
	})
	if r == nil {
		t.Fatal("no run waits")
	}
	s.AppendEvent(t, r, `{"type":"started","attempt":1}`)
	return r
}

// AppendEvent appends an event of a run.
func (s *Service) AppendEvent(t testing.TB, r *state.EvalRun, body string) {
	t.Helper()
	s.write(t, func(ctx context.Context, tx *state.Tx) error {
		return tx.AppendRunEvents(ctx, r.ID, []state.RunEvent{{At: s.Clock.Now(), Body: []byte(body)}})
	})
}

// Finish ends a run that was taken, with the bundle of the tests as its result.
func (s *Service) Finish(t testing.TB, r *state.EvalRun, bundles string) {
	t.Helper()
	there, err := os.ReadDir(bundles)
	if err != nil || len(there) != 1 {
		t.Fatal("one bundle belongs in", bundles, err)
	}
	id := there[0].Name()
	if err := os.CopyFS(filepath.Join(s.Bundles, r.WorkspaceID, id), os.DirFS(filepath.Join(bundles, id))); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	s.write(t, func(ctx context.Context, tx *state.Tx) error {
		now := s.Clock.Now()
		return errors.Join(
			tx.AppendRunEvents(ctx, r.ID, []state.RunEvent{{At: now, Body: []byte(`{"type":"ended","status":"done","note":""}`)}}),
			tx.FinishRun(ctx, r.Lease(), now, state.RunOutcome{
				Status: state.RunDone, Bundle: id, RunProgress: state.RunProgress{Planned: 12, Valid: 10, Excluded: 1, SpentMicros: 156_000, AtMostMicros: 176_000},
			}))
	})
}

func (s *Service) write(t testing.TB, fn func(ctx context.Context, tx *state.Tx) error) {
	t.Helper()
	if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error { return fn(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}
