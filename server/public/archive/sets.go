package archive

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"sync"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/handles"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A setKey names the trial set of an eval.
type setKey struct{ snapshot, category, eval string }

// evals returns the evals of a site that have trials to read: all, or those of one category;
// sorted.
func (h *Handler) evals(ctx context.Context, s *snapshotview.Site, category string) ([]setKey, error) {
	files, err := h.listed(ctx, s.ID)
	if has := s.Trials && h.Source != (None{}); err != nil && (has || !errors.Is(err, fs.ErrNotExist)) {
		return nil, unread(removed(err))
	}
	out := []setKey{}
	for name := range files {
		in, eval, ok := trialset.ParseFolder(path.Dir(name))
		if ok && path.Base(name) == trialset.FileNames()[0] && (category == "" || in == category) {
			out = append(out, setKey{s.ID, in, eval})
		}
	}
	sorting.Func(out, func(a, b setKey) int {
		return cmp.Or(cmp.Compare(a.category, b.category), cmp.Compare(a.eval, b.eval))
	})
	return out, nil
}

// maxSets is how many trial sets are kept open; each takes two files.
const maxSets = 64

// errRemoved means that a file of the current snapshot is no longer at its place.
var errRemoved = errors.New("a file of the current snapshot was removed")

// removed converts the error of a missing file.
func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errRemoved
	}
	return err
}

func (h *Handler) newSets() *handles.Cache[setKey, *trialset.Set] {
	decoder := sync.OnceValues(trialset.NewDecoder)
	return handles.NewCache(maxSets, func(key setKey) (*trialset.Set, error) {
		ctx := context.Background() // it outlives the request that opens it
		d, err := decoder()
		if err != nil {
			return nil, err
		}
		listed, err := h.listed(ctx, key.snapshot)
		if err != nil {
			return nil, removed(err)
		}
		folder := trialset.Folder(key.category, key.eval)
		var files []trialset.File
		for _, name := range trialset.FileNames() {
			f := listed[path.Join(folder, name)]
			f.Path = name
			files = append(files, f)
		}
		return trialset.Open(trialset.Place{
			Of: "snapshot", ID: key.snapshot + "/" + folder, Files: files,
			Open: func(name string) (trialset.Handle, int64, error) {
				f, size, err := h.Source.Open(ctx, path.Join(key.snapshot, folder, name))
				return f, size, removed(err)
			},
		}, d)
	})
}

// set calls fn with the trial set of an eval.
func (h *Handler) set(key setKey, fn func(*trialset.Set) error) error {
	set, release, err := h.sets.Get(key)
	if err != nil {
		return err
	}
	defer release()
	return fn(set)
}
