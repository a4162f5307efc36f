package agentauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A Session is the stored state of a registration.
//
// ClaimToken, Assertion and AccessToken are secrets. A holder of the claim
// token collects the access of the person who confirms the code; a holder of
// the assertion mints access tokens until it expires. The file is readable by
// its owner alone; do not share it and do not commit it.
type Session struct {
	// Note is the warning in the file itself.
	Note string `json:"note"`
	// URL is the service's root; Issuer and Resource are from its metadata
	// then. The secrets go nowhere else.
	URL      string `json:"url"`
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`

	RegistrationID  string   `json:"registration_id"`
	Type            string   `json:"registration_type"`
	Workspace       string   `json:"workspace,omitempty"`
	Email           string   `json:"email,omitempty"`
	Claimed         bool     `json:"claimed"`
	Scopes          []string `json:"scopes,omitempty"`
	PostClaimScopes []string `json:"post_claim_scopes,omitempty"`

	ClaimToken        string    `json:"claim_token,omitempty"`
	ClaimTokenExpires time.Time `json:"claim_token_expires,omitzero"`
	Claim             *Claim    `json:"claim,omitempty"`
	Assertion         string    `json:"identity_assertion,omitempty"`
	AssertionExpires  time.Time `json:"assertion_expires,omitzero"`
	AccessToken       string    `json:"access_token,omitempty"`
	TokenExpires      time.Time `json:"access_token_expires,omitzero"`
}

const sessionNote = "Secret: the claim token, the assertion and the access token stand for the person who confirms. Do not share or commit this file."

// ReadSession reads a session; os.ErrNotExist means that none is saved.
func ReadSession(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxBody))
	if err != nil {
		return nil, err
	}
	s := &Session{}
	if json.Unmarshal(raw, s) != nil || s.URL == "" {
		return nil, fmt.Errorf("%s is not a saved session", path) // the parser's text may hold a secret
	}
	return s, nil
}

// Write saves the session, for the owner's eyes alone: the old file or the new
// one is there, never half of one.
func (s *Session) Write(path string) error {
	s.Note = sessionNote
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".agent-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Take puts a registration into the session.
func (s *Session) Take(r Registration) {
	s.RegistrationID, s.Type, s.Workspace = r.ID, r.Type, r.Workspace
	s.Scopes, s.PostClaimScopes = r.Scopes, r.PostClaimScopes
	s.ClaimToken, s.ClaimTokenExpires, s.Claim = r.ClaimToken, r.ClaimTokenExpires, r.Claim
	s.Assertion, s.AssertionExpires = r.IdentityAssertion, r.AssertionExpires
	s.Claimed = r.Type == IdentityAssertion && r.Claim == nil
}

// TakeToken puts a token into the session. One that a claim brought ends the
// claim: its claim token is spent.
func (s *Session) TakeToken(t Token, claimed bool) {
	s.AccessToken, s.TokenExpires = t.AccessToken, t.Expires
	if len(t.Scopes) > 0 {
		s.Scopes = t.Scopes
	}
	if t.Workspace != "" {
		s.Workspace = t.Workspace
	}
	if t.IdentityAssertion != "" {
		s.Assertion, s.AssertionExpires = t.IdentityAssertion, t.AssertionExpires
	}
	if claimed {
		s.Claimed, s.Claim = true, nil
		s.ClaimToken, s.ClaimTokenExpires = "", time.Time{}
	}
}

// Live reports whether the session holds something that a new registration
// would not bring back.
func (s *Session) Live(now time.Time) bool {
	live := func(secret string, expires time.Time) bool {
		return secret != "" && (expires.IsZero() || now.Before(expires))
	}
	return live(s.ClaimToken, s.ClaimTokenExpires) || live(s.Assertion, s.AssertionExpires)
}

// FreshToken returns the saved access token where it is good for some time yet.
func (s *Session) FreshToken(now time.Time) string {
	if now.Add(time.Minute).Before(s.TokenExpires) {
		return s.AccessToken
	}
	return ""
}
