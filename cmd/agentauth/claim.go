package agentauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// A Claim is a code for the user, and where to type it.
type Claim struct {
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri,omitempty"`
	// Interval is the least number of seconds between two polls.
	Interval int `json:"interval"`
	// Expires is when the code's time is over.
	Expires time.Time `json:"expires"`
}

const (
	defaultInterval = 5   // seconds, RFC 8628, 3.2
	defaultExpiry   = 600 // seconds
	slowDown        = 5 * time.Second
	maxInterval     = 300 // seconds
	maxBackoff      = time.Minute
)

type claimBody struct {
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval"`
}

func (b *claimBody) claim(now time.Time) (Claim, error) {
	if b.UserCode == "" || len(b.UserCode) > 32 || Printable(b.UserCode, 32) != b.UserCode {
		return Claim{}, errors.New("the claim block has no usable user_code")
	}
	if Printable(b.VerificationURI, len(b.VerificationURI)) != b.VerificationURI {
		return Claim{}, errors.New("the verification_uri has letters that no address has")
	}
	if _, err := parse(b.VerificationURI); err != nil {
		return Claim{}, fmt.Errorf("the verification_uri is %w", err)
	}
	c := Claim{UserCode: b.UserCode, VerificationURI: b.VerificationURI, Interval: min(b.Interval, maxInterval)}
	if c.Interval <= 0 {
		c.Interval = defaultInterval
	}
	seconds := min(b.ExpiresIn, 24*3600)
	if seconds <= 0 {
		seconds = defaultExpiry
	}
	c.Expires = now.Add(time.Duration(seconds) * time.Second)
	return c, nil
}

// StartClaim asks for a fresh code that the person with the email confirms. A
// code of before dies with it.
func (c *Client) StartClaim(ctx context.Context, s Service, claimToken, email string) (Claim, error) {
	in, err := jsonCall(s.ClaimEndpoint, "", map[string]string{"claim_token": claimToken, "email": email}, claimToken)
	if err != nil {
		return Claim{}, err
	}
	a, err := c.do(ctx, in)
	if err != nil {
		return Claim{}, err
	}
	var body struct {
		Claim   *claimBody `json:"claim"`
		Attempt *claimBody `json:"claim_attempt"`
	}
	if err := a.decode(&body); err != nil {
		return Claim{}, err
	}
	if body.Claim == nil {
		body.Claim = body.Attempt
	}
	if body.Claim == nil {
		return Claim{}, errors.New("the answer has no claim block")
	}
	return body.Claim.claim(c.Now())
}

// AwaitClaim polls until the user confirmed the code, or until nothing more can
// come of it: then the error is an *Error, with the code expired_token where a
// fresh code would help.
func (c *Client) AwaitClaim(ctx context.Context, s Service, claimToken string, claim Claim) (Token, error) {
	interval := time.Duration(max(claim.Interval, 1)) * time.Second
	expires := claim.Expires.Add(interval) // a code typed at the last moment still counts
	form := url.Values{"grant_type": {s.ClaimGrant}, "claim_token": {claimToken}}
	wait, failures := interval, 0
	for {
		if err := c.Sleep(ctx, wait); err != nil {
			return Token{}, err
		}
		token, err := c.token(ctx, formCall(s.TokenEndpoint, form, claimToken))
		if err == nil {
			return token, nil
		}
		refused := (*Error)(nil)
		isRefused := errors.As(err, &refused)
		switch {
		case isRefused && refused.Code == CodePending:
			wait, failures = interval, 0
		case isRefused && refused.Code == CodeSlowDown:
			interval += slowDown // for this and all later polls: RFC 8628, 3.5
			wait, failures = interval, 0
		case transient(err):
			failures++
			wait = backoff(interval, failures)
			if isRefused {
				wait = max(wait, refused.RetryAfter)
			}
		default:
			return Token{}, err
		}
		if c.Now().After(expires) {
			if isRefused && (refused.Code == CodePending || refused.Code == CodeSlowDown) {
				err = &Error{Code: CodeExpired, Description: "the code was not confirmed in time"}
			}
			return Token{}, err
		}
	}
}

// transient reports whether asking again may help.
func transient(err error) bool {
	if lost := (*transportError)(nil); errors.As(err, &lost) {
		return true
	}
	refused := (*Error)(nil)
	return errors.As(err, &refused) && (refused.Status >= 500 || refused.Status == http.StatusTooManyRequests)
}

// backoff doubles the interval with each failure in a row, up to a minute.
func backoff(interval time.Duration, failures int) time.Duration {
	return max(interval, min(interval<<min(failures, 10), maxBackoff))
}
