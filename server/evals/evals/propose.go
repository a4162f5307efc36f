package evals

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Proposer is a Checker that also reads the site of a product and drafts how to measure it.
// own is the workspace's own catalogue.
type Proposer interface {
	// Propose reads the site at an address. category overrides the found one; empty to find it.
	// A site that cannot be read is no error: the product has what its address says, and Unread.
	Propose(ctx context.Context, own []byte, address, category string) (*Product, error)
	// Draft writes the entry and the eval of a product, or returns what is wrong with it. A
	// product without prompts gets those of its category, with its rivals.
	Draft(own []byte, p *Product) (*Draft, []Issue)
	// Models returns the models that a form offers.
	Models() []ProposedAgent
	// Prompts returns the texts of an eval's prompts, each on one line; nil for a malformed eval.
	Prompts(source []byte) []string
}

// A Product is what is to be measured, as a person may change it.
type Product struct {
	Name, Slug string
	Aliases    []string
	Domains    []string
	Packages   []string // as ECOSYSTEM:NAME
	Known      bool     // the catalogue has it
	Category   string   // empty if none was found
	Nearest    []string // categories that may fit, the best first
	// Rivals are the names of the tools of the category. The site names the first Named of
	// them.
	Rivals  []string
	Named   int
	Read    []string // addresses that were read
	Unread  string   // why the site was not read; empty if it was
	Prompts []string // without one, those of the category are proposed
	Agents  []ProposedAgent
	Repeats int
	// Eval is the name of the stored eval of which the draft is a new version; empty for the eval
	// of the product's name. Stored is its text: prompts of it keep their ids.
	Eval   string
	Stored []byte
}

// A ProposedAgent is a model to ask.
type ProposedAgent struct {
	Kind, Model string
	Key         string // the name of its provider key
	// BaseURL and the prices, in USD per million tokens, are of endpoints that are not their
	// kind's own.
	BaseURL       string
	Input, Output float64
}

// A Draft is a product as it will be stored.
type Draft struct {
	Product
	Entry   string // the line of the catalogue; empty if the catalogue has the product
	Catalog []byte // the own catalogue with it; nil likewise
	Source  []byte // of the eval
	Checked Checked
	Missing []string // provider keys that are not set
	EvalID  string   // of the stored eval of that name; empty if absent
	Version int      // of that eval
	// Kept says that the prompts are those of the stored eval.
	Kept bool
	// Costs are those of each model of Models alone, then of the product's endpoints.
	Costs []Cost
	Sizes []Size // to choose from, the smallest first
}

// A Size is a number of repeats, and what a run with it takes and shows.
type Size struct {
	Repeats int
	Checked Checked
}

// A Cost is what a run with one agent costs, nil where it is unknown, and how long it takes.
type Cost struct {
	Expected, Worst *float64
	Took            time.Duration
}

// siteReads limits how many sites are read at a time, in all and for a workspace.
const siteReads, ownSiteReads = 16, 2

func (s *Service) proposer() (Proposer, error) {
	if p, ok := s.Checker.(Proposer); ok {
		return p, nil
	}
	return nil, missing("not_found", "This server reads no sites.")
}

// Proposes reports whether this server reads sites of products.
func (s *Service) Proposes() bool {
	_, ok := s.Checker.(Proposer)
	return ok
}

// Models returns the models that a form offers; nil where this server reads no sites.
func (s *Service) Models() []ProposedAgent {
	if p, ok := s.Checker.(Proposer); ok {
		return p.Models()
	}
	return nil
}

// Propose reads the site of a workspace's product. It stores nothing.
func (s *Service) Propose(ctx context.Context, a Actor, address, category string) (*Product, error) {
	p, err := s.proposer()
	if err = errors.Join(err, a.may(ScopeRun)); err != nil {
		return nil, s.fail(err)
	}
	s.sites.once.Do(func() { s.sites.limiter = sse.NewLimiter(siteReads, ownSiteReads) })
	leave, err := s.sites.limiter.Enter(a.Workspace.ID)
	if err != nil {
		e := apierr.RateLimited(5)
		e.Description = "This workspace reads " + strconv.Itoa(ownSiteReads) + " sites already. Wait until one is read."
		return nil, e
	}
	defer leave()
	own, err := ownCatalog(ctx, s.DB.Read(), a)
	if err != nil {
		return nil, s.fail(err)
	}
	product, err := p.Propose(ctx, own.Source, address, category)
	return product, s.fail(err)
}

// Again returns the product of a stored eval with its prompts and repeats, to be measured with
// other agents. A tool is the one of a category by its slug.
func (s *Service) Again(e *Eval, tool, slug string) (*Product, error) {
	p, err := s.proposer()
	if err != nil {
		return nil, s.fail(err)
	}
	return &Product{
		Name: tool, Slug: slug, Known: true, Category: e.Category, Nearest: []string{e.Category}, Prompts: p.Prompts([]byte(e.Source)), Repeats: e.Repeats, Eval: e.Name,
	}, nil
}

// Draft writes what Accept would store for a product. A product without prompts gets those of
// the stored eval of its name and category, for a person may have edited them. A product that
// cannot be measured is a 400 invalid_eval that lists all issues.
func (s *Service) Draft(ctx context.Context, a Actor, product *Product) (*Draft, error) {
	d, _, err := s.draft(ctx, a, product)
	if err != nil {
		return nil, err
	}
	stored, err := s.storedAs(ctx, a, d.Checked.Name)
	if err != nil {
		return nil, s.fail(err)
	}
	if stored != nil && len(product.Prompts) == 0 && stored.Category == d.Category {
		if again := s.keep(ctx, a, product, stored); again != nil {
			d = again
		}
	}
	if stored != nil {
		d.EvalID, d.Version = stored.ID, stored.Version
	}
	set, err := s.providerKeyNames(ctx, s.DB.Read(), a)
	if err != nil {
		return nil, s.fail(err)
	}
	d.Missing = without(d.Checked.ProviderKeys, set)
	return d, nil
}

// storedAs returns the workspace's eval of a name, or nil.
func (s *Service) storedAs(ctx context.Context, a Actor, name string) (*Eval, error) {
	list, err := s.DB.Read().Evals(ctx, a.Workspace.ID, "", maxPage)
	for _, e := range list {
		if e.Name == name {
			return s.Eval(ctx, a, e.ID)
		}
	}
	return nil, err
}

// keep drafts a product with the prompts and repeats of a stored eval; nil where the form
// cannot hold them.
func (s *Service) keep(ctx context.Context, a Actor, product *Product, stored *Eval) *Draft {
	p, err := s.proposer()
	if err != nil {
		return nil
	}
	kept := *product
	if kept.Prompts, kept.Repeats = p.Prompts([]byte(stored.Source)), stored.Repeats; len(kept.Prompts) == 0 {
		return nil
	}
	d, _, err := s.draft(ctx, a, &kept)
	if err != nil {
		return nil
	}
	d.Kept = true
	return d
}

func (s *Service) draft(ctx context.Context, a Actor, product *Product) (*Draft, *state.CatalogVersion, error) {
	p, err := s.proposer()
	if err = errors.Join(err, a.may(ScopeRun)); err != nil {
		return nil, nil, s.fail(err)
	}
	own, err := ownCatalog(ctx, s.DB.Read(), a)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	again := *product
	if again.Stored = nil; again.Eval != "" {
		stored, err := s.storedAs(ctx, a, again.Eval)
		if err != nil {
			return nil, nil, s.fail(err)
		}
		if again.Eval = ""; stored != nil {
			again.Eval, again.Stored = stored.Name, []byte(stored.Source)
		}
	}
	d, wrong := p.Draft(own.Source, &again)
	if len(wrong) > 0 {
		return nil, nil, invalid(wrong...)
	}
	return d, own, nil
}

// Accept stores a product's entry in the workspace's own catalogue, its eval, and provider
// keys, all or nothing. The workspace follows the tool from then on, unless it follows one.
func (s *Service) Accept(ctx context.Context, a Actor, product *Product, keys []KeyChange) (*Eval, error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, s.fail(err)
	}
	for i := range keys {
		if err := keys[i].Check(); err != nil {
			return nil, err
		}
	}
	d, own, err := s.draft(ctx, a, product)
	if err != nil {
		return nil, err
	}
	var entry *newCatalog
	digest := own.Digest
	if d.Catalog != nil {
		if entry, err = s.newCatalog(a, d.Catalog); err != nil {
			return nil, err
		}
		digest = entry.Digest
	}
	eval, err := s.newEval(a, d.Source, &d.Checked, digest)
	if err != nil {
		return nil, err
	}
	var e *Eval
	err = s.write(ctx, func(tx *state.Tx) error {
		if entry != nil {
			if _, _, err := s.storeCatalog(ctx, tx, a, entry, own.Number); err != nil {
				return err
			}
		}
		for _, k := range keys {
			if err := s.storeKey(ctx, tx, a, k); err != nil {
				return err
			}
		}
		if e, _, _, err = s.storeEval(ctx, tx, a, eval, &d.Checked, false); err != nil {
			return err
		}
		if s.Follow == nil || a.Role == "" {
			return nil
		}
		return s.Follow(ctx, tx, s.Now(), a.Workspace.ID, a.By, d.Slug)
	})
	if err != nil {
		return nil, err
	}
	e.Warnings = d.Checked.Warnings
	return e, nil
}

// KeyNameFor returns the name of the provider key that a host's models are called with.
func KeyNameFor(host string) string {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"} {
		if slices.Contains(DefaultHosts(name), host) {
			return name
		}
	}
	return "ENDPOINT_API_KEY"
}
