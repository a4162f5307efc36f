package publish

import (
	"context"
	"path/filepath"

	"github.com/firstpick/firstpick/analytics/trialstore"
)

// Trials opens the trials of a snapshot, for figures that its documents do not hold.
// The snapshot must have been read by Load, which checks every byte.
func (s *Snapshot) Trials(ctx context.Context, root string) (*trialstore.Store, error) {
	return OpenTrials(ctx, root, s.ID)
}

// OpenTrials is Snapshot.Trials for a snapshot that Load has read and the caller has not
// kept.
func OpenTrials(ctx context.Context, root, id string) (*trialstore.Store, error) {
	return trialstore.OpenParquet(ctx, filepath.Join(root, id, trialsName))
}
