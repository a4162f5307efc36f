package publish

import (
	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/publish/trialset"
)

// OpenTraces opens the trials of an eval of a snapshot below root, which the caller closes.
func (s *Snapshot) OpenTraces(root, category, eval string, decoder *zstd.Decoder) (*trialset.Set, error) {
	dir, err := openSnapshot(root, s.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return openTraces(dir, s.ID, s.Manifest, category, eval, decoder)
}
