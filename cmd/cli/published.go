package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// published reads the snapshots of a folder or bucket. It implements app.Snapshots of
// package server/app, which does not know how snapshots are stored. It is for one goroutine.
type published struct {
	place publish.Place
	// trusted are the accepted signing keys; if empty, unsigned snapshots are accepted
	// too.
	trusted []ed25519.PublicKey

	current, tag string // of the last call of Current

	// Of the last call of Retracted.
	head        string // of the log
	corrections map[string]translog.Correction
}

// publishedSnapshots returns the snapshots that a server of this configuration serves.
func (a *app) publishedSnapshots() (*published, error) {
	from, err := a.snapshots("")
	if err != nil {
		return nil, err
	}
	trusted, err := trustedKeys(a.cfg.Trust)
	return &published{place: from, trusted: trusted}, err
}

// trustedKeys reads the public keys of the configuration's trust.
func trustedKeys(files []string) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for _, file := range files {
		key, err := publish.ReadPublicKey(file)
		if err != nil {
			return nil, badInput(fmt.Errorf("trust: %w", err))
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// pollTimeout bounds a call of Current: the next one is soon.
const pollTimeout = 10 * time.Second

// Interval implements app.Snapshots: a request to a bucket costs money.
func (p *published) Interval() time.Duration {
	if _, local := p.place.Store.(storage.Folder); local {
		return 500 * time.Millisecond
	}
	return 5 * time.Second
}

// Current implements app.Snapshots. If the bucket does not answer a server that has just
// started, the snapshot that it served before is current.
func (p *published) Current(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	id, tag, err := p.place.CurrentChanged(ctx, p.tag)
	var damage *publish.DamageError
	switch {
	case errors.Is(err, storage.ErrUnchanged):
		return p.current, nil
	case errors.Is(err, publish.ErrNotFound):
		err = nil
	case err != nil && p.current == "" && !errors.As(err, &damage):
		if p.current = p.place.Remembered(ctx); p.current != "" {
			return p.current, nil
		}
	}
	if err == nil {
		p.current, p.tag = id, tag
	}
	return id, err
}

// Load implements app.Snapshots.
func (p *published) Load(ctx context.Context, id string) (snapshotview.Input, error) {
	snap, err := p.place.Load(ctx, id, p.trusted...)
	if err == nil {
		err = p.place.Remember(ctx, id)
	}
	if err != nil {
		return snapshotview.Input{}, err
	}
	units, read := unitsOf(snap.Manifest.Observed)
	in := snapshotview.Input{
		Boards: snap.Boards, Observed: snap.Observed.Boards, Omitted: snap.Observed.Omitted, Units: units, UnitsRead: read, Refs: snap.Refs, Notes: snap.Manifest.Notes, Synthetic: snap.Manifest.Synthetic,
		Trials: snap.Manifest.SchemaVersion >= 2, Evidence: string(snap.Manifest.Evidence),
	}
	if snap.Manifest.AsOf != nil {
		in.AsOf = *snap.Manifest.AsOf
	}
	return in, nil
}

// unitsOf counts the pull requests or commits of studies, and those that they read.
func unitsOf(studies []publish.FieldStudy) (n, read int) {
	for _, s := range studies {
		n, read = n+s.Units, read+s.Read
	}
	return n, read
}
