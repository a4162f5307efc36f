package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// published reads the snapshots of a folder. It implements app.Snapshots of package
// server/app, which does not know how snapshots are stored.
type published struct {
	root string
	// trusted are the accepted signing keys; if empty, unsigned snapshots are accepted
	// too.
	trusted []ed25519.PublicKey
}

// publishedSnapshots returns the snapshots that a server of this configuration serves.
func (a *app) publishedSnapshots() (*published, error) {
	root, err := a.snapshotsRoot("")
	if err != nil {
		return nil, err
	}
	trusted, err := trustedKeys(a.cfg.Trust)
	return &published{root, trusted}, err
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

// Current implements app.Snapshots.
func (p *published) Current() (string, error) {
	id, err := publish.Current(p.root)
	if errors.Is(err, publish.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// Load implements app.Snapshots.
func (p *published) Load(id string) (snapshotview.Input, error) {
	snap, err := publish.LoadSigned(p.root, id, p.trusted)
	if err != nil {
		return snapshotview.Input{}, err
	}
	in := snapshotview.Input{Boards: snap.Boards, Refs: snap.Refs, Notes: snap.Manifest.Notes, Synthetic: snap.Manifest.Synthetic, Trials: snap.Manifest.SchemaVersion >= 2}
	if snap.Manifest.AsOf != nil {
		in.AsOf = *snap.Manifest.AsOf
	}
	return in, nil
}
