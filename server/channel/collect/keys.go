package collect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// keyLife is how long a key is cached, and so how long a revocation takes at most.
	keyLife = 5 * time.Second
	maxKeys = 10_000 // remembered
	// useEvery bounds how often the use of a key is written.
	useEvery = time.Hour
)

// The quotas of a workspace. Unclaimed workspaces are free to create, so theirs is small.
const (
	DailyQuota     = 10_000_000 // events of a claimed workspace, in a day of UTC
	UnclaimedQuota = 100_000    // events of an unclaimed one, in all
)

// A Key is a valid collector key with its workspace.
type Key struct {
	state.CollectorKey
	Workspace state.Workspace
	// Left is how many events the workspace may send yet, as of when the key was
	// asked for; spent of them were sent with this key since.
	Left  int64
	spent atomic.Int64
	noted atomic.Bool // that it is used
}

// left is how many events the workspace may send yet, as far as this server knows.
func (k *Key) left() int64 { return k.Left - k.spent.Load() }

// Claimed reports whether the workspace has an owner.
func (k *Key) Claimed() bool { return !k.Workspace.ClaimedAt.IsZero() }

// abandoned reports whether the time to claim the workspace is over. Its events could
// never be read.
func (k *Key) abandoned(now time.Time) bool {
	return !k.Claimed() && !now.Before(k.Workspace.ClaimExpires)
}

// kind returns a key's kind by its prefix; false for a malformed key.
func kind(token string) (event.KeyKind, bool) {
	for prefix, kind := range map[string]event.KeyKind{"sk_live_": event.KindSecret, "pk_live_": event.KindPublishable, "log_live_": event.KindLog} {
		if secret.IsKey(token, prefix) {
			return kind, true
		}
	}
	return "", false
}

// keyring remembers keys for a few seconds.
type keyring struct {
	mu   sync.Mutex
	keys map[string]remembered // by the key's text
}

type remembered struct {
	key *Key // nil for one that is not valid
	at  time.Time
}

// get returns a key that was looked up a moment ago. One whose claim window closed since
// is looked up again: it may have been claimed in time.
func (r *keyring) get(token string, now time.Time) (*Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.keys[token]
	if known && e.key != nil && e.key.abandoned(now) && !e.key.abandoned(e.at) {
		return nil, false
	}
	return e.key, known && now.Sub(e.at) < keyLife
}

func (r *keyring) put(token string, key *Key, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) >= maxKeys {
		clear(r.keys)
	}
	r.keys[token] = remembered{key, now}
}

// Authenticate returns the key of a token. It fails with a 401 for one that is not
// valid, and with a 403 for one of a workspace that was not claimed in time; then it
// returns the key too.
func (s *Service) Authenticate(ctx context.Context, token string) (*Key, error) {
	if _, ok := kind(token); !ok {
		return nil, noKey()
	}
	now := s.Now()
	key, known := s.keys.get(token, now)
	if !known {
		var err error
		if key, err = s.load(ctx, token, now); err != nil {
			return nil, err
		}
		s.keys.put(token, key, now)
	}
	if key == nil {
		return nil, noKey()
	}
	if key.abandoned(now) {
		return key, tooLate()
	}
	return key, nil
}

func (s *Service) load(ctx context.Context, token string, now time.Time) (*Key, error) {
	tx := s.DB.Read()
	k, w, err := tx.CollectorKeyByHash(ctx, secret.Hash(token))
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fail(err)
	}
	sent, err := tx.Collected(ctx, w.ID, now)
	if err != nil {
		return nil, s.fail(err)
	}
	key := &Key{CollectorKey: *k, Workspace: *w, Left: DailyQuota - sent.Today}
	if !key.Claimed() {
		key.Left = UnclaimedQuota - sent.Total
	}
	return key, nil
}

// noteUse records about once an hour that a key is used. The events are stored already,
// so a failure of it is ignored.
func (s *Service) noteUse(ctx context.Context, key *Key, now time.Time) {
	if now.Sub(key.LastUsedAt) < useEvery || key.noted.Swap(true) {
		return
	}
	if err := s.DB.Write(ctx, func(tx *state.Tx) error { return tx.UseKey(ctx, key.ID, now) }); err != nil {
		s.Log.Warn("storing the last use of a key failed", "err", err)
	}
}

func tooLate() *apierr.Error {
	return &apierr.Error{
		Status: 403, Code: "forbidden", Reason: "claim_expired",
		Description: "Nobody claimed this workspace in time, so nobody could ever read its events. Register again: POST /api/agent/identity.",
	}
}

func noKey() *apierr.Error {
	return &apierr.Error{
		Status: 401, Code: "invalid_key",
		Description: "The collector key is missing, unknown or revoked. Send Authorization: Bearer sk_live_... of POST /api/agent/keys.",
	}
}
