package quota_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// ceiling counts below a ceiling, and returns 0 or after how many seconds to come
// back, with the text.
func (c *counter) ceiling(now time.Time, block string, uses ...quota.Use) (int, string) {
	c.t.Helper()
	err := c.db.Write(c.t.Context(), func(tx *state.Tx) error {
		return c.keeper.Ceiling(c.t.Context(), tx, now, nil, block, uses...)
	})
	if err == nil {
		return 0, ""
	}
	return c.wait(err), apierr.Of(err).Description
}

// TestACeilingIsFairByNetwork: a network that uses up what everybody may do together
// leaves each other network one an hour.
func TestACeilingIsFairByNetwork(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		c := newCounter(t, address, ratelimit.Rule{Name: "r.all", Quota: 10, Window: time.Hour}, ratelimit.Rule{Name: "over-ceiling.block", Quota: 1, Window: time.Hour})
		all := quota.Use{Rule: "r.all"}
		for i := range 11 { // the eleventh is the flood's share
			if wait, _ := c.ceiling(edge, "198.51.100.0/24", all); wait != 0 {
				t.Fatalf("request %d waits %ds", i+1, wait)
			}
		}
		wait, text := c.ceiling(edge, "198.51.100.0/24", all)
		if wait == 0 || wait > 7200 || !strings.HasPrefix(text, "The service as a whole is over its limit (r), and this network had its share.") {
			t.Errorf("the flood: wait %ds, %q", wait, text)
		}
		for i := range 30 {
			block := fmt.Sprintf("192.0.%d.0/24", i)
			if wait, _ := c.ceiling(edge, block, all); wait != 0 {
				t.Errorf("%s waits %ds", block, wait)
			}
			if wait, _ := c.ceiling(edge, block, all); wait == 0 {
				t.Errorf("%s passes twice in an hour", block)
			}
		}
		if wait, _ := c.ceiling(edge, "192.0.1.0/24", quota.Use{Rule: "r.all", Key: "another"}); wait != 0 {
			t.Error("the share of one ceiling is that of another")
		}
		cut, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.keeper.Ceiling(cut, c.db.Read(), edge, nil, "192.0.1.0/24", all); err == nil || quota.Limited(err) {
			t.Error("the store's trouble:", err)
		}
	})
}

// TestRefusalsNameTheirLimit: the text says whose requests are too many.
func TestRefusalsNameTheirLimit(t *testing.T) {
	for use, want := range map[quota.Use]string{
		{Rule: "r.ip", Key: "192.0.2.1"}:                      "Too many requests from this address. Wait for the time in Retry-After.",
		{Rule: "r.ip-day", Key: "192.0.2.1"}:                  "Too many requests from this address. Wait for the time in Retry-After.",
		{Rule: "r.ip", Key: "2001:db8::/64"}:                  "Too many requests from this network (2001:db8::/64). Wait for the time in Retry-After.",
		{Rule: "r.block-day", Key: "2001:db8::/48"}:           "Too many requests from this network (2001:db8::/48). Wait for the time in Retry-After.",
		{Rule: "r.email", Key: "a@b.example"}:                 "Too many requests for this e-mail address. Wait for the time in Retry-After.",
		{Rule: "r.email-block", Key: "a@b.example 192.0.2.1"}: "Too many requests for this e-mail address from this network. Wait for the time in Retry-After.",
		{Rule: "r.all"}:                                "The service as a whole is over its limit (r), and this network had its share. Wait for the time in Retry-After.",
		{Rule: "r.registration", Key: "reg_1"}:         "Too many requests of this registration. Wait for the time in Retry-After.",
		{Rule: "r.browser", Key: "x"}:                  "Too many requests from this browser. Wait for the time in Retry-After.",
		{Rule: "r.issuer", Key: "https://idp.example"}: "Too many requests of this issuer. Wait for the time in Retry-After.",
	} {
		c := newCounter(t, lite(t), ratelimit.Rule{Name: use.Rule, Quota: 1, Window: time.Hour})
		c.fill(edge, 1, use)
		for name, err := range map[string]error{
			"Take":  c.db.Write(t.Context(), func(tx *state.Tx) error { return c.keeper.Take(t.Context(), tx, edge, nil, use) }),
			"Check": c.keeper.Check(t.Context(), c.db.Read(), edge, nil, use),
		} {
			if e := apierr.Of(err); e.Description != want || e.RetryAfter < 1 {
				t.Errorf("%s of %v: %q, wait %d", name, use, e.Description, e.RetryAfter)
			}
		}
	}
}
