package archive

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/handles"
)

// trialsFolder holds a folder for each category and eval of a snapshot.
const trialsFolder = "trials"

// evals returns the evals of a snapshot that have trials to read, as CATEGORY/EVAL: all, or
// those of one category; sorted. Names of evals may have slashes.
func (h *Handler) evals(ctx context.Context, id, category string) ([]string, error) {
	files, err := h.listed(ctx, id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, apierr.Internal(err)
	}
	out := []string{}
	for name := range files {
		eval, base := path.Split(name)
		eval, ok := strings.CutPrefix(strings.TrimSuffix(eval, "/"), trialsFolder+"/")
		if ok && base == trialset.FileNames()[0] && (category == "" || strings.HasPrefix(eval, category+"/")) {
			out = append(out, eval)
		}
	}
	slices.Sort(out)
	return out, nil
}

// A setKey names the trial set of an eval: eval is CATEGORY/EVAL.
type setKey struct{ snapshot, eval string }

// maxSets is how many trial sets are kept open; each takes two files.
const maxSets = 64

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
			return nil, err
		}
		folder := trialsFolder + "/" + key.eval
		var files []trialset.File
		for _, name := range trialset.FileNames() {
			f := listed[path.Join(folder, name)]
			f.Path = name
			files = append(files, f)
		}
		return trialset.Open(trialset.Place{
			Of: "snapshot", ID: key.snapshot + "/" + folder, Files: files,
			Open: func(name string) (trialset.Handle, int64, error) {
				return h.Source.Open(ctx, path.Join(key.snapshot, folder, name))
			},
		}, d)
	})
}

// set calls fn with the trial set of an eval.
func (h *Handler) set(id, eval string, fn func(*trialset.Set) error) error {
	set, release, err := h.sets.Get(setKey{id, eval})
	if err != nil {
		return err
	}
	defer release()
	return fn(set)
}
