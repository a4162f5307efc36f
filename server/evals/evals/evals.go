package evals

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// MaxSource is the maximum size of an eval, in bytes.
const MaxSource = 256 << 10

// Check validates an eval and estimates its cost. It stores nothing. An invalid eval
// is a 400 invalid_eval that lists all issues.
func (s *Service) Check(ctx context.Context, a Actor, source []byte) (*Eval, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	c, _, err := s.check(ctx, a, source, Checker.Check)
	if err != nil {
		return nil, err
	}
	if err := s.mayBeSent(ctx, s.DB.Read(), a, c.Summary); err != nil {
		return nil, s.fail(err)
	}
	set, err := s.providerKeyNames(ctx, s.DB.Read(), a)
	if err != nil {
		return nil, s.fail(err)
	}
	return &Eval{Name: c.Name, Digest: c.Digest, Summary: c.Summary, MissingKeys: without(c.ProviderKeys, set), Warnings: c.Warnings}, nil
}

type issues struct {
	Issues []Issue `json:"issues"`
}

func invalid(list ...Issue) error {
	e := apierr.Refused("invalid_eval", "The eval cannot be run; issues says why, with lines.")
	e.Extra = issues{list}
	return e
}

// Issues returns the issues of an eval if err is an invalid_eval error.
func Issues(err error) []Issue {
	var e *apierr.Error
	if errors.As(err, &e) {
		if x, ok := e.Extra.(issues); ok {
			return x.Issues
		}
	}
	return nil
}

// A checkFunc validates an eval with a checker.
type checkFunc func(c Checker, source []byte) (Checked, []Issue)

// check validates an eval with the workspace's own catalogue, and returns the digest of
// that.
func (s *Service) check(ctx context.Context, a Actor, source []byte, with checkFunc) (Checked, string, error) {
	if len(source) > MaxSource {
		return Checked{}, "", invalid(Issue{Message: "the eval has " + strconv.Itoa(len(source)) + " bytes; the maximum is " + strconv.Itoa(MaxSource)})
	}
	if !utf8.Valid(source) || slices.Contains(source, 0) {
		return Checked{}, "", invalid(Issue{Message: "the eval is not UTF-8 text"})
	}
	checker, own, err := s.checkerOf(ctx, a)
	if err != nil {
		return Checked{}, "", err
	}
	c, wrong := with(checker, source)
	if len(wrong) > 0 {
		return c, own, invalid(wrong...)
	}
	return c, own, nil
}

// Put stores an eval under its name, as a new eval or a new version. A source that is
// equivalent to the latest version changes nothing.
func (s *Service) Put(ctx context.Context, a Actor, source []byte) (e *Eval, created, changed bool, err error) {
	return s.put(ctx, a, source, false)
}

// PutPushed is Put for the eval of a run that is pushed: programs and private addresses are
// allowed, and provider keys need no hosts. A run of it here is checked when it starts. It does
// not change what a schedule runs.
func (s *Service) PutPushed(ctx context.Context, a Actor, source []byte) (e *Eval, created, changed bool, err error) {
	return s.put(ctx, a, source, true)
}

func checkPushed(c Checker, source []byte) (Checked, []Issue) {
	if p, ok := c.(PushChecker); ok {
		return p.CheckPushed(source)
	}
	return c.Check(source)
}

func (s *Service) put(ctx context.Context, a Actor, source []byte, pushed bool) (e *Eval, created, changed bool, err error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, false, false, s.fail(err)
	}
	check := Checker.Check
	if pushed {
		check = checkPushed
	}
	c, own, err := s.check(ctx, a, source, check)
	if err != nil {
		return nil, false, false, err
	}
	next, err := s.newEval(a, source, &c, own)
	if err != nil {
		return nil, false, false, err
	}
	err = s.write(ctx, func(tx *state.Tx) error {
		e, created, changed, err = s.storeEval(ctx, tx, a, next, &c, pushed)
		return err
	})
	if err != nil {
		return nil, false, false, err
	}
	e.Warnings = c.Warnings
	return e, created, changed, nil
}

// newEval returns the row of a valid eval; own is the digest of the own catalogue.
func (s *Service) newEval(a Actor, source []byte, c *Checked, own string) (*state.Eval, error) {
	summary, err := json.Marshal(c.Summary)
	if err != nil {
		return nil, s.fail(err)
	}
	return &state.Eval{
		ID: s.Secrets.ID("evl_"), WorkspaceID: a.Workspace.ID, Name: c.Name,
		Latest: state.EvalVersion{Source: source, Digest: c.Digest, Summary: summary, CreatedAt: s.Now(), CreatedBy: a.By, Catalog: own},
	}, nil
}

func (s *Service) storeEval(ctx context.Context, tx *state.Tx, a Actor, next *state.Eval, c *Checked, pushed bool) (e *Eval, created, changed bool, err error) {
	if !pushed {
		if err := s.mayBeSent(ctx, tx, a, c.Summary); err != nil {
			return nil, false, false, err
		}
	}
	caps := s.Caps.or()
	stored, changed, err := tx.PutEval(ctx, next, state.EvalCap{Evals: caps.Evals, Versions: caps.Versions})
	switch {
	case errors.Is(err, state.ErrTooManyEvals):
		return nil, false, false, conflict("too_many_evals", "This workspace has all the evals it may have.")
	case errors.Is(err, state.ErrTooManyVersions):
		return nil, false, false, conflict("too_many_evals", "This eval was changed as often as it may be. Store it under another name.")
	case err != nil:
		return nil, false, false, err
	}
	created = stored.ID == next.ID
	if pushed && changed && !created {
		if err := unscheduled(ctx, tx, stored); err != nil {
			return nil, false, false, err
		}
	}
	set, err := s.providerKeyNames(ctx, tx, a)
	if err != nil {
		return nil, false, false, err
	}
	if e, err = s.toAPI(stored, set); err != nil || !changed {
		return e, created, changed, err
	}
	return e, created, changed, s.audit(ctx, tx, a, next.Latest.CreatedAt, "eval.stored", map[string]string{"eval": e.ID, "name": e.Name, "version": strconv.Itoa(e.Version)})
}

// unscheduled fails for an eval with a schedule that is not paused.
func unscheduled(ctx context.Context, tx *state.Tx, e *state.Eval) error {
	row, err := tx.ScheduleOf(ctx, e.WorkspaceID, e.ID)
	if errors.Is(err, state.ErrNotFound) || err == nil && !row.PausedAt.IsZero() {
		return nil
	} else if err != nil {
		return err
	}
	return conflict("eval_scheduled", "A schedule runs the latest version of eval "+e.Name+", and the pushed run has another text of it. Give the eval another name and run it again, or pause or delete the schedule, then push.")
}

// Eval returns the latest version of an eval, with its source.
func (s *Service) Eval(ctx context.Context, a Actor, id string) (*Eval, error) {
	return s.read(ctx, a, func(tx *state.Tx) (*state.Eval, error) { return tx.Eval(ctx, a.Workspace.ID, id) })
}

// Version returns a version of an eval, with its source.
func (s *Service) Version(ctx context.Context, a Actor, id string, number int) (*Eval, error) {
	return s.read(ctx, a, func(tx *state.Tx) (*state.Eval, error) {
		e, err := tx.Eval(ctx, a.Workspace.ID, id)
		if err != nil || e.Latest.Number == number {
			return e, err
		}
		v, err := tx.EvalVersion(ctx, a.Workspace.ID, id, number)
		if errors.Is(err, state.ErrNotFound) {
			return nil, missing("eval_not_found", "This eval has no such version.")
		} else if err != nil {
			return nil, err
		}
		e.Latest, e.UpdatedAt = *v, v.CreatedAt
		return e, nil
	})
}

func (s *Service) read(ctx context.Context, a Actor, get func(tx *state.Tx) (*state.Eval, error)) (*Eval, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	tx := s.DB.Read()
	e, err := get(tx)
	if err != nil {
		return nil, s.fail(noEval(err))
	}
	set, err := s.providerKeyNames(ctx, tx, a)
	if err != nil {
		return nil, s.fail(err)
	}
	out, err := s.toAPI(e, set)
	return out, s.fail(err)
}

// Evals returns a page of a workspace's evals, by name, and the cursor of the next
// one; empty on the last.
func (s *Service) Evals(ctx context.Context, a Actor, from string, limit int) (list []*Eval, next string, err error) {
	after := ""
	if err := errors.Join(a.may(ScopeRead), place("evals", from, &after)); err != nil {
		return nil, "", s.fail(err)
	}
	limit = pageOf(limit)
	tx := s.DB.Read()
	stored, err := tx.Evals(ctx, a.Workspace.ID, after, limit+1)
	if err != nil {
		return nil, "", s.fail(err)
	}
	set, err := s.providerKeyNames(ctx, tx, a)
	if err != nil {
		return nil, "", s.fail(err)
	}
	if len(stored) > limit {
		stored = stored[:limit]
		next = cursor("evals", stored[limit-1].Name)
	}
	list = make([]*Eval, len(stored))
	for i := range stored {
		if list[i], err = s.toAPI(stored[i], set); err != nil {
			return nil, "", s.fail(err)
		}
	}
	return list, next, nil
}

// toAPI converts a stored eval to its API form; set are the names of stored provider
// keys.
func (s *Service) toAPI(e *state.Eval, set []string) (*Eval, error) {
	out := &Eval{
		ID: e.ID, Name: e.Name, Version: e.Latest.Number, Digest: e.Latest.Digest, CatalogDigest: e.Latest.Catalog, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		URL: s.BaseURL + "/api/v1/evals/" + url.PathEscape(e.ID), Source: string(e.Latest.Source),
	}
	if err := json.Unmarshal(e.Latest.Summary, &out.Summary); err != nil {
		return nil, err
	}
	out.MissingKeys = without(out.ProviderKeys, set)
	return out, nil
}

// without returns the elements of want that have lacks.
func without(want, have []string) []string {
	out := []string{}
	for _, name := range want {
		if !slices.Contains(have, name) {
			out = append(out, name)
		}
	}
	return out
}

func list(names []string) string { return strings.Join(names, ", ") }
