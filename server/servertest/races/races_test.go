// Package races lets uses of package agents run against each other, on both
// stores, and checks what must hold however they interleave. FIRSTPICK_TRIES
// sets how often each race is run.
package races

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// tries is how often a race is run; those that are heavy or seldom go wrong run
// a part of it.
func tries(t *testing.T, part int) int {
	t.Helper()
	n := 100
	if s := os.Getenv("FIRSTPICK_TRIES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("FIRSTPICK_TRIES is %q; write a number from 1", s)
		}
	}
	return max(n/part, 1)
}

// A world is one store and the servers on it: one on SQLite, two on PostgreSQL.
type world struct {
	*servertest.Service
	servers []*registrations.Service
	try     int // which no two runs in one store have in common
}

// workers are how many tries of a race meet in one store.
const workers = 4

// each runs a race on both stores: run once for each try, several tries at a
// time, all against the same servers. Nothing may be left running afterwards.
func each(t *testing.T, part int, run func(t *testing.T, w *world)) {
	t.Helper()
	eachWith(t, part, workers, servertest.Options{}, run)
}

func eachWith(t *testing.T, part, workers int, o servertest.Options, run func(t *testing.T, w *world)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		part := part
		t.Run(engine, func(t *testing.T) {
			w := start(t, engine, o)
			if engine == "sqlite" {
				part *= 4 // one writer: there is less to interleave
			}
			n := tries(t, part)
			t.Run("tries", func(t *testing.T) { // ends when all workers have
				for first := range workers {
					t.Run(strconv.Itoa(first), func(t *testing.T) {
						t.Parallel()
						for try := first; try < n; try += workers {
							if run(t, &world{w.Service, w.servers, try}); t.Failed() {
								t.Fatalf("failed in try %d of %d", try+1, n)
							}
						}
					})
				}
			})
		})
	}
}

func start(t *testing.T, engine string, o servertest.Options) *world {
	t.Helper()
	o.State = statetest.Address(t, engine) // before what runs is noted: the cluster stays
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() { // runs last, when all servers have stopped
		if err := goleak.Find(running); err != nil {
			t.Errorf("goroutines are left: %v", err)
		}
		if engine == "postgres" {
			logDeadlocks(t, o.State)
		}
	})
	first := servertest.New(t, o)
	w := &world{Service: first, servers: []*registrations.Service{first.Agents}}
	if engine == "postgres" {
		change := o.Agents
		o.Clock, o.IdP = first.Clock, first.IdP
		o.Agents = func(cfg *registrations.Config) {
			if change != nil {
				change(cfg)
			}
			cfg.BaseURL = first.URL
		}
		w.servers = append(w.servers, servertest.New(t, o).Agents)
	}
	return w
}

// logDeadlocks tells how often PostgreSQL had to end a deadlock: the transaction
// is run again, but it lost a second.
func logDeadlocks(t *testing.T, address string) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var n int
	if err := db.QueryRowContext(context.WithoutCancel(t.Context()), "select deadlocks from pg_stat_database where datname = current_database()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		t.Logf("%d deadlocks", n)
	}
}

// any returns one of the servers.
func (w *world) any() *registrations.Service { return w.servers[rand.IntN(len(w.servers))] }

func (w *world) read() *state.Tx { return w.Agents.DB.Read() }

// fresh returns a name that no other try has.
func (w *world) fresh(prefix string) string { return prefix + strconv.Itoa(w.try) }

func (w *world) email() string { return w.fresh("dana") + "@example.com" }

func caller() *registrations.Caller {
	return &registrations.Caller{IP: netip.MustParseAddr("203.0.113.7"), UserAgent: "races"}
}

// together starts all functions at once, in any order, and waits for them.
func together(fns ...func()) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for _, i := range rand.Perm(len(fns)) {
		ready.Add(1)
		spin := rand.IntN(50)
		done.Go(func() {
			ready.Done()
			<-gate
			for range spin { // spreads the moments at which they meet
				runtime.Gosched()
			}
			fns[i]()
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

func times(n int, fn func(i int)) []func() {
	out := make([]func(), n)
	for i := range out {
		out[i] = func() { fn(i) }
	}
	return out
}

// word is how a use ended: "", or the most telling word of its failure.
func word(err error) string {
	if err == nil {
		return ""
	}
	var e *apierr.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Reason != "" {
		return e.Reason
	}
	return e.Code
}

// expect fails the test when a use ended in no way of those that are listed.
// What it adds of its own: nothing may be a 5xx.
func expect(t *testing.T, what string, err error, words ...string) bool {
	t.Helper()
	if err != nil && apierr.Of(err).Status >= 500 {
		t.Errorf("%s: a %d: %v", what, apierr.Of(err).Status, err)
		return false
	}
	if !slices.Contains(words, word(err)) {
		t.Errorf("%s: %q (%v), want one of %q", what, word(err), err, words)
		return false
	}
	return true
}

func ok[T any](t *testing.T, what string) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return v
	}
}

func (w *world) anonymous(t *testing.T) *registrations.Registered {
	t.Helper()
	return ok[*registrations.Registered](t, "register")(w.any().RegisterAnonymous(t.Context(), caller()))
}

func (w *world) person(t *testing.T, email string) *state.Account {
	t.Helper()
	return ok[*state.Account](t, "sign in")(w.signIn(t, email))
}

func (w *world) code(t *testing.T, claimToken, email string) *registrations.Code {
	t.Helper()
	code, _, err := w.any().StartClaim(t.Context(), caller(), claimToken, email)
	return ok[*registrations.Code](t, "start the claim")(code, err)
}

func (w *world) registration(t *testing.T, id string) *identity.Registration {
	t.Helper()
	return ok[*identity.Registration](t, "read the registration")(w.read().Registration(t.Context(), id))
}

func view(c *registrations.Code) []byte { return secret.Hash(c.ViewToken) }

// confirm confirms a code, and demands that this links the agent.
func (w *world) confirm(t *testing.T, account *state.Account, c *registrations.Code) {
	t.Helper()
	out, right, err := w.any().Confirm(t.Context(), caller(), account, registrations.Confirmation{ViewHash: view(c), Code: c.UserCode})
	if err != nil || !right || out.Status != registrations.Done {
		t.Fatalf("confirm: right %v, %+v, %v", right, out, err)
	}
}

// claimed returns a registration that a person claimed, and its tokens.
func (w *world) claimed(t *testing.T) (*registrations.Registered, *state.Account, *registrations.Tokens) {
	t.Helper()
	r, account := w.anonymous(t), w.person(t, w.email())
	w.confirm(t, account, w.code(t, r.ClaimToken, account.Email))
	return r, account, ok[*registrations.Tokens](t, "redeem")(w.any().Redeem(t.Context(), caller(), r.ClaimToken))
}

// alive says whether any server takes a token.
func (w *world) alive(ctx context.Context, token string) bool {
	for _, s := range w.servers {
		if _, err := s.Authenticate(ctx, token); err == nil {
			return true
		}
	}
	return false
}

// dead fails the test for every token that a server takes, and when an assertion
// still mints one.
func (w *world) dead(t *testing.T, when string, tokens []string, assertions ...string) {
	t.Helper()
	for i, token := range tokens {
		if w.alive(t.Context(), token) {
			t.Errorf("%s, token %d of %d is alive", when, i+1, len(tokens))
		}
	}
	for _, a := range assertions {
		for _, s := range w.servers {
			_, err := s.Exchange(t.Context(), caller(), a, nil)
			expect(t, when+", exchange", err, "invalid_grant")
		}
	}
}

// A bag gathers what goroutines got.
type bag[T any] struct {
	mu   sync.Mutex
	list []T
}

func (b *bag[T]) add(v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, v)
}

func (b *bag[T]) all() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}
