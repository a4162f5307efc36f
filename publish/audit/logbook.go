package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/translog"
)

// A logbook is an opened log and what its entries say. Its size in memory follows from the
// limits of package translog.
type logbook struct {
	Options
	view   *translog.View
	before int64 // the size of the remembered head
	known  string
	note   string

	size int64 // how many entries are below
	// live are the snapshots that no later entry removes, by id.
	live          map[string]logged
	errata        map[string][]string
	retracted     map[string]string // reasons
	registrations map[int64]translog.Entry
}

// A logged is what is compared of the entry of a snapshot.
type logged struct {
	index     int64
	digest    string
	asOf      *time.Time
	synthetic bool
}

// open opens the log and reads it, checks its key and that it continues the remembered head,
// and remembers the new one. The logbook is nil for a place that never had a log.
func (o Options) open(ctx context.Context) (*logbook, error) {
	known, head, err := heads{o.Heads}.read(o.Address)
	if err != nil {
		return nil, err
	}
	view, err := translog.Open(ctx, o.From)
	if errors.Is(err, translog.ErrNoLog) {
		if head != nil {
			p := problem("log/checkpoint", "missing: the log was removed; before: %s", head)
			p.Next = o.evidence()
			return nil, p
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(o.Trusted) > 0 && !o.trusts(view.Key) {
		return nil, problem("log/checkpoint", "signed with the key %x, which is not trusted", []byte(view.Key))
	}
	b := &logbook{
		Options: o, known: known, live: map[string]logged{}, errata: map[string][]string{}, retracted: map[string]string{},
		registrations: map[int64]translog.Entry{},
	}
	if head != nil {
		b.before = head.Size
		if err := view.Extends(ctx, *head); err != nil {
			return nil, err
		}
	}
	return b, b.read(ctx, view)
}

// evidence says what to do with two heads that contradict each other.
func (o Options) evidence() string {
	return fmt.Sprintf("%s has the signed head before: keep a copy of it and of the new log/checkpoint as proof, and ask the publisher; to accept the new log, remove the entry %q from that file", o.Heads, o.Address)
}

// read reads the entries of a view after those that the logbook has, and remembers its head.
func (b *logbook) read(ctx context.Context, view *translog.View) error {
	err := view.Each(ctx, b.size, view.Size, func(i int64, e translog.Entry) error {
		switch e.Kind {
		case translog.Snapshot:
			if !validID(e.ID) {
				return problem("log", "entry %d has the invalid id %.40q", i, e.ID)
			}
			b.live[e.ID] = logged{i, e.ManifestSHA256, e.AsOf, e.Synthetic}
		case translog.Removal:
			delete(b.live, e.Snapshot)
		case translog.Erratum:
			b.errata[e.Snapshot] = append(b.errata[e.Snapshot], e.Text)
		case translog.Retraction:
			b.retracted[e.Snapshot] = e.Reason
		case translog.Registration:
			b.registrations[i] = e
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.view, b.size = view, view.Size
	b.note, err = heads{b.Heads}.remember(ctx, b.Address, b.known, view, b.Now)
	b.known = string(view.Checkpoint)
	return err
}

// update reads what was appended to the log meanwhile, and reports whether there was anything.
func (b *logbook) update(ctx context.Context) (grew bool, err error) {
	before := b.view.Head
	view, err := translog.Open(ctx, b.From)
	if errors.Is(err, translog.ErrNoLog) {
		return false, problem("log/checkpoint", "missing: the log was removed; before: %s", before)
	}
	if err == nil {
		err = view.Extends(ctx, before)
	}
	if err != nil || view.Size == before.Size {
		return false, err
	}
	return true, b.read(ctx, view)
}

// served returns the ids of the snapshots that must be there, newest first. A retracted one
// may be missing.
func (b *logbook) served() (ids []string) {
	for id := range b.live {
		if _, ok := b.retracted[id]; !ok {
			ids = append(ids, id)
		}
	}
	sorting.Func(ids, func(x, y string) int { return cmp.Compare(b.live[y].index, b.live[x].index) })
	return ids
}
