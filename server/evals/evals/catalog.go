package evals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// MaxCatalog is the maximum size of an own catalogue, in bytes.
	MaxCatalog = catalog.MaxOverlay
	// maxCatalogs is how many versions of it are kept; of more, those that runs used.
	maxCatalogs = 200
)

// The bases of a change that are no versions.
const (
	AnyCatalog = state.AnyCatalog // replaces any version
	NoCatalog  = -2               // of a version that is not current
)

// Catalog returns the current version of the workspace's own catalogue; version 0 without
// one.
func (s *Service) Catalog(ctx context.Context, a Actor) (*Catalog, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	c, err := ownCatalog(ctx, s.DB.Read(), a)
	if err != nil {
		return nil, s.fail(err)
	}
	return s.catalogToAPI(c), nil
}

// CatalogVersion returns a version of the workspace's own catalogue.
func (s *Service) CatalogVersion(ctx context.Context, a Actor, number int) (*Catalog, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	c, err := s.DB.Read().CatalogVersion(ctx, a.Workspace.ID, number)
	if err != nil {
		return nil, s.fail(orMissing(err, "catalog_not_found", "The catalogue of this workspace has no such version. GET /api/v1/catalog returns the current one."))
	}
	return s.catalogToAPI(c), nil
}

// CatalogHistory returns the latest versions of the workspace's own catalogue without their
// sources, newest first, and the addresses of the accounts that stored them, by id.
func (s *Service) CatalogHistory(ctx context.Context, a Actor, limit int) ([]*state.CatalogVersion, map[string]string, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, nil, err
	}
	tx := s.DB.Read()
	list, err := tx.Catalogs(ctx, a.Workspace.ID, limit)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	emails := map[string]string{}
	for _, c := range list {
		if _, known := emails[c.CreatedBy]; known || c.CreatedBy == "" || strings.HasPrefix(c.CreatedBy, keyID) {
			continue
		}
		account, err := tx.Account(ctx, c.CreatedBy)
		switch {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return nil, nil, s.fail(err)
		default:
			emails[c.CreatedBy] = account.Email
		}
	}
	return list, emails, nil
}

// CheckCatalog validates an own catalogue, and stores nothing. An invalid one is a 400
// invalid_catalog that lists all issues. It returns warnings.
func (s *Service) CheckCatalog(ctx context.Context, a Actor, source []byte) ([]string, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	merged, err := s.overlay(source)
	if err != nil {
		return nil, err
	}
	warnings, err := orphans(ctx, s.DB.Read(), a, merged)
	return warnings, s.fail(err)
}

// PutCatalog stores the next version of the workspace's own catalogue, if the current one
// is base. The text of the current version changes nothing. Runs keep the version that was
// current when they were started.
func (s *Service) PutCatalog(ctx context.Context, a Actor, source []byte, base int) (c *Catalog, changed bool, err error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, false, s.fail(err)
	}
	next, err := s.newCatalog(a, source)
	if err != nil {
		return nil, false, err
	}
	err = s.write(ctx, func(tx *state.Tx) error {
		c, changed, err = s.storeCatalog(ctx, tx, a, next, base)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return c, changed, nil
}

// A newCatalog is a valid version of an own catalogue, with that of the server under it.
type newCatalog struct {
	state.CatalogVersion
	merged *catalog.Catalog
}

// newCatalog validates an own catalogue.
func (s *Service) newCatalog(a Actor, source []byte) (*newCatalog, error) {
	merged, err := s.overlay(source)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(source)
	return &newCatalog{state.CatalogVersion{
		WorkspaceID: a.Workspace.ID, Source: source, Digest: "sha256:" + hex.EncodeToString(sum[:]), CreatedAt: s.Now(), CreatedBy: a.By,
	}, merged}, nil
}

func (s *Service) storeCatalog(ctx context.Context, tx *state.Tx, a Actor, next *newCatalog, base int) (*Catalog, bool, error) {
	stored, fresh, err := tx.PutCatalog(ctx, &next.CatalogVersion, base, maxCatalogs)
	switch {
	case errors.Is(err, state.ErrCatalogChanged):
		return nil, false, &apierr.Error{Status: http.StatusPreconditionFailed, Code: "catalog_changed", Description: "The catalogue was changed since you read it. Read it again, make your change there, and store that."}
	case errors.Is(err, state.ErrTooManyCatalogs):
		return nil, false, conflict("too_many_catalogs", "Runs use "+strconv.Itoa(maxCatalogs)+" versions of this catalogue, which is the most. Delete old runs, then try again.")
	case err != nil:
		return nil, false, err
	}
	c := s.catalogToAPI(stored)
	if c.Warnings, err = orphans(ctx, tx, a, next.merged); err != nil || !fresh {
		return c, fresh, err
	}
	return c, fresh, s.audit(ctx, tx, a, next.CreatedAt, "catalog.stored", map[string]string{"version": strconv.Itoa(stored.Number)})
}

// OwnCategories returns the categories of the server and of the workspace, if it has an own
// catalogue that fits; else nil.
func (s *Service) OwnCategories(ctx context.Context, a Actor) ([]*catalog.Category, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	own, err := ownCatalog(ctx, s.DB.Read(), a)
	if err != nil || len(own.Source) == 0 {
		return nil, s.fail(err)
	}
	_, merged, wrong := s.Checker.Overlay(own.Source)
	if len(wrong) > 0 {
		return nil, nil
	}
	return merged.Categories, nil
}

// overlay validates an own catalogue, and returns that of the server under it.
func (s *Service) overlay(source []byte) (*catalog.Catalog, error) {
	_, merged, wrong := s.Checker.Overlay(source)
	if len(wrong) > 0 {
		e := apierr.Refused("invalid_catalog", "The catalogue is not valid; issues says why, with lines.")
		e.Extra = issues{wrong}
		return nil, e
	}
	return merged, nil
}

// checkerOf returns the checker of a workspace, and the digest of its own catalogue.
func (s *Service) checkerOf(ctx context.Context, a Actor) (Checker, string, error) {
	own, err := ownCatalog(ctx, s.DB.Read(), a)
	if err != nil || len(own.Source) == 0 {
		return s.Checker, "", s.fail(err)
	}
	checker, _, wrong := s.Checker.Overlay(own.Source)
	if len(wrong) > 0 {
		return nil, "", invalid(Issue{Message: "The workspace's own catalogue, version " + strconv.Itoa(own.Number) + ", does not fit the catalogue of this server any more. Change it, then try again. " + first(wrong)})
	}
	return checker, own.Digest, nil
}

// first returns the first of some issues as a sentence.
func first(list []Issue) string {
	if list[0].Line == 0 {
		return list[0].Message + "."
	}
	return fmt.Sprintf("Line %d: %s.", list[0].Line, list[0].Message)
}

// ownCatalog returns the current version of a workspace's own catalogue; number 0 without
// one.
func ownCatalog(ctx context.Context, tx *state.Tx, a Actor) (*state.CatalogVersion, error) {
	c, err := tx.Catalog(ctx, a.Workspace.ID)
	if errors.Is(err, state.ErrNotFound) {
		return &state.CatalogVersion{WorkspaceID: a.Workspace.ID}, nil
	}
	return c, err
}

// orphans warns about evals whose category a catalogue lacks.
func orphans(ctx context.Context, tx *state.Tx, a Actor, merged *catalog.Catalog) ([]string, error) {
	list, err := tx.Evals(ctx, a.Workspace.ID, "", maxPage)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		var sum Summary
		if err := json.Unmarshal(e.Latest.Summary, &sum); err != nil {
			return nil, err
		}
		if _, known := merged.Category(sum.Category); !known {
			names = append(names, e.Name+" ("+sum.Category+")")
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return []string{"The next runs of these evals fail, for the catalogue lacks their category: " + strings.Join(names, ", ") + "."}, nil
}

// catalogToAPI converts a stored catalogue to its API form.
func (s *Service) catalogToAPI(c *state.CatalogVersion) *Catalog {
	out := &Catalog{Version: c.Number, Digest: c.Digest, Source: string(c.Source), CreatedAt: optional(c.CreatedAt), URL: s.BaseURL + "/api/v1/catalog"}
	if c.Number > 0 {
		out.URL += "/versions/" + strconv.Itoa(c.Number)
	}
	return out
}
