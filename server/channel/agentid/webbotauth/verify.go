package webbotauth

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"time"
)

// A Request holds the signed parts of a request, as a collector reports them. Repeated
// fields are joined with ", ".
type Request struct {
	Signature, SignatureInput, SignatureAgent string

	Method    string            // GET ...
	Authority string            // host, and port if it is not the scheme's
	Scheme    string            // empty: https
	Path      string            // as sent, still escaped; empty: /
	Query     string            // without "?"
	Fields    map[string]string // other fields that may be signed, by lower-cased name
}

func (r Request) scheme() string {
	if r.Scheme == "" {
		return "https"
	}
	return strings.ToLower(r.Scheme)
}

func (r Request) path() string {
	if r.Path == "" {
		return "/"
	}
	return r.Path
}

func (r Request) target() string {
	if r.Query == "" {
		return r.path()
	}
	return r.path() + "?" + r.Query
}

// A Status is how far a signature was verified.
type Status string

// The statuses.
const (
	Unsigned Status = "unsigned" // nothing was signed for us
	Verified Status = "verified"
	Invalid  Status = "invalid"  // the signature is not of that key, or not of that request
	Expired  Status = "expired"  // not valid at the time of the request, or for too long
	Replayed Status = "replayed" // its nonce was seen
	Unknown  Status = "unknown"  // signed by somebody who is not on our list, or with a key we do not have
	Unparsed Status = "unparsed" // signed in a way that we cannot read
	Stale    Status = "stale"    // our copy of the signer's keys is too old to decide
)

// A Result is the result of verifying a signature.
type Result struct {
	Status Status
	Agent  string // origin of the signer; only of a verified one is it proved
	KeyID  string
	Err    error // why it is not verified
}

// Errors of a KeySource.
var (
	ErrUnknownAgent = errors.New("the signer is not on our list")
	ErrUnknownKey   = errors.New("the signer has no such key")
	ErrStaleKeys    = errors.New("the keys of the signer are not known well enough")
)

// A KeySource has the keys of the signers that are on our list.
type KeySource interface {
	// Key returns the key that the agent, an origin, had at a time, and the agent.
	// It is called by its thumbprint, or as the agent's directory calls it. Where no
	// agent is named it is found by the thumbprint. It answers from memory.
	Key(agent, id string, at time.Time) (ed25519.PublicKey, string, error)
}

const (
	skew = time.Minute
	// maxLife is how long a signature may be valid: the draft recommends no more
	// than a day.
	maxLife = 24 * time.Hour
)

var (
	errAlgorithm = errors.New("the signature is not made with ed25519")
	errTime      = errors.New("the signature is not of the time of the request")
	errLife      = errors.New("the signature is valid for too long")
	errMismatch  = errors.New("the signature does not fit the request")
	errReplay    = errors.New("the nonce was used before")
)

// A Verifier verifies signatures. It is safe for concurrent use.
type Verifier struct {
	Keys KeySource
	// Nonces detects repeated nonces; optional. It is checked last, so that an invalid
	// signature does not consume the nonce of a valid one.
	Nonces *Nonces
	// MaxLife is the longest time that a signature may be valid; 0: one day.
	MaxLife time.Duration
}

// Verify judges the signature of a request that was sent at a time. A request
// that is given twice is replayed the second time: leave out doubles before.
func (v *Verifier) Verify(r Request, at time.Time) Result {
	if r.Signature == "" && r.SignatureInput == "" {
		return Result{Status: Unsigned}
	}
	s, err := parse(r)
	if errors.Is(err, errTagged) {
		return Result{Status: Unsigned, Err: err}
	}
	if err != nil {
		return Result{Status: Unparsed, Err: err}
	}
	res := Result{Agent: s.agent, KeyID: s.keyID}
	res.Status, res.Err = v.judge(r, s, at, &res)
	return res
}

func (v *Verifier) judge(r Request, s *signature, at time.Time, res *Result) (Status, error) {
	if s.alg != "" && s.alg != algorithm {
		return Unparsed, errAlgorithm
	}
	if s.agentRaw != "" && s.agent == "" {
		return Unknown, ErrUnknownAgent
	}
	if !covers(s) {
		return Unparsed, errCovered
	}
	if at.Before(s.created.Add(-skew)) || at.After(s.expires.Add(skew)) {
		return Expired, errTime
	}
	life := v.MaxLife
	if life == 0 {
		life = maxLife
	}
	if d := s.expires.Sub(s.created); d <= 0 || d > life {
		return Expired, errLife
	}
	key, agent, err := v.Keys.Key(s.agent, s.keyID, s.created)
	switch {
	case errors.Is(err, ErrStaleKeys):
		return Stale, err
	case err != nil:
		return Unknown, err
	}
	res.Agent = agent
	base, err := s.base(r)
	if err != nil {
		return Unparsed, err
	}
	if !ed25519.Verify(key, []byte(base), s.bytes) {
		return Invalid, errMismatch
	}
	if v.Nonces != nil && s.nonce != "" && !v.Nonces.use(agent+" "+s.keyID, s.nonce, s.expires) {
		return Replayed, errReplay
	}
	return Verified, nil
}

// covers reports whether the signature is bound to the site. Without that it
// could be carried from one site to another.
func covers(s *signature) bool {
	for _, item := range s.input.Items {
		if (item.Value == "@authority" || item.Value == "@target-uri") && len(item.Params.Names()) == 0 {
			return true
		}
	}
	return false
}
