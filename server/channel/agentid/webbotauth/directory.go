package webbotauth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	wellKnown    = "/.well-known/http-message-signatures-directory"
	maxDirectory = 256 << 10            // bytes
	keysFor      = 14 * 24 * time.Hour  // how far a directory speaks for the days around its fetching
	withdrawn    = 2 * time.Hour        // how long a key counts after it was last seen, while others are
	keysKept     = 400 * 24 * time.Hour // after they left the directory
)

// A Directory is a KeySource that fetches the keys of listed operators only. It is safe
// for concurrent use.
type Directory struct {
	agents []string
	mu     sync.RWMutex
	known  map[string]*signer // by origin
}

// A signer is the cached directory of an operator.
type signer struct {
	last time.Time // fetched
	keys map[string]held
}

type held struct {
	Key
	from, until time.Time // in the directory; until is zero while it is
}

// NewDirectory returns a directory of the agents, which are origins such as
// https://chatgpt.com. It has no keys before Refresh.
func NewDirectory(agents []string) *Directory {
	d := &Directory{known: map[string]*signer{}}
	for _, a := range agents {
		if o := origin(a); o != "" {
			d.agents = append(d.agents, o)
		}
	}
	return d
}

// Refresh fetches all directories. Call it once an hour or so; the client decides
// about time limits, redirects and which addresses may be reached. One that cannot
// be fetched keeps its keys; the error joins those of all.
func (d *Directory) Refresh(ctx context.Context, client *http.Client, now time.Time) error {
	var errs []error
	for _, agent := range d.agents {
		keys, err := fetch(ctx, client, agent)
		if err != nil {
			errs = append(errs, fmt.Errorf("keys of %s: %w", agent, err))
			continue
		}
		d.Put(agent, keys, now)
	}
	return errors.Join(errs...)
}

// Put notes the keys that an agent's directory had at a time.
func (d *Directory) Put(agent string, keys []Key, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	agent = origin(agent)
	if !slices.Contains(d.agents, agent) {
		return
	}
	s := d.known[agent]
	if s == nil {
		s = &signer{keys: map[string]held{}}
		d.known[agent] = s
	}
	for print, h := range s.keys {
		gone := !slices.ContainsFunc(keys, func(k Key) bool { return k.Thumbprint == print })
		if gone && h.until.IsZero() {
			h.until = s.last
			s.keys[print] = h
		}
		if !h.until.IsZero() && now.Sub(h.until) > keysKept {
			delete(s.keys, print)
		}
	}
	for _, k := range keys {
		h, ok := s.keys[k.Thumbprint]
		if !ok {
			h.from = now
		}
		h.Key, h.until = k, time.Time{}
		s.keys[k.Thumbprint] = h
	}
	s.last = now
}

// Key implements KeySource.
func (d *Directory) Key(agent, id string, at time.Time) (ed25519.PublicKey, string, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if agent == "" {
		for _, a := range d.agents {
			if s := d.known[a]; s != nil {
				if h, ok := s.keys[id]; ok {
					return h.public(s, a, at)
				}
			}
		}
		return nil, "", ErrUnknownKey
	}
	if !slices.Contains(d.agents, agent) {
		return nil, agent, ErrUnknownAgent
	}
	s := d.known[agent]
	if s == nil {
		return nil, agent, ErrStaleKeys
	}
	h, ok := s.named(id)
	if !ok && at.Sub(s.last) > time.Hour {
		return nil, agent, ErrStaleKeys // a new key may have come since
	}
	if !ok {
		return nil, agent, ErrUnknownKey
	}
	return h.public(s, agent, at)
}

// named returns the key with that thumbprint, or else with that name of the
// signer's own: Google signs with short ones.
func (s *signer) named(id string) (held, bool) {
	if h, ok := s.keys[id]; ok {
		return h, true
	}
	for _, h := range s.keys {
		if id != "" && h.ID == id && h.until.IsZero() {
			return h, true
		}
	}
	return held{}, false
}

// public returns the key if it was the signer's at that time.
func (h held) public(s *signer, agent string, at time.Time) (ed25519.PublicKey, string, error) {
	switch {
	case !h.NotBefore.IsZero() && at.Before(h.NotBefore.Add(-skew)), !h.NotAfter.IsZero() && at.After(h.NotAfter.Add(skew)):
		return nil, agent, ErrUnknownKey
	case !h.until.IsZero() && at.After(h.until.Add(withdrawn)):
		return nil, agent, ErrUnknownKey
	case at.Before(h.from.Add(-keysFor)), at.After(s.last.Add(keysFor)):
		return nil, agent, ErrStaleKeys
	}
	return h.Public, agent, nil
}

// AsOf returns when each directory was last fetched.
func (d *Directory) AsOf() map[string]time.Time {
	d.mu.RLock()
	defer d.mu.RUnlock()
	all := map[string]time.Time{}
	for agent, s := range d.known {
		all[agent] = s.last
	}
	return all
}

func fetch(ctx context.Context, client *http.Client, agent string) ([]Key, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, agent+wellKnown, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/http-message-signatures-directory+json, application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %d", res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxDirectory+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxDirectory {
		return nil, errDirectory
	}
	return ParseDirectory(raw)
}
