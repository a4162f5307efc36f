package evals

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Service has the uses. All fields are required but Notify, Follow, and Caps, whose zero
// fields take their defaults.
type Service struct {
	DB      *state.DB
	Secrets secret.Source
	Checker Checker
	Bundles *bundle.Cache
	Caps    Caps
	Plans   bool // evals need the paid plan
	Log     *slog.Logger
	Now     func() time.Time
	Sleep   func(context.Context, time.Duration) error
	BaseURL string
	// Uploads is the folder of workspaces' runs, which workers read too; empty where no run
	// can be pushed.
	Uploads string
	// Notify mails the owner of a workspace, unless they turned mail off; nil does not.
	Notify func(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, subject string, text []string) error

	// Follow makes a workspace follow a tool, unless it follows one; nil does not.
	Follow func(ctx context.Context, tx *state.Tx, now time.Time, workspace, by, tool string) error

	own   ownHistories
	heavy heavyLimiter
	sites heavyLimiter
}

// Caps are the limits of a workspace's resources.
type Caps struct {
	Evals        int     // default 200
	Versions     int     // of an eval; default 500
	Queued       int     // runs that wait; default 100
	Keys         int     // live ones; default 20
	ProviderKeys int     // default 50
	BudgetUSD    float64 // of a run; default 10,000
	UploadBytes  int64   // of a pushed run; default 2 GiB
	UploadsBytes int64   // of all pushed runs, until they are erased; default 20 GiB
	OpenUploads  int     // incomplete ones; default 20
}

func (c Caps) or() Caps {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Evals, 200)
	def(&c.Versions, 500)
	def(&c.Queued, 100)
	def(&c.Keys, 20)
	def(&c.ProviderKeys, 50)
	def(&c.OpenUploads, 20)
	if c.BudgetUSD == 0 {
		c.BudgetUSD = 10_000
	}
	if c.UploadBytes == 0 {
		c.UploadBytes = 2 << 30
	}
	if c.UploadsBytes == 0 {
		c.UploadsBytes = 20 << 30
	}
	return c
}

// Limits returns the limits of a workspace's resources.
func (s *Service) Limits() Caps { return s.Caps.or() }

// owns reports whether the actor is an owner or an operator, not a key's holder.
func (a *Actor) owns() bool { return a.Scopes == nil && a.includes(identity.Owner) }

// includes reports whether a member's role includes another.
func (a *Actor) includes(need identity.Role) bool { return a.Role == "" || a.Role.Includes(need) }

// may fails for a key that lacks a scope, and for a member whose role does.
func (a *Actor) may(scope string) error {
	if a.Scopes == nil {
		if scope == ScopeRead || a.includes(identity.Editor) {
			return nil
		}
		return apierr.AccessDenied("Changing and running evals needs the role editor. Ask an owner of the workspace.")
	}
	if slices.Contains(a.Scopes, scope) {
		return nil
	}
	what := "Reading needs a key with the scope read."
	if scope == ScopeRun {
		what = "Changing and running evals needs a key with the scope run."
	}
	return apierr.InsufficientScope(scope, what)
}

// Plan returns the plan of a workspace. A server without plans gives every one the paid plan.
func (s *Service) Plan(w *state.Workspace) string {
	if !s.Plans {
		return state.PlanPaid
	}
	return w.Plan
}

// needPlan fails unless the actor's plan includes evals.
func (s *Service) needPlan(a Actor) error {
	if s.Plan(a.Workspace) == state.PlanPaid {
		return nil
	}
	return &apierr.Error{
		Status: http.StatusForbidden, Code: "plan_required",
		Description: "Custom evals need the paid plan. Change the plan of the workspace, then try again.",
	}
}

// fail turns an error of the store into an *apierr.Error. Work that ran out of time
// has no caller any more.
func (s *Service) fail(err error) error {
	var known *apierr.Error
	if !errors.As(err, &known) && errors.Is(err, context.DeadlineExceeded) {
		return apierr.Gone(err)
	}
	return s.DB.APIError(err)
}

func (s *Service) write(ctx context.Context, fn func(tx *state.Tx) error) error {
	return s.fail(s.DB.Write(ctx, fn))
}

// audit appends a line about something an actor did. It fails for a member whose role was
// taken since the request began.
func (s *Service) audit(ctx context.Context, tx *state.Tx, a Actor, now time.Time, event string, detail map[string]string) error {
	if a.Role != "" {
		role, err := tx.Role(ctx, a.Workspace.ID, a.By)
		if errors.Is(err, state.ErrNotFound) || err == nil && role != a.Role {
			return apierr.AccessDenied("Your role in this workspace has changed. Reload the page.")
		} else if err != nil {
			return err
		}
	}
	e := state.AuditEntry{ID: s.Secrets.ID("aud_"), At: now, Event: event, WorkspaceID: a.Workspace.ID, Detail: detail}
	if strings.HasPrefix(a.By, keyID) || strings.HasPrefix(a.By, scheduleID) {
		detail["by"] = a.By
	} else {
		e.AccountID = a.By
	}
	if a.IP.IsValid() {
		e.IP = a.IP.String()
	}
	return tx.Audit(ctx, e)
}

// missing returns the 404 error of a resource.
func missing(code, description string) error {
	return &apierr.Error{Status: http.StatusNotFound, Code: code, Description: description}
}

// orMissing turns the store's ErrNotFound into a 404 of the thing.
func orMissing(err error, code, description string) error {
	if errors.Is(err, state.ErrNotFound) {
		return missing(code, description)
	}
	return err
}

func noEval(err error) error {
	return orMissing(err, "eval_not_found", "This workspace has no such eval. GET /api/v1/evals lists them.")
}

func noRun(err error) error {
	return orMissing(err, "run_not_found", "This workspace has no such run. GET /api/v1/runs lists them.")
}

func conflict(code, description string) error {
	return &apierr.Error{Status: http.StatusConflict, Code: code, Description: description}
}

// The numbers of entries of a page.
const (
	pageSize = 50
	maxPage  = 200
)

func pageOf(limit int) int {
	if limit <= 0 {
		return pageSize
	}
	return min(limit, maxPage)
}

// cursor encodes the position of the last entry of a page, with the kind of its list.
// It is only valid within the client's workspace.
func cursor(kind string, place any) string {
	data, err := json.Marshal([]any{kind, place})
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

const maxCursor = 1000

func place(kind, cursor string, into any) error {
	if cursor == "" {
		return nil
	}
	bad := apierr.BadBody("invalid_cursor", "The cursor is not of this list. Begin again without one.")
	if len(cursor) > maxCursor {
		return bad
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	var parts []json.RawMessage
	var of string
	if err != nil || bytes.Contains(data, []byte(`\u0000`)) || json.Unmarshal(data, &parts) != nil || len(parts) != 2 || json.Unmarshal(parts[0], &of) != nil || of != kind || json.Unmarshal(parts[1], into) != nil {
		return bad
	}
	return nil
}

func micros(usd float64) int64     { return int64(math.Round(usd * 1e6)) }
func dollars(micros int64) float64 { return float64(micros) / 1e6 }

// optional is nil for no time.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
