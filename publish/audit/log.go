package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

const (
	// maxServed limits the snapshots that are looked for: the newest ones.
	maxServed = 1000
	// parallel is how many of them are looked for at the same time.
	parallel = 8
)

// checkLog checks what the log says of the snapshot in root, and that all others that it
// lists are served.
func checkLog(ctx context.Context, from storage.Opener, view *translog.View, root, id string, m publish.Manifest, r *LogReport) error {
	entries, err := view.Entries(ctx, 0, view.Size)
	if err != nil {
		return problem("log", "%v", err)
	}
	live := translog.Live(entries)
	at, ok := live[id]
	if !ok {
		return problem("log", "no entry of snapshot %s: it was published without the log, or removed", id)
	}
	data, err := os.ReadFile(filepath.Join(root, id, "manifest.json"))
	if err != nil {
		return err
	}
	if got, want := content.Digest(data), entries[at].ManifestSHA256; got != want {
		return problem(id+"/manifest.json", "its digest is %s, entry %d of the log has %s", got, at, want)
	}
	if err := view.Includes(ctx, int64(at)); err != nil {
		return problem("log", "%v", err)
	}
	r.Entry = int64(at)
	for _, e := range entries {
		switch {
		case e.Kind == translog.Erratum && e.Snapshot == id:
			r.Errata = append(r.Errata, e.Text)
		case e.Kind == translog.Retraction && e.Snapshot == id:
			r.Retraction = e.Reason
		}
	}
	if r.Unlisted, err = registrations(entries, id, m); err != nil {
		return err
	}
	return r.served(ctx, from, entries, live, id)
}

// registrations checks the registered runs of a manifest, and returns the registrations of
// its evals that no run in it has.
func registrations(entries []translog.Entry, id string, m publish.Manifest) (unlisted []int64, err error) {
	used := map[int64]bool{}
	for _, e := range m.Evals {
		for _, run := range e.Runs {
			reg := run.Registered
			if reg == nil {
				continue
			}
			used[reg.Index] = true
			if reg.Index < 0 || reg.Index >= int64(len(entries)) {
				return nil, problem(id+"/manifest.json", "eval %s names entry %d of the log, which has %d", e.Name, reg.Index, len(entries))
			}
			entry := entries[reg.Index]
			if entry.Kind != translog.Registration || entry.Eval != e.Name || entry.Category != e.Category || run.Published && entry.SHA256 != e.SHA256 {
				return nil, problem(id+"/manifest.json", "entry %d of the log is not the registration of the run of eval %s", reg.Index, e.Name)
			}
		}
	}
	for i, entry := range entries {
		same := func(e publish.Eval) bool { return e.Name == entry.Eval && e.Category == entry.Category }
		if entry.Kind == translog.Registration && !used[int64(i)] && slices.ContainsFunc(m.Evals, same) {
			unlisted = append(unlisted, int64(i))
		}
	}
	return unlisted, nil
}

// served checks that the snapshots of the log are still there, with the logged digest. A
// retracted one may be missing.
func (r *LogReport) served(ctx context.Context, from storage.Opener, entries []translog.Entry, live map[string]int, current string) error {
	for _, e := range entries {
		if e.Kind == translog.Retraction {
			delete(live, e.Snapshot)
		}
	}
	delete(live, current)
	var wanted []int
	for _, at := range live {
		wanted = append(wanted, at)
	}
	slices.Sort(wanted)
	slices.Reverse(wanted)
	if len(wanted) > maxServed {
		r.Unchecked = len(wanted) - maxServed
		wanted = wanted[:maxServed]
	}
	r.Served = len(wanted)
	errs := make([]error, len(wanted))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, at := range wanted {
		g.Go(func() error { errs[i] = isServed(ctx, from, at, entries[at]); return nil })
	}
	_ = g.Wait()
	for _, err := range errs { // the newest first
		if err != nil {
			return err
		}
	}
	return nil
}

func isServed(ctx context.Context, from storage.Opener, at int, e translog.Entry) error {
	if !validID(e.ID) {
		return problem("log", "entry %d has the invalid id %.40q", at, e.ID)
	}
	data, err := readManifest(ctx, from, e.ID)
	var p *PlaceError
	if errors.As(err, &p) {
		p.Reason = fmt.Sprintf("%s (entry %d of the log, no later entry removes it)", p.Reason, at)
		return p
	}
	if err == nil && content.Digest(data) != e.ManifestSHA256 {
		err = problem(e.ID+"/manifest.json", "its digest differs from entry %d of the log", at)
	}
	return err
}
