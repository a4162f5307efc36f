package trust_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/auth/trust/trusttest"
)

// A desk presents tokens and keeps count of fetches.
type desk struct {
	t   *testing.T
	idp *trusttest.IdP
	v   *trust.Verifier
	*clock
}

func newDesk(t *testing.T) desk {
	idp, v, c := setup(t)
	return desk{t, idp, v, c}
}

// try presents a good token, changed, and checks the answer and how many
// fetches there were since the start.
func (d desk) try(step, want string, fetches int, change ...change) {
	d.t.Helper()
	_, err := d.v.Assertion(d.t.Context(), d.idp.Assertion(resource, "u", "a@b.example", change...))
	if got := refusal(d.t, err); got != want {
		d.t.Errorf("%s: got %q, want %q", step, got, want)
	}
	if got := d.idp.Fetches(); got != fetches {
		d.t.Errorf("%s: %d fetches, want %d", step, got, fetches)
	}
}

const (
	unknown = invalid + "unknown_kid"
	down    = "temporarily_unavailable"
)

func TestFreshness(t *testing.T) {
	for control, fresh := range map[string]time.Duration{
		"":                            10 * time.Minute,
		"no-store, max-age=7200":      10 * time.Minute,
		"max-age=5":                   10 * time.Minute,
		"max-age=x":                   10 * time.Minute,
		"public, Max-Age=3600":        time.Hour,
		"max-age=\"3600\", immutable": time.Hour,
		"max-age=99999999":            24 * time.Hour,
		"max-age=99999999999999999":   10 * time.Minute,
	} {
		t.Run(control, func(t *testing.T) {
			d := newDesk(t)
			d.idp.CacheControl(control)
			d.try("first", "", 1)
			d.add(fresh - time.Second)
			d.try("still fresh", "", 1)
			d.add(time.Second)
			d.try("stale", "", 2)
		})
	}
}

func TestRotation(t *testing.T) {
	d := newDesk(t)
	d.try("first", "", 1)
	old := d.idp.Assertion(resource, "u", "a@b.example")
	d.idp.Rotate()
	if _, err := d.v.Assertion(t.Context(), old); err != nil {
		t.Error("a cached key serves until something makes us ask:", err)
	}
	d.try("new key", "", 2)
	if _, err := d.v.Assertion(t.Context(), old); refusal(t, err) != unknown {
		t.Error("withdrawn key:", err)
	}
}

func TestUnknownKids(t *testing.T) {
	d := newDesk(t)
	d.try("first", "", 1)
	d.try("unknown", unknown, 2, header("kid", "a"))
	d.try("remembered", unknown, 2, header("kid", "a"))
	d.try("another", unknown, 3, header("kid", "b"))
	d.try("no more allowed", unknown, 3, header("kid", "c"))
	d.idp.Rotate()
	d.try("not even for a good one", unknown, 3)
	d.add(30 * time.Second)
	d.try("one more after 30 s", "", 4)
	d.try("known now", "", 4)
	d.try("and no second one", unknown, 4, header("kid", "e"))
	for range 1000 { // more than are remembered
		d.add(31 * time.Second)
		_, _ = d.v.Assertion(t.Context(), d.idp.Assertion(resource, "u", "a@b.example", header("kid", rand.Text())))
	}
	d.try("after a flood", "", d.idp.Fetches())
}

func TestDown(t *testing.T) {
	d := newDesk(t)
	d.idp.Down(true)
	d.try("never reached", down, 1)
	d.try("again", down, 2)
	d.try("again", down, 3)
	d.try("limited", down, 3)
	d.idp.Down(false)
	d.add(30 * time.Second)
	d.try("up", "", 4)
	d.idp.Down(true)
	d.add(9 * time.Minute)
	d.try("fresh", "", 4)
	d.try("may be new", down, 5, header("kid", "new"))
	d.add(time.Minute)
	d.try("stale", "", 6)
	d.add(24*time.Hour - time.Second)
	d.try("stale for almost a day", "", 7)
	d.add(time.Second)
	d.try("too old", down, 8)
	d.idp.Down(false)
	d.try("up again", "", 9)
}

func TestOneFetchForMany(t *testing.T) {
	d := newDesk(t)
	raw := d.idp.Assertion(resource, "u", "a@b.example")
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := d.v.Assertion(context.Background(), raw); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := d.idp.Fetches(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

func TestManyIssuers(t *testing.T) {
	// More issuers than are kept: the first is forgotten and asked again.
	d := newDesk(t)
	d.try("first", "", 1)
	d.add(time.Second)
	find := d.v.Find
	d.v.Find = func(ctx context.Context, iss string) (trust.Issuer, bool, error) {
		if i, ok, err := find(ctx, iss); ok {
			return i, ok, err
		}
		return trust.Issuer{ISS: iss}, true, nil // not https, so never fetched
	}
	for range 300 {
		_, err := d.v.Assertion(t.Context(), d.idp.Assertion(resource, "u", "a@b.example", claim("iss", "http://"+rand.Text())))
		if refusal(t, err) != down {
			t.Fatal(err)
		}
	}
	d.try("forgotten", "", 2)
}
