// Package quota limits events by key across all servers of a store: a sliding window
// that is counted in the store and survives restarts.
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
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/store/state"
)

// Rules are limits by name.
type Rules map[string]ratelimit.Rule

// DefaultRules returns the limits of registration, claims, tokens and sign-in. A name
// is EVENT.KEY: ip is an address (ratelimit.Address), block its network
// (ratelimit.Block), all the whole service. Rules by all, and by email alone, are
// ceilings (Limiter.Ceiling).
func DefaultRules() Rules {
	out := Rules{}
	for _, r := range []ratelimit.Rule{
		{Name: "anonymous.ip", Quota: 5, Window: time.Hour},
		{Name: "anonymous.ip-day", Quota: 20, Window: 24 * time.Hour},
		{Name: "anonymous.block", Quota: 20, Window: time.Hour},
		{Name: "anonymous.block-day", Quota: 80, Window: 24 * time.Hour},
		{Name: "anonymous.all", Quota: 1000, Window: time.Hour},
		{Name: "service-auth.ip", Quota: 10, Window: time.Hour},
		{Name: "service-auth.email-block", Quota: 5, Window: time.Hour},
		{Name: "service-auth.email-block-day", Quota: 10, Window: 24 * time.Hour},
		{Name: "service-auth.email", Quota: 100, Window: time.Hour},
		{Name: "service-auth.email-day", Quota: 500, Window: 24 * time.Hour},
		{Name: "assertion.ip", Quota: 60, Window: time.Hour},
		{Name: "assertion.issuer", Quota: 1000, Window: time.Hour},
		{Name: "assertion.subject", Quota: 20, Window: time.Hour},
		{Name: "assertion-failures.ip", Quota: 30, Window: 10 * time.Minute},
		{Name: "claim.registration", Quota: 3, Window: 90 * time.Second},
		{Name: "claim.email-block", Quota: 5, Window: time.Hour},
		{Name: "claim.email", Quota: 100, Window: time.Hour},
		{Name: "over-ceiling.block", Quota: 1, Window: time.Hour},
		{Name: "wrong-codes.account", Quota: 15, Window: time.Hour},
		{Name: "wrong-codes.ip", Quota: 30, Window: time.Hour},
		{Name: "unknown-tokens.ip", Quota: 10, Window: time.Minute},
		{Name: "exchange.registration", Quota: 30, Window: time.Hour},
		{Name: "keys.registration", Quota: 20, Window: time.Hour},
		{Name: "workspaces.account", Quota: 20, Window: 24 * time.Hour},
		{Name: "invitations.account", Quota: 100, Window: 24 * time.Hour},
		{Name: "invitations.email", Quota: 10, Window: 24 * time.Hour},
		{Name: "person.registration", Quota: 30, Window: time.Hour},
		{Name: "collect.key", Quota: 400, Window: 2 * time.Second}, // these four are counted in memory, by each server
		{Name: "collect.ip", Quota: 20, Window: time.Second},
		{Name: "collect-events.key", Quota: 1_000_000, Window: 24 * time.Hour}, // of a publishable key
		{Name: "collect-failures.ip", Quota: 60, Window: time.Minute},
		{Name: "events.issuer", Quota: 600, Window: time.Minute},
		{Name: "event-failures.ip", Quota: 30, Window: time.Minute},
		{Name: "eval-read.key", Quota: 600, Window: time.Minute}, // these four too
		{Name: "eval-write.key", Quota: 60, Window: time.Minute},
		{Name: "eval-run.key", Quota: 60, Window: time.Hour},
		{Name: "eval-failures.ip", Quota: 30, Window: time.Minute},
		{Name: "sign-in.email-block", Quota: 5, Window: time.Hour},
		{Name: "sign-in.email", Quota: 20, Window: time.Hour}, // these two bound the mail that one person gets
		{Name: "sign-in.email-day", Quota: 60, Window: 24 * time.Hour},
		{Name: "sign-in.browser", Quota: 5, Window: time.Hour},
		{Name: "sign-in.ip", Quota: 20, Window: time.Hour},
	} {
		out[r.Name] = r
	}
	return out
}

// Set changes a rule. The value is "QUOTA/WINDOW", such as 5/1h.
func (rs Rules) Set(name, value string) error {
	if _, known := rs[name]; !known {
		names := make([]string, 0, len(rs))
		for n := range rs {
			names = append(names, n)
		}
		slices.Sort(names)
		return fmt.Errorf("limit-rules: unknown limit %q; known limits: %s", name, strings.Join(names, ", "))
	}
	quota, window, ok := strings.Cut(value, "/")
	n, err := strconv.Atoi(strings.TrimSpace(quota))
	d, derr := time.ParseDuration(strings.TrimSpace(window))
	if !ok || err != nil || derr != nil || n < 1 || d < time.Second {
		return fmt.Errorf("limit-rules: %s: %q is not QUOTA/WINDOW, such as 5/1h", name, value)
	}
	rs[name] = ratelimit.Rule{Name: name, Quota: n, Window: d}
	return nil
}

// A Use is an event that a rule counts, by key.
type Use struct{ Rule, Key string }

// A Limiter applies rules. Off lets everything pass, for load tests.
type Limiter struct {
	Rules Rules
	Off   bool
}

// Take counts uses in a transaction. It fails with a 429 when a use exceeds its limit;
// the transaction must then be rolled back, so that refused requests do not prolong
// the wait.
func (l Limiter) Take(ctx context.Context, tx *state.Tx, now time.Time, headers *Headers, uses ...Use) error {
	if l.Off {
		return nil
	}
	for _, u := range uses {
		rule := l.Rules[u.Rule]
		c, err := tx.Count(ctx, u.Rule+" "+u.Key, rule.Window, now)
		if err != nil {
			return err
		}
		headers.add(rule, c)
		if c.Estimate() > float64(rule.Quota) {
			return refusal(u, wait(rule, c))
		}
	}
	return nil
}

// Ceiling counts uses of rules that many callers share. Over such a limit each address
// block still passes once an hour (over-ceiling.block), so that a flood from some
// networks does not shut out the others.
func (l Limiter) Ceiling(ctx context.Context, tx *state.Tx, now time.Time, headers *Headers, block string, uses ...Use) error {
	for _, u := range uses {
		err := l.Take(ctx, tx, now, headers, u)
		if !Limited(err) {
			if err != nil {
				return err
			}
			continue
		}
		share := l.Take(ctx, tx, now, nil, Use{"over-ceiling.block", u.Rule + " " + u.Key + " " + block})
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

// Check fails with a 429 when Take would, without counting. A use that passes Check
// also passes Take at the same moment: a failure that Take refuses to count would go
// uncounted, and could be repeated without limit.
func (l Limiter) Check(ctx context.Context, tx *state.Tx, now time.Time, headers *Headers, u Use) error {
	if l.Off {
		return nil
	}
	rule := l.Rules[u.Rule]
	c, err := tx.Counted(ctx, u.Rule+" "+u.Key, rule.Window, now)
	if err != nil {
		return err
	}
	with := c
	with.Current++
	if with.Estimate() > float64(rule.Quota) {
		headers.add(rule, c)
		return refusal(u, wait(rule, with))
	}
	return nil
}

// Limited reports whether err is a 429.
func Limited(err error) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Status == http.StatusTooManyRequests
}

// refusal returns the 429 of a use. It names the limit: where others used up a shared
// limit, the text must not blame the caller's address.
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
		e.Description = "The service as a whole is over its limit (" + what + "), and this network had its share. Wait for the time in Retry-After."
	case by == "ip" && strings.Contains(u.Key, "/"):
		e.Description = "Too many requests from this network (" + u.Key + "). Wait for the time in Retry-After."
	case subject != "":
		e.Description = "Too many requests " + subject + ". Wait for the time in Retry-After."
	}
	return e
}

// wait returns after how many seconds one more event would pass. c includes the
// refused event.
func wait(rule ratelimit.Rule, c state.Count) int {
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

// Headers collects the RateLimit headers of a response: all rules that applied, and
// the one with the least left (draft-ietf-httpapi-ratelimit-headers).
type Headers struct {
	policies []string
	tightest string
	left     int
}

// public reports whether headers may show a limit. The rest of a limit by e-mail
// address or issuer would reveal other clients' activity.
func public(rule ratelimit.Rule) bool {
	_, by, _ := strings.Cut(rule.Name, ".")
	switch strings.TrimSuffix(by, "-day") {
	case "ip", "block", "all", "registration":
		return true
	}
	return false
}

func (s *Headers) add(rule ratelimit.Rule, c state.Count) {
	if s == nil || !public(rule) || slices.Contains(s.policies, rule.Policy()) { // a transaction may run twice
		return
	}
	left := max(0, rule.Quota-int(math.Ceil(c.Estimate())))
	s.policies = append(s.policies, rule.Policy())
	if s.tightest == "" || left < s.left {
		s.left = left
		s.tightest = rule.Remaining(left, int(math.Ceil((rule.Window - c.Into).Seconds())))
	}
}

// Write sets the headers, and replaces those of the limit by address.
func (s *Headers) Write(h http.Header) {
	if s.tightest != "" {
		h["Ratelimit-Policy"] = []string{strings.Join(s.policies, ", ")}
		h["Ratelimit"] = []string{s.tightest}
	}
}
