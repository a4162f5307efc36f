package identity

import "time"

// An AttemptState is the state of an attempt.
type AttemptState string

// The states of an attempt. AttemptExpired follows from the time.
const (
	Active         AttemptState = "active"
	Completed      AttemptState = "completed"
	Superseded     AttemptState = "superseded"
	AttemptExpired AttemptState = "expired"
	Locked         AttemptState = "locked"
	AttemptDenied  AttemptState = "denied"
)

// An Attempt is one code that a person may type. A registration has at most one
// active attempt.
type Attempt struct {
	ID             string
	RegistrationID string
	ViewHash       []byte // of the token in the link
	CodeMAC        []byte
	CreatedAt      time.Time
	ExpiresAt      time.Time
	Wrong          int
	State          AttemptState
	IP, UserAgent  string // of the agent that asked
}

// StateAt returns the state of the attempt at now.
func (a *Attempt) StateAt(now time.Time) AttemptState {
	if a.State == Active && !now.Before(a.ExpiresAt) {
		return AttemptExpired
	}
	return a.State
}

// WrongCode counts a wrong code; the fifth locks the attempt.
func (a *Attempt) WrongCode() {
	if a.Wrong++; a.Wrong >= WrongCodes {
		a.State = Locked
	}
}

// Lock notes a locked attempt: the third one pauses the registration.
func (r *Registration) Lock(now time.Time) {
	if r.Locks++; r.Locks >= LocksBeforePause {
		r.Locks, r.PausedUntil = 0, now.Add(LockPause)
	}
}

// A Poll is the polling state of an agent.
type Poll struct {
	Interval  time.Duration // that the agent has to keep
	OKAt      time.Time     // of the last poll that kept the interval
	Penalised bool          // a later poll was too early
}

// The poll interval and its bound.
const (
	PollInterval    = 5 * time.Second
	maxPollInterval = time.Minute
	pollTolerance   = time.Second // clients' timers are not exact
)

// tooEarly does the bookkeeping of a poll at now (RFC 8628, 3.5). An early poll
// raises the interval once and does not move the time of the last good one, so
// that a client of any fixed cadence of five seconds or more gets through.
func (p *Poll) tooEarly(now time.Time) bool {
	if !p.OKAt.IsZero() && now.Add(pollTolerance).Before(p.OKAt.Add(p.Interval)) {
		if !p.Penalised {
			p.Interval, p.Penalised = min(p.Interval+PollInterval, maxPollInterval), true
		}
		return true
	}
	p.OKAt, p.Penalised = now, false
	return false
}

// A Redeem is the delivery state of a completed claim.
type Redeem struct {
	FirstAt time.Time
	Count   int
	Token   []byte // hash of the access token that was delivered last
}

// An Answer is the result of a poll.
type Answer int

// The answers to a poll.
const (
	Wait     Answer = iota // authorization_pending
	TooEarly               // slow_down
	Lapsed                 // expired_token: the code's window closed, or it is locked
	Refused                // access_denied
	Deliver                // the claim is complete: hand the tokens over
	Spent                  // they were handed over, and the grace for lost answers is over
)

// PollAt returns the answer to a poll at now and updates the polling state. a is the
// newest attempt, nil before the first. Only waiting is throttled: an end is returned
// at once.
func (r *Registration) PollAt(a *Attempt, now time.Time) Answer {
	switch r.Status(now) {
	case Unclaimed, Pending:
	case Claimed:
		if r.Redeem.Count > 0 && (r.Redeem.Count >= RedeemTries || now.After(r.Redeem.FirstAt.Add(RedeemGrace))) {
			return Spent
		}
		if r.Redeem.Count == 0 && now.After(r.ClaimedAt.Add(ClaimWindow)) { // not delivered within a day
			return Spent
		}
		return Deliver
	case Denied:
		return Refused
	case Expired, Revoked:
		return Lapsed
	}
	if a != nil {
		switch a.StateAt(now) {
		case AttemptDenied:
			return Refused
		case Active:
		default:
			return Lapsed
		}
	}
	if r.Poll.Interval == 0 {
		r.Poll.Interval = PollInterval
	}
	if r.Poll.tooEarly(now) {
		return TooEarly
	}
	return Wait
}

// Spend notes that nothing is left to redeem: the answer to the claim brought it.
func (r *Registration) Spend(now time.Time) { r.Redeem = Redeem{FirstAt: now, Count: RedeemTries} }

// Redeemed notes that tokens were handed over.
func (r *Registration) Redeemed(token []byte, now time.Time) {
	if r.Redeem.Count == 0 {
		r.Redeem.FirstAt = now
	}
	r.Redeem.Count++
	r.Redeem.Token = token
}

// NewCode notes that a new code was issued, and that polling begins afresh.
func (r *Registration) NewCode() {
	r.Codes++
	r.Poll = Poll{Interval: PollInterval}
}
