package quota

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Rule is a limit that all servers of a store share and that outlives them:
// so many events of a key in a sliding window.
type Rule struct {
	Name   string
	Quota  int
	Window time.Duration
}

// Rules are limits by name.
type Rules map[string]Rule

// DefaultRules returns the limits of registration, claims, tokens and sign-in.
// The part of a name before the dot is what is limited, after it by what: ip is an
// address (Address), block its surroundings (Block), all everybody together. Rules by
// all, and by email alone, are ceilings (Keeper.Ceiling).
func DefaultRules() Rules {
	out := Rules{}
	for _, r := range []Rule{
		{"anonymous.ip", 5, time.Hour},
		{"anonymous.ip-day", 20, 24 * time.Hour},
		{"anonymous.block", 20, time.Hour},
		{"anonymous.block-day", 80, 24 * time.Hour},
		{"anonymous.all", 1000, time.Hour},
		{"service-auth.ip", 10, time.Hour},
		{"service-auth.email-block", 5, time.Hour},
		{"service-auth.email-block-day", 10, 24 * time.Hour},
		{"service-auth.email", 100, time.Hour},
		{"service-auth.email-day", 500, 24 * time.Hour},
		{"assertion.ip", 60, time.Hour},
		{"assertion.issuer", 1000, time.Hour},
		{"assertion.subject", 20, time.Hour},
		{"assertion-failures.ip", 30, 10 * time.Minute},
		{"claim.registration", 3, 90 * time.Second},
		{"claim.email-block", 5, time.Hour},
		{"claim.email", 100, time.Hour},
		{"over-ceiling.block", 1, time.Hour},
		{"wrong-codes.account", 15, time.Hour},
		{"wrong-codes.ip", 30, time.Hour},
		{"unknown-tokens.ip", 10, time.Minute},
		{"exchange.registration", 30, time.Hour},
		{"keys.registration", 20, time.Hour},
		{"person.registration", 30, time.Hour},
		{"collect.key", 400, 2 * time.Second}, // these four are each server's own
		{"collect.ip", 20, time.Second},
		{"collect-events.key", 1_000_000, 24 * time.Hour}, // of a publishable key
		{"collect-failures.ip", 60, time.Minute},
		{"events.issuer", 600, time.Minute},
		{"event-failures.ip", 30, time.Minute},
		{"eval-read.key", 600, time.Minute}, // these four too are each server's own
		{"eval-write.key", 60, time.Minute},
		{"eval-run.key", 60, time.Hour},
		{"eval-failures.ip", 30, time.Minute},
		{"sign-in.email-block", 5, time.Hour},
		{"sign-in.email", 20, time.Hour}, // these two bound the mail that one person gets
		{"sign-in.email-day", 60, 24 * time.Hour},
		{"sign-in.browser", 5, time.Hour},
		{"sign-in.ip", 20, time.Hour},
	} {
		out[r.Name] = r
	}
	return out
}

// Set changes a rule, given as "QUOTA/WINDOW" such as 5/1h.
func (rs Rules) Set(name, value string) error {
	if _, known := rs[name]; !known {
		names := make([]string, 0, len(rs))
		for n := range rs {
			names = append(names, n)
		}
		slices.Sort(names)
		return fmt.Errorf("limit-rules: %q is no limit; there are %s", name, strings.Join(names, ", "))
	}
	quota, window, ok := strings.Cut(value, "/")
	n, err := strconv.Atoi(strings.TrimSpace(quota))
	d, derr := time.ParseDuration(strings.TrimSpace(window))
	if !ok || err != nil || derr != nil || n < 1 || d < time.Second {
		return fmt.Errorf("limit-rules: %s: %q is not QUOTA/WINDOW such as 5/1h", name, value)
	}
	rs[name] = Rule{name, n, d}
	return nil
}

// A Use is an event that a rule counts, by key.
type Use struct{ Rule, Key string }

// A Keeper applies rules. Off lets everything pass, for load tests.
type Keeper struct {
	Rules Rules
	Off   bool
}

// Take counts uses in a transaction. It fails with a 429 when one of them is
// over its limit; the transaction must then not be committed, so that refused
// requests do not prolong the wait.
func (k Keeper) Take(ctx context.Context, tx *state.Tx, now time.Time, seen *Seen, uses ...Use) error {
	if k.Off {
		return nil
	}
	for _, u := range uses {
		rule := k.Rules[u.Rule]
		c, err := tx.Count(ctx, u.Rule+" "+u.Key, rule.Window, now)
		if err != nil {
			return err
		}
		seen.note(rule, c)
		if c.Estimate() > float64(rule.Quota) {
			return refusal(u, wait(rule, c))
		}
	}
	return nil
}

// Ceiling counts uses of rules that bound many callers together, as Take does. Over
// such a limit it does not refuse everybody: each address block passes once an hour
// (over-ceiling.block), so that a flood from some networks shuts out no others.
func (k Keeper) Ceiling(ctx context.Context, tx *state.Tx, now time.Time, seen *Seen, block string, uses ...Use) error {
	for _, u := range uses {
		err := k.Take(ctx, tx, now, seen, u)
		if !Limited(err) {
			if err != nil {
				return err
			}
			continue
		}
		share := k.Take(ctx, tx, now, nil, Use{"over-ceiling.block", u.Rule + " " + u.Key + " " + block})
		if share == nil {
			continue
		}
		if !Limited(share) {
			return share
		}
		e := *apierr.Of(err)
		e.RetryAfter = min(e.RetryAfter, apierr.Of(share).RetryAfter)
		return &e
	}
	return nil
}

// Check fails with a 429 when Take would, without counting. What passes here can
// be counted at the same moment: a failure that is told only by Take's refusal
// would not be kept, and could be had any number of times.
func (k Keeper) Check(ctx context.Context, tx *state.Tx, now time.Time, seen *Seen, u Use) error {
	if k.Off {
		return nil
	}
	rule := k.Rules[u.Rule]
	c, err := tx.Counted(ctx, u.Rule+" "+u.Key, rule.Window, now)
	if err != nil {
		return err
	}
	with := c
	with.Current++
	if with.Estimate() > float64(rule.Quota) {
		seen.note(rule, c)
		return refusal(u, wait(rule, with))
	}
	return nil
}

// Limited says whether err is a refusal by a limit.
func Limited(err error) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Status == http.StatusTooManyRequests
}

// refusal is the 429 of a use. It names what is over its limit: where others used up a
// common limit, the text must not blame the caller's address.
func refusal(u Use, after int) *apierr.Error {
	what, by, _ := strings.Cut(u.Rule, ".")
	by = strings.TrimSuffix(by, "-day")
	e := apierr.RateLimited(after)
	subject := map[string]string{
		"block": "from this network (" + u.Key + ")", "email": "for this e-mail address", "email-block": "for this e-mail address from this network",
		"registration": "of this registration", "account": "of this account", "issuer": "of this issuer", "subject": "for this user of the issuer", "browser": "from this browser",
	}[by]
	switch {
	case by == "all":
		e.Description = "The service as a whole is over its limit (" + what + "), and this network had its share. Wait as long as Retry-After says."
	case by == "ip" && strings.Contains(u.Key, "/"):
		e.Description = "Too many requests from this network (" + u.Key + "). Wait as long as Retry-After says."
	case subject != "":
		e.Description = "Too many requests " + subject + ". Wait as long as Retry-After says."
	}
	return e
}

// wait returns after how many seconds one more event would pass. c holds the
// event that did not.
func wait(rule Rule, c state.Count) int {
	window, into := rule.Window.Seconds(), c.Into.Seconds()
	room, current := float64(rule.Quota-1), float64(c.Current-1)
	var after float64
	if current <= room && c.Before > 0 {
		after = window*(1-(room-current)/float64(c.Before)) - into
	} else {
		after = window - into + window*max(0, 1-room/max(1, current))
	}
	return max(1, int(math.Ceil(after)))
}

// A Seen gathers what the RateLimit headers of an answer say: all rules that
// applied, and the one with the least left (draft-ietf-httpapi-ratelimit-headers).
type Seen struct {
	policies []string
	tightest string
	left     int
}

// tells says whether a limit may be told of: what is left of one by address or
// issuer tells a stranger what others did.
func tells(rule Rule) bool {
	_, by, _ := strings.Cut(rule.Name, ".")
	switch strings.TrimSuffix(by, "-day") {
	case "ip", "block", "all", "registration":
		return true
	}
	return false
}

func policy(rule Rule) string {
	return fmt.Sprintf(`"%s";q=%d;w=%d`, rule.Name, rule.Quota, int(rule.Window.Seconds()))
}

func (s *Seen) note(rule Rule, c state.Count) {
	if s == nil || !tells(rule) || slices.Contains(s.policies, policy(rule)) { // a transaction may run twice
		return
	}
	left := max(0, rule.Quota-int(math.Ceil(c.Estimate())))
	s.policies = append(s.policies, policy(rule))
	if s.tightest == "" || left < s.left {
		s.left = left
		s.tightest = fmt.Sprintf(`"%s";r=%d;t=%d`, rule.Name, left, int(math.Ceil((rule.Window - c.Into).Seconds())))
	}
}

// Write sets the headers, in place of those of the address's own limit.
func (s *Seen) Write(h http.Header) {
	if s.tightest != "" {
		h["Ratelimit-Policy"] = []string{strings.Join(s.policies, ", ")}
		h["Ratelimit"] = []string{s.tightest}
	}
}
