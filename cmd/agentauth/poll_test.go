package agentauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func asError(err error) Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return *e
	}
	return Error{}
}

func codeOf(err error) string { return asError(err).Code }

func TestPolling(t *testing.T) {
	pending, slow := refuse(400, CodePending), refuse(400, CodeSlowDown)
	down, limited := refuse(503, "temporarily_unavailable"), refuse(429, CodeRateLimited)
	limited.header = map[string]string{"Retry-After": "90"}
	html := reply{status: 502, body: "<html>bad gateway"}
	for name, test := range map[string]struct {
		replies []reply
		slept   []int
		code    string
	}{
		"at the interval":         {[]reply{pending, pending, ok(claimAnswer)}, []int{5, 5, 5}, ""},
		"slow_down adds up":       {[]reply{pending, slow, pending, slow, pending, ok(claimAnswer)}, []int{5, 5, 10, 10, 15, 15}, ""},
		"5xx backs off":           {[]reply{down, html, down, down, pending, ok(claimAnswer)}, []int{5, 10, 20, 40, 60, 5}, ""},
		"back off after slowness": {[]reply{slow, down, pending, ok(claimAnswer)}, []int{5, 10, 20, 10}, ""},
		"Retry-After":             {[]reply{limited, ok(claimAnswer)}, []int{5, 90}, ""},
		"expired":                 {[]reply{pending, refuse(400, CodeExpired)}, []int{5, 5}, CodeExpired},
		"denied":                  {[]reply{refuse(400, CodeDenied)}, []int{5}, CodeDenied},
		"grant":                   {[]reply{refuse(400, "invalid_grant")}, []int{5}, "invalid_grant"},
		"unknown code":            {[]reply{refuse(400, "invalid_request")}, []int{5}, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("/api/oauth2/token", test.replies...)
			c, clock := newClient(f)
			claim := Claim{Interval: 5, Expires: clock.now.Add(10 * time.Minute)}
			token, err := c.AwaitClaim(t.Context(), discover(t, c, f), "clm_secret", claim)
			if codeOf(err) != test.code || (err == nil) != (test.code == "") || (err == nil) != (token.AccessToken == "at_2") {
				t.Errorf("got %+v, %v", token, err)
			}
			if !slices.Equal(clock.seconds(), test.slept) {
				t.Errorf("slept %v, want %v", clock.seconds(), test.slept)
			}
		})
	}
}

func TestPollingEndsWithTheCode(t *testing.T) {
	f := newFake(t)
	f.on("/api/oauth2/token", refuse(400, CodePending))
	c, clock := newClient(f)
	claim := Claim{Interval: 5, Expires: clock.now.Add(20 * time.Second)}
	_, err := c.AwaitClaim(t.Context(), discover(t, c, f), "clm_secret", claim)
	if codeOf(err) != CodeExpired || len(clock.slept) != 6 {
		t.Error(err, clock.slept)
	}
}

func TestPollingSurvivesTheNetwork(t *testing.T) {
	f := newFake(t)
	f.on("/api/oauth2/token", ok(claimAnswer))
	c, clock := newClient(f)
	s := discover(t, c, f)
	broken := 2
	c.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if broken > 0 {
			broken--
			return nil, errors.New("connection reset")
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	claim := Claim{Interval: 5, Expires: clock.now.Add(10 * time.Minute)}
	if _, err := c.AwaitClaim(t.Context(), s, "clm_secret", claim); err != nil || !slices.Equal(clock.seconds(), []int{5, 10, 20}) {
		t.Error(err, clock.slept)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func TestInterruptIsNoNetworkFailure(t *testing.T) {
	f := newFake(t)
	f.on("/api/oauth2/token", refuse(400, CodePending))
	c, clock := newClient(f)
	s := discover(t, c, f)
	ctx, cancel := context.WithCancel(t.Context())
	c.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		cancel()
		return nil, r.Context().Err()
	})}
	_, err := c.AwaitClaim(ctx, s, "clm_secret", Claim{Interval: 5, Expires: clock.now.Add(time.Hour)})
	if !errors.Is(err, context.Canceled) || len(clock.slept) != 1 {
		t.Error(err, clock.slept)
	}
}

func TestBadTokens(t *testing.T) {
	for name, body := range map[string]string{
		"not Bearer":  `{"access_token":"at_secret","token_type":"mac"}`,
		"none":        `{"token_type":"Bearer"}`,
		"line break":  `{"access_token":"at_secret\r\nX: y","token_type":"Bearer"}`,
		"wrong shape": `{"access_token":["at_secret"]}`,
	} {
		f := newFake(t)
		f.on("/api/oauth2/token", ok(body))
		c, _ := newClient(f)
		if _, err := c.Exchange(t.Context(), discover(t, c, f), "e.y.1"); err == nil || strings.Contains(err.Error(), "at_secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
