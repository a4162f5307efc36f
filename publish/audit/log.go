package audit

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

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

// check checks what the log says of the snapshot in root, and that all others that it lists
// are served.
func (b *logbook) check(ctx context.Context, root, id string, m publish.Manifest) (*LogReport, error) {
	e, ok := b.live[id]
	if !ok {
		return nil, problem("log", "no entry of snapshot %s: it was published without the log, or removed", id)
	}
	data, err := os.ReadFile(filepath.Join(root, id, "manifest.json"))
	if err != nil {
		return nil, err
	}
	if got, want := content.Digest(data), e.digest; got != want {
		return nil, problem(id+"/manifest.json", "its digest is %s, entry %d of the log has %s", got, e.index, want)
	}
	if e.synthetic != m.Synthetic || !sameTime(e.asOf, m.AsOf) {
		return nil, problem(id+"/manifest.json", "synthetic is %t and asOf %s; entry %d of the log has %t and %s", m.Synthetic, timeText(m.AsOf), e.index, e.synthetic, timeText(e.asOf))
	}
	unlisted, err := b.registered(id, m)
	if err != nil {
		return nil, err
	}
	r := &LogReport{Before: b.before, Unlisted: unlisted, Key: hex.EncodeToString(b.view.Key), Trusted: b.trusts(b.view.Key), Entry: e.index}
	if err := b.checkServed(ctx, r, id); err != nil {
		return nil, err
	}
	r.Size, r.Root, r.Errata, r.Retraction = b.view.Size, b.view.Hash.String(), b.errata[id], b.retracted[id]
	if all := b.served(); len(all) > 0 && b.live[all[0]].index > e.index {
		r.Newest = &Newest{b.live[all[0]].index, all[0]}
	}
	return r, nil
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

func timeText(at *time.Time) string {
	if at == nil {
		return "missing"
	}
	return at.Format(time.RFC3339Nano)
}

// registered checks the registered runs of a manifest, and returns the registrations of its
// evals that no run in it has.
func (b *logbook) registered(id string, m publish.Manifest) (unlisted []int64, err error) {
	used := map[int64]bool{}
	for _, e := range m.Evals {
		for _, run := range e.Runs {
			if run.Registered == nil {
				continue
			}
			i := run.Registered.Index
			reason := b.contradicts(e, run)
			if used[i] && reason == "" {
				reason = "is the registration of another run, too"
			}
			if reason != "" {
				return nil, problem(id+"/manifest.json", "a run of eval %s/%s is registered as entry %d of the log, which %s", e.Category, e.Name, i, reason)
			}
			used[i] = true
		}
	}
	for i, entry := range b.registrations {
		same := func(e publish.Eval) bool { return e.Name == entry.Eval && e.Category == entry.Category }
		if !used[i] && slices.ContainsFunc(m.Evals, same) {
			unlisted = append(unlisted, i)
		}
	}
	slices.Sort(unlisted)
	return unlisted, nil
}

// contradicts returns why an entry cannot be the registration of a run; empty if it can.
func (b *logbook) contradicts(e publish.Eval, run publish.EvalRun) string {
	reg := run.Registered
	entry, ok := b.registrations[reg.Index]
	first := firstAnswer(e, run)
	switch {
	case !ok:
		return fmt.Sprintf("is not a registration; the log has %d entries", b.size)
	case entry.Eval != e.Name || entry.Category != e.Category:
		return fmt.Sprintf("is the registration of eval %s/%s", entry.Category, entry.Eval)
	case run.Published && entry.SHA256 != e.SHA256:
		return fmt.Sprintf("has the digest %s; that of the eval is %s", entry.SHA256, e.SHA256)
	case !reg.At.Equal(entry.At):
		return fmt.Sprintf("has the time %s, not %s", timeText(&entry.At), timeText(&reg.At))
	case run.Planned > entry.Planned || run.Planned < entry.Planned && entry.Until == "": // a stopping rule ends a run earlier
		return fmt.Sprintf("has %d planned trials, not %d", entry.Planned, run.Planned)
	case reg.Log != "" && reg.Log != translog.Origin(b.view.Key):
		return fmt.Sprintf("belongs to the log %s; the run names the log %.200s", translog.Origin(b.view.Key), reg.Log)
	case first != nil && entry.At.After(*first):
		return fmt.Sprintf("has the time %s, after an answer of the run at %s", timeText(&entry.At), timeText(first))
	}
	return ""
}

// firstAnswer returns the earliest published time of an answer of real agents in a run; nil
// without one. Of a run that is not published, that is its last answer.
func firstAnswer(e publish.Eval, run publish.EvalRun) (first *time.Time) {
	if !e.Synthetic {
		first = run.AsOf
	}
	if !run.Published {
		return first
	}
	for _, a := range e.Agents {
		for _, c := range a.Conditions {
			if c.Kind == "simulated" || c.Kind == "" && e.Synthetic {
				continue
			}
			if !c.From.IsZero() && (first == nil || c.From.Before(*first)) {
				first = &c.From
			}
		}
	}
	return first
}

// checkServed checks that the other snapshots of the log are still there, with the logged
// digest. The publisher may append entries and remove snapshots meanwhile.
func (b *logbook) checkServed(ctx context.Context, r *LogReport, id string) error {
	for {
		wanted := slices.DeleteFunc(b.served(), func(other string) bool { return other == id })
		if r.Unchecked = max(len(wanted)-maxServed, 0); r.Unchecked > 0 {
			wanted = wanted[:maxServed]
		}
		r.Served = len(wanted)
		err := b.look(ctx, wanted)
		if !errors.As(err, new(*PlaceError)) {
			return err
		}
		if grew, failed := b.update(ctx); failed != nil || !grew {
			return cmp.Or(failed, err)
		}
	}
}

// look returns the error of the newest of some snapshots that is not there as logged.
func (b *logbook) look(ctx context.Context, wanted []string) error {
	errs := make([]error, len(wanted))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, id := range wanted {
		g.Go(func() error { errs[i] = isServed(ctx, b.From, id, b.live[id]); return nil })
	}
	_ = g.Wait()
	return cmp.Or(errs...)
}

func isServed(ctx context.Context, from storage.Opener, id string, e logged) error {
	data, err := readManifest(ctx, from, id)
	var p *PlaceError
	if errors.As(err, &p) {
		p.Reason = fmt.Sprintf("%s (entry %d of the log, no later entry removes it)", p.Reason, e.index)
		return p
	}
	if err == nil && content.Digest(data) != e.digest {
		err = problem(id+"/manifest.json", "its digest differs from entry %d of the log", e.index)
	}
	return err
}

// explain explains an error of reading a snapshot that the log had: it was removed meanwhile.
func (b *logbook) explain(ctx context.Context, id string, err error) error {
	wrong := errors.As(err, new(*PlaceError)) || errors.As(err, new(*publish.DamageError))
	if b == nil || !wrong {
		return err
	}
	if _, was := b.live[id]; !was {
		return err
	}
	if _, failed := b.update(ctx); failed != nil {
		return failed
	}
	if _, is := b.live[id]; is {
		return err
	}
	return fmt.Errorf("the publisher removed snapshot %s while it was read; check again", id)
}
