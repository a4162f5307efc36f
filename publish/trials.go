package publish

import (
	"context"
	"path/filepath"

	"github.com/firstpick/firstpick/analytics/trialstore"
)

// Trials opens the trials of a snapshot, for figures that its documents do not hold.
// The snapshot must have been read by Load, which checks every byte.
func (s *Snapshot) Trials(ctx context.Context) (*trialstore.Store, error) {
	return OpenTrials(ctx, s.root, s.ID)
}

// Trials is Snapshot.Trials for a snapshot that Load has read and the caller has not kept.
func (p Place) Trials(ctx context.Context, id string) (*trialstore.Store, error) {
	root, err := p.Fetch(ctx, id)
	if err != nil {
		return nil, err
	}
	return OpenTrials(ctx, root, id)
}

// OpenTrials is Place.Trials for a folder.
func OpenTrials(ctx context.Context, root, id string) (*trialstore.Store, error) {
	return trialstore.OpenParquet(ctx, filepath.Join(root, id, trialsName))
}
