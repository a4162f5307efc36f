package archive

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/handles"
)

// trialsFolder holds a folder for each category and eval of a snapshot.
const trialsFolder = "trials"

// evals returns the evals of a snapshot that have trials to read, as CATEGORY/EVAL: all,
// those of one category, or the one of a name; sorted.
func (h *Handler) evals(ctx context.Context, id, category, eval string) ([]string, error) {
	files, err := h.listed(ctx, id)
	if err != nil {
		return nil, missing(err)
	}
	out := []string{}
	for name := range files {
		parts := strings.Split(name, "/")
		if len(parts) == 4 && parts[0] == trialsFolder && parts[3] == trialset.FileNames()[0] &&
			(category == "" || category == parts[1]) && (eval == "" || eval == parts[2]) {
			out = append(out, parts[1]+"/"+parts[2])
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
