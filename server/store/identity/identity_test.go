package identity

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var t0 = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func anonymous() *Registration {
	return &Registration{ID: "reg_1", Kind: Anonymous, Generation: 1, CreatedAt: t0, ClaimExpires: t0.Add(ClaimWindow)}
}

func active() *Attempt {
	return &Attempt{ID: "cla_1", State: Active, CreatedAt: t0, ExpiresAt: t0.Add(CodeLifetime)}
}

func TestStatusAndScopes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Registration)
		after  time.Duration
		want   Status
		scopes []string
	}{
		"new":                              {func(*Registration) {}, 0, Unclaimed, []string{ScopeWrite}},
		"a claim was asked for":            {func(r *Registration) { r.Email = "a@b.example" }, 0, Pending, []string{ScopeWrite}},
		"the last moment of the window":    {func(*Registration) {}, ClaimWindow - 1, Unclaimed, []string{ScopeWrite}},
		"the end of the window":            {func(*Registration) {}, ClaimWindow, Expired, nil},
		"claimed":                          {func(r *Registration) { r.Claim("acc", "ws", t0) }, 2 * ClaimWindow, Claimed, BothScopes()},
		"revoked":                          {func(r *Registration) { r.Claim("acc", "ws", t0); r.Revoke(t0) }, 0, Revoked, nil},
		"service_auth before its ceremony": {func(r *Registration) { r.Kind = ServiceAuth }, 0, Pending, nil},
		"service_auth, denied":             {func(r *Registration) { r.Kind = ServiceAuth; r.Deny(t0) }, 0, Denied, nil},
		"anonymous, denied by an address":  {func(r *Registration) { r.Email = "a@b.example"; r.Deny(t0) }, 0, Unclaimed, []string{ScopeWrite}},
		"begun again after a revocation": {func(r *Registration) {
			r.Kind = IdentityAssertion
			r.Claim("acc", "ws", t0)
			r.Revoke(t0)
			r.Restart(t0)
		}, 0, Pending, nil},
	} {
		r := anonymous()
		c.change(r)
		if got := r.Status(t0.Add(c.after)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
		if got := r.Scopes(t0.Add(c.after)); !slices.Equal(got, c.scopes) {
			t.Errorf("%s: scopes %v, not %v", name, got, c.scopes)
		}
	}
}

// A generation never falls, and rises at whatever voids what was issued.
func TestGenerations(t *testing.T) {
	r := anonymous()
	for _, step := range []func(){
		func() { r.Claim("acc", "ws", t0) }, func() { r.Revoke(t0) }, func() { r.Restart(t0) }, func() { r.Claim("acc", "ws", t0) },
	} {
		before := r.Generation
		step()
		if r.Generation <= before || r.MayExchange(before, t0) {
			t.Fatalf("generation %d after %d", r.Generation, before)
		}
	}
	if !r.MayExchange(r.Generation, t0) {
		t.Error("the newest generation may not exchange")
	}
}

func TestAnswersToAPoll(t *testing.T) {
	claimed := func(r *Registration) { r.Claim("acc", "ws", t0) }
	for name, c := range map[string]struct {
		registration func(*Registration)
		attempt      func(*Attempt)
		after        time.Duration
		want         Answer
	}{
		"waiting":                   {nil, nil, 0, Wait},
		"no ceremony yet":           {nil, func(a *Attempt) { *a = Attempt{State: "absent"} }, 0, Wait},
		"the last moment of a code": {nil, nil, CodeLifetime - 1, Wait},
		"the code's end":            {nil, nil, CodeLifetime, Lapsed},
		"locked":                    {nil, func(a *Attempt) { a.State = Locked }, 0, Lapsed},
		"superseded":                {nil, func(a *Attempt) { a.State = Superseded }, 0, Lapsed},
		"denied attempt":            {nil, func(a *Attempt) { a.State = AttemptDenied }, 0, Refused},
		"denied, and the code over": {nil, func(a *Attempt) { a.State = AttemptDenied }, CodeLifetime, Refused},
		"denied registration":       {func(r *Registration) { r.Kind = ServiceAuth; r.Deny(t0) }, nil, 0, Refused},
		"window closed":             {nil, nil, ClaimWindow, Lapsed},
		"revoked":                   {func(r *Registration) { claimed(r); r.Revoke(t0) }, nil, 0, Lapsed},
		"claimed":                   {claimed, func(a *Attempt) { a.State = Completed }, 0, Deliver},
		"claimed, window closed":    {claimed, func(a *Attempt) { a.State = Completed }, ClaimWindow, Deliver},
		"delivered, within grace":   {func(r *Registration) { claimed(r); r.Redeemed(nil, t0) }, nil, RedeemGrace, Deliver},
		"delivered, grace over":     {func(r *Registration) { claimed(r); r.Redeemed(nil, t0) }, nil, RedeemGrace + 1, Spent},
		"delivered three times": {func(r *Registration) {
			claimed(r)
			for range RedeemTries {
				r.Redeemed(nil, t0)
			}
		}, nil, 0, Spent},
	} {
		r, a := anonymous(), active()
		if c.registration != nil {
			c.registration(r)
		}
		if c.attempt != nil {
			c.attempt(a)
		}
		if a.State == "absent" {
			a = nil
		}
		if got := r.PollAt(a, t0.Add(c.after)); got != c.want {
			t.Errorf("%s: answer %d, not %d", name, got, c.want)
		}
	}
}

// A client that keeps five seconds or more, give or take a second, is never told
// to slow down; one of any steady cadence gets through in the end, and one that
// obeys slow_down at once.
func TestNoClientIsLockedInSlowDown(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r, a, now := anonymous(), active(), t0
		a.ExpiresAt = t0.Add(24 * time.Hour)
		for range 50 {
			if got := r.PollAt(a, now); got != Wait {
				t.Fatalf("a polite client is answered %d", got)
			}
			now = now.Add(PollInterval - time.Duration(random.Int64N(int64(time.Second))))
		}
	}
	for cadence := 500 * time.Millisecond; cadence <= 6*time.Second; cadence += 250 * time.Millisecond {
		r, a, now, waits := anonymous(), active(), t0, 0
		for now.Before(a.ExpiresAt) {
			if r.PollAt(a, now) == Wait {
				waits++
			}
			now = now.Add(cadence)
		}
		if waits < 8 {
			t.Errorf("a poll every %v gets through %d times in ten minutes", cadence, waits)
		}
	}
	r, a, now, interval, slow := anonymous(), active(), t0, time.Second, 0
	for now.Before(a.ExpiresAt) {
		if r.PollAt(a, now) == TooEarly {
			interval += PollInterval
			slow++
		}
		now = now.Add(interval)
	}
	if slow > 2 {
		t.Errorf("a client that obeys is told to slow down %d times", slow)
	}
}

func TestWrongCodes(t *testing.T) {
	a, r := active(), anonymous()
	for i := range WrongCodes {
		if a.StateAt(t0) != Active {
			t.Fatalf("locked after %d", i)
		}
		a.WrongCode()
	}
	if a.StateAt(t0) != Locked || a.StateAt(t0.Add(CodeLifetime)) != Locked {
		t.Error("not locked after five")
	}
	for range LocksBeforePause {
		if !r.PausedUntil.IsZero() {
			t.Error("paused too early")
		}
		r.Lock(t0)
	}
	if !r.PausedUntil.Equal(t0.Add(LockPause)) {
		t.Errorf("paused until %v", r.PausedUntil)
	}
}

func TestParseEmail(t *testing.T) {
	for in, want := range map[string]string{
		" Dana@Example.COM ":                     "dana@example.com",
		"a.b+tag@sub.example.co":                 "a.b+tag@sub.example.co",
		"x@bücher.example":                       "x@xn--bcher-kva.example",
		"o'neil@example.com":                     "o'neil@example.com",
		"":                                       "",
		"plain":                                  "",
		"@example.com":                           "",
		"a@":                                     "",
		"a@localhost":                            "",
		"a@example..com":                         "",
		"a..b@example.com":                       "",
		".a@example.com":                         "",
		`"a b"@example.com`:                      "",
		"a@[127.0.0.1]":                          "",
		"a@127.0.0.1":                            "",
		"a b@example.com":                        "",
		"Dana <a@example.com>":                   "",
		"a@example.com,b@example.com":            "",
		"a@example.com\r\nBcc: x@y.com":          "",
		"a\x00@example.com":                      "",
		strings.Repeat("a", 65) + "@example.com": "",
		"a@" + strings.Repeat("a", 64) + ".com":  "",
		"a@" + strings.Repeat("abcdefgh.", 28) + "example": "",
		"\u202ea@example.com":                              "",
	} {
		got, ok := ParseEmail(in)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
	if got := MaskEmail("dana@example.com"); got != "d***@example.com" {
		t.Error(got)
	}
	if got := MaskEmail("nonsense"); got != "***" {
		t.Error(got)
	}
}

// What is taken for an address is canonical, and safe to put in a header.
func FuzzParseEmail(f *testing.F) {
	for _, s := range []string{"dana@example.com", "x@bücher.example", "a@b", "\"q\"@e.com", "a@xn--a.example", "A@ẞ.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		email, ok := ParseEmail(s)
		if !ok {
			if email != "" {
				t.Errorf("refused, and yet %q", email)
			}
			return
		}
		if again, ok := ParseEmail(email); !ok || again != email {
			t.Errorf("%q becomes %q", email, again)
		}
		if len(email) > maxEmail || strings.ContainsAny(email, "\r\n\t <>,;:\"\\()[]\x00") || strings.Count(email, "@") != 1 {
			t.Errorf("%q is taken", email)
		}
	})
}
