package quota_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// edge is when a slot of every window up to a day begins.
var edge = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// A counter is a keeper on a store.
type counter struct {
	t      testing.TB
	db     *state.DB
	keeper quota.Limiter
}

func newCounter(t testing.TB, address string, rules ...ratelimit.Rule) *counter {
	t.Helper()
	c := &counter{t, statetest.Open(t, address), quota.Limiter{Rules: quota.Rules{}}}
	for _, r := range rules {
		c.keeper.Rules[r.Name] = r
	}
	return c
}

func lite(t testing.TB) string { t.Helper(); return statetest.Address(t, "sqlite") }

// take counts at a time, and returns 0 or after how many seconds to come back.
func (c *counter) take(now time.Time, seen *quota.Headers, uses ...quota.Use) int {
	c.t.Helper()
	return c.wait(c.db.Write(c.t.Context(), func(tx *state.Tx) error { return c.keeper.Take(c.t.Context(), tx, now, seen, uses...) }))
}

func (c *counter) check(now time.Time, seen *quota.Headers, use quota.Use) int {
	c.t.Helper()
	return c.wait(c.keeper.Check(c.t.Context(), c.db.Read(), now, seen, use))
}

func (c *counter) wait(err error) int {
	c.t.Helper()
	if err == nil {
		return 0
	}
	var e *apierr.Error
	if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.RetryAfter < 1 || !quota.Limited(err) {
		c.t.Fatalf("no refusal by a limit: %v", err)
	}
	return e.RetryAfter
}

func (c *counter) fill(now time.Time, n int, use quota.Use) {
	c.t.Helper()
	for i := range n {
		if wait := c.take(now, nil, use); wait != 0 {
			c.t.Fatalf("event %d of %d is refused for %ds", i+1, n, wait)
		}
	}
}

func onBoth(t *testing.T, f func(t *testing.T, address string)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { f(t, statetest.Address(t, engine)) })
	}
}

var (
	minute = ratelimit.Rule{Name: "r.ip", Quota: 10, Window: time.Minute}
	use    = quota.Use{Rule: "r.ip", Key: "192.0.2.1"}
)

// An event is done at a time, in seconds from the edge. wait is 0 where it
// passes.
type event struct {
	at   float64
	n    int // that many at once
	wait int
}

func TestASlidingWindow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule   ratelimit.Rule
		events []event
	}{
		"up to the quota":                                      {minute, []event{{0, 10, 0}, {0, 1, 60 + 6}, {59, 1, 1 + 6}}},
		"refusals do not prolong it":                           {minute, []event{{0, 10, 0}, {30, 1, 36}, {40, 1, 26}, {50, 1, 16}, {65, 1, 1}, {66, 1, 0}, {66, 1, 6}}},
		"the last moment of a slot, the first of the next":     {minute, []event{{59.999, 10, 0}, {60, 1, 6}, {65.9, 1, 1}, {66, 1, 0}}},
		"the slot before counts by its share":                  {minute, []event{{59, 10, 0}, {90, 5, 0}, {90, 1, 6}, {95.9, 1, 1}, {96, 1, 0}, {119.9, 3, 0}, {119.9, 1, 1}}},
		"few before, then a slot that is full":                 {minute, []event{{50, 2, 0}, {60, 8, 0}, {60, 1, 30}, {89.9, 1, 1}, {90, 1, 0}}},
		"two slots later all is forgotten":                     {minute, []event{{59, 10, 0}, {120, 10, 0}}},
		"a slot between":                                       {minute, []event{{0, 10, 0}, {179, 10, 0}}},
		"one an hour":                                          {ratelimit.Rule{Name: "r.ip", Quota: 1, Window: time.Hour}, []event{{0, 1, 0}, {0, 1, 7200}, {3599, 1, 3601}, {3600, 1, 3600}, {7199, 1, 1}, {7200, 1, 0}}},
		"one an hour, late in the slot":                        {ratelimit.Rule{Name: "r.ip", Quota: 1, Window: time.Hour}, []event{{3599, 1, 0}, {3600, 1, 3600}, {7199.5, 1, 1}, {7200, 1, 0}}},
		"a window that does not divide a day":                  {ratelimit.Rule{Name: "r.ip", Quota: 3, Window: 90 * time.Second}, []event{{0, 3, 0}, {1, 1, 89 + 30}, {119.1, 1, 1}, {120, 1, 0}}},
		"parts of a second are rounded up":                     {minute, []event{{0, 10, 0}, {65.5, 1, 1}, {65.999999, 1, 1}, {66, 1, 0}}},
		"a wait of more than what is left of the current slot": {ratelimit.Rule{Name: "r.ip", Quota: 2, Window: time.Minute}, []event{{0, 2, 0}, {10, 1, 50 + 30}, {89, 1, 1}, {90, 1, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounter(t, lite(t), test.rule)
			for _, e := range test.events {
				now := edge.Add(time.Duration(e.at*1e6) * time.Microsecond)
				for i := range e.n {
					checked := c.check(now, nil, use)
					if got := c.take(now, nil, use); got != e.wait || checked != got {
						t.Errorf("at %vs, event %d: wait %ds, not %ds; Check says %ds", e.at, i+1, got, e.wait, checked)
					}
				}
			}
		})
	}
}

// For a long run of events at random: what is told to be the wait is enough, and
// a second less is not; Check and Take agree; a slot holds no more than the
// quota, and no window as much as twice. (A window of a sliding counter is an
// estimate: it takes the events of the slot before to lie evenly.)
func TestLimitsHold(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 8 {
		rule := ratelimit.Rule{Name: "r.ip", Quota: 1 + random.IntN(12), Window: time.Duration(1+random.IntN(100)) * time.Second}
		c := newCounter(t, lite(t), rule)
		about := fmt.Sprintf("round %d: %d in %v", round, rule.Quota, rule.Window)
		var passed []time.Time
		now := edge.Add(time.Duration(random.Int64N(int64(time.Hour)))).Truncate(time.Microsecond)
		for range 120 {
			if random.IntN(3) > 0 { // else at the same moment
				now = now.Add(time.Duration(random.Int64N(int64(rule.Window) / int64(1+random.IntN(2*rule.Quota))))).Truncate(time.Microsecond)
			}
			checked := c.check(now, nil, use)
			wait := c.take(now, nil, use)
			if checked != wait {
				t.Fatalf("%s: Check says %ds, Take %ds", about, checked, wait)
			}
			if wait == 0 {
				passed = append(passed, now)
				continue
			}
			if c.check(now.Add(time.Duration(wait)*time.Second), nil, use) != 0 {
				t.Fatalf("%s: at %v a wait of %ds is not enough", about, now, wait)
			}
			if early := now.Add(time.Duration(wait-1)*time.Second - time.Millisecond); wait > 1 && c.check(early, nil, use) == 0 {
				t.Fatalf("%s: at %v a wait of %ds is more than it takes", about, now, wait)
			}
		}
		slots := map[int64]int{}
		for i, at := range passed {
			slots[at.UnixMicro()/rule.Window.Microseconds()]++
			in := 0
			for _, other := range passed[i:] {
				if other.Before(at.Add(rule.Window)) {
					in++
				}
			}
			if in >= 2*rule.Quota && in > 1 {
				t.Errorf("%s: %d in the window from %v", about, in, at)
			}
		}
		for slot, n := range slots {
			if n > rule.Quota {
				t.Errorf("%s: %d in slot %d", about, n, slot)
			}
		}
	}
}

// Where a failure is looked for after Check and counted by Take, there is no
// moment at which Check passes and Take refuses: then a failure would go
// uncounted, as often as one likes.
func TestAGuesserIsStopped(t *testing.T) {
	t.Parallel()
	c := newCounter(t, lite(t), minute)
	guesses := 0
	for tenth := range 3 * 600 { // three minutes, ten guesses a second
		now := edge.Add(time.Duration(tenth) * 100 * time.Millisecond)
		if c.check(now, nil, use) != 0 {
			continue // not even looked at
		}
		guesses++
		c.take(now, nil, use)
	}
	if guesses > 30 {
		t.Errorf("%d guesses in three minutes", guesses)
	}
}

func TestKeysAndRulesAreCountedApart(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		day := ratelimit.Rule{Name: "r.day", Quota: 3, Window: 24 * time.Hour}
		c := newCounter(t, address, minute, day, ratelimit.Rule{Name: "r.all", Quota: 100, Window: time.Minute})
		c.fill(edge, 10, use)
		for _, other := range []quota.Use{{Rule: "r.ip", Key: "192.0.2.10"}, {Rule: "r.ip"}, {Rule: "r.all", Key: use.Key}, {Rule: "r.day", Key: use.Key}} {
			if wait := c.take(edge, nil, other); wait != 0 {
				t.Errorf("%v has to wait %ds for another", other, wait)
			}
		}
		if c.take(edge, nil, use) == 0 {
			t.Error("the eleventh passes")
		}
		// A second server on the store counts on.
		if second := newCounter(t, address, minute); second.take(edge, nil, use) == 0 {
			t.Error("a second server begins at nought")
		}
	})
}

// Of several rules the first that is over refuses, and then nothing is counted.
func TestAllRulesOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		c := newCounter(t, address, minute, ratelimit.Rule{Name: "r.email", Quota: 2, Window: time.Hour})
		email := quota.Use{Rule: "r.email", Key: "dana@example.com"}
		for range 2 {
			if c.take(edge, nil, use, email) != 0 {
				t.Fatal("refused")
			}
		}
		for range 20 {
			if c.take(edge, nil, use, email) != 5400 {
				t.Fatal("the third mail passes, or waits otherwise than the rule says")
			}
		}
		c.fill(edge, 8, use) // of ten, two were used
		if c.take(edge, nil, use) == 0 {
			t.Error("the eleventh passes")
		}
	})
}

// Check counts nothing.
func TestCheckOnlyLooks(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		c := newCounter(t, address, minute)
		for range 50 {
			if c.check(edge, nil, use) != 0 {
				t.Fatal("Check counts")
			}
		}
		c.fill(edge, 10, use)
		for range 3 {
			if got := c.check(edge, nil, use); got != 66 {
				t.Errorf("wait %ds", got)
			}
		}
		if c.check(edge.Add(66*time.Second), nil, use) != 0 {
			t.Error("after the wait it does not pass")
		}
	})
}

// Of many requests at once no more than the quota pass, whatever server took
// them.
func TestManyAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		servers := []*counter{newCounter(t, address, minute), newCounter(t, address, minute)}
		var mu sync.Mutex
		var all sync.WaitGroup
		passed := 0
		for i := range 40 {
			s := servers[i%2]
			all.Go(func() {
				err := s.db.Write(context.Background(), func(tx *state.Tx) error {
					return s.keeper.Take(context.Background(), tx, edge, nil, use)
				})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					passed++
				} else if !quota.Limited(err) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if passed != minute.Quota {
			t.Errorf("%d passed", passed)
		}
	})
}

func TestOffLetsEverythingPass(t *testing.T) {
	c := newCounter(t, lite(t), minute)
	c.keeper.Off = true
	var seen quota.Headers
	for range 30 {
		if c.take(edge, &seen, use) != 0 || c.check(edge, &seen, use) != 0 {
			t.Fatal("a limit that is off refuses")
		}
	}
	h := http.Header{}
	if seen.Write(h); len(h) != 0 {
		t.Error(h)
	}
	c.keeper.Off = false
	c.fill(edge, 10, use) // nothing was counted
}

// Trouble of the store is not a refusal.
func TestTheStoresTroubleIsToldAsSuch(t *testing.T) {
	c := newCounter(t, lite(t), minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.keeper.Take(ctx, c.db.Read(), edge, nil, use); err == nil || quota.Limited(err) {
		t.Error("Take:", err)
	}
	if err := c.keeper.Check(ctx, c.db.Read(), edge, nil, use); err == nil || quota.Limited(err) {
		t.Error("Check:", err)
	}
	for _, err := range []error{nil, errors.New("x"), apierr.NotFound(), apierr.Unavailable()} {
		if quota.Limited(err) {
			t.Errorf("%v is a refusal by a limit", err)
		}
	}
	if !quota.Limited(fmt.Errorf("register: %w", apierr.RateLimited(1))) {
		t.Error("a wrapped refusal is none")
	}
}

// The headers tell of the caller's own limits, and how much the tightest leaves.
// They are silent on those by address: they would tell what others did with it.
func TestHeaders(t *testing.T) {
	hour := ratelimit.Rule{Name: "r.registration", Quota: 4, Window: time.Hour}
	registration := quota.Use{Rule: "r.registration", Key: "reg_1"}
	email := quota.Use{Rule: "r.email", Key: "dana@example.com"}
	c := newCounter(t, lite(t), minute, hour, ratelimit.Rule{Name: "r.email", Quota: 4, Window: time.Hour})
	headers := func(seen *quota.Headers) http.Header {
		h := http.Header{"Ratelimit": {`"public";r=1;t=1`}, "Ratelimit-Policy": {`"public";q=1;w=60`}}
		seen.Write(h)
		return h
	}
	both := `"r.ip";q=10;w=60, "r.registration";q=4;w=3600`
	now := edge.Add(15 * time.Second)
	for i, want := range []string{`"r.registration";r=3;t=3585`, `"r.registration";r=2;t=3585`, `"r.registration";r=1;t=3585`, `"r.registration";r=0;t=3585`, `"r.registration";r=0;t=3585`} {
		var seen quota.Headers
		c.take(now, &seen, use, registration, email)
		if diff := cmp.Diff(http.Header{"Ratelimit": {want}, "Ratelimit-Policy": {both}}, headers(&seen)); diff != "" {
			t.Errorf("request %d: %s", i+1, diff)
		}
	}
	var seen quota.Headers
	c.take(now, &seen, use)
	if got := headers(&seen).Get("Ratelimit"); got != `"r.ip";r=5;t=45` {
		t.Error("one rule:", got)
	}
	seen = quota.Headers{}
	if c.check(now, &seen, use); len(headers(&seen)["Ratelimit"]) != 1 || headers(&seen).Get("Ratelimit") != `"public";r=1;t=1` {
		t.Error("a Check that passes writes headers:", headers(&seen))
	}
	c.fill(now, 5, use)
	if c.check(now, &seen, use); headers(&seen).Get("Ratelimit") != `"r.ip";r=0;t=45` {
		t.Error("a Check that refuses:", headers(&seen))
	}
}

func TestRuleTexts(t *testing.T) {
	for text, want := range map[string]ratelimit.Rule{
		"5/1h":                   {Quota: 5, Window: time.Hour},
		"1/1s":                   {Quota: 1, Window: time.Second},
		" 7 / 90s ":              {Quota: 7, Window: 90 * time.Second},
		"1000000/1h30m":          {Quota: 1_000_000, Window: 90 * time.Minute},
		"3/24h":                  {Quota: 3, Window: 24 * time.Hour},
		"+3/60000ms":             {Quota: 3, Window: time.Minute},
		"":                       {},
		"5":                      {},
		"5/":                     {},
		"/1h":                    {},
		"5/1":                    {},
		"5/h":                    {},
		"5/1d":                   {},
		"0/1h":                   {},
		"-1/1h":                  {},
		"5/-1h":                  {},
		"5/0s":                   {},
		"5/999ms":                {},
		"1.5/1h":                 {},
		"1e3/1h":                 {},
		"five/1h":                {},
		"5/1h/2":                 {},
		"5 1h":                   {},
		"99999999999999999999/h": {},
		"5/99999999999h":         {},
	} {
		rules := quota.DefaultRules()
		before := maps.Clone(rules)
		err := rules.Set("sign-in.ip", text)
		if want == (ratelimit.Rule{}) {
			if err == nil || !strings.Contains(err.Error(), "limit-rules: sign-in.ip: ") || !strings.Contains(err.Error(), "is not QUOTA/WINDOW, such as 5/1h") {
				t.Errorf("%q: %v", text, err)
			}
		} else {
			want.Name = "sign-in.ip"
			before["sign-in.ip"] = want
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		if diff := cmp.Diff(before, rules); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	rules := quota.DefaultRules()
	for _, name := range []string{"", "sign-in", "SIGN-IN.IP", "sign-in.ip "} {
		err := rules.Set(name, "5/1h")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("limit-rules: unknown limit %q; known limits: anonymous.all, anonymous.block, ", name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(rules) != len(quota.DefaultRules()) {
		t.Error("an unknown name makes a rule")
	}
}

// The rules of one map are no other's, and each is one that Set would take.
func TestDefaultRules(t *testing.T) {
	rules := quota.DefaultRules()
	if len(rules) == 0 {
		t.Fatal("there are none")
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		r := rules[name]
		if r.Name != name || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$`).MatchString(name) {
			t.Errorf("%s: %+v", name, r)
		}
		if err := rules.Set(name, fmt.Sprintf("%d/%s", r.Quota, r.Window)); err != nil || rules[name] != r {
			t.Error(err)
		}
		delete(rules, name)
	}
	if len(quota.DefaultRules()) == 0 {
		t.Error("the defaults are shared")
	}
}
