package cli

import (
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
)

// openBundles is how many results a server keeps open. Each takes a few files and
// what its scores and prompts are long.
const openBundles = 64

// evals makes what serves workspaces' own evals. The shelf is to be closed at the end.
func (a *app) evals(svc *registrations.Service) (*evals.Service, *bundle.Shelf, error) {
	checker, err := a.evalChecker()
	if err != nil {
		return nil, nil, err
	}
	root, err := a.bundlesRoot()
	if err != nil {
		return nil, nil, err
	}
	shelf := bundle.NewShelf(root, openBundles)
	return &evals.Service{
		DB: svc.DB, Secrets: svc.Secrets, Checker: checker, Shelf: shelf, Log: a.log, Now: a.env.Now, Sleep: a.env.Sleep, BaseURL: svc.BaseURL,
		Caps: evals.Caps{BudgetUSD: a.cfg.EvalMaxBudget, Queued: a.cfg.EvalMaxQueued},
	}, shelf, nil
}
