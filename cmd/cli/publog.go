package cli

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/audit"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

// A publicLog appends to the log of the snapshots.
type publicLog struct {
	*app
	translog.Log
	key     ed25519.PublicKey // that the log keeps; nil before the first entry
	entries []translog.Entry  // as of the last read
}

// publicLog opens the log of a place for appending. A log keeps its first key: that in the
// file sign, or else the data folder's own one, which add creates with the log.
func (a *app) publicLog(ctx context.Context, place storage.Store, sign string) (l *publicLog, err error) {
	l = &publicLog{app: a, Log: translog.Log{Store: place}}
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	if sign != "" {
		if l.Signer, err = publish.ReadPrivateKey(sign); err != nil {
			return nil, badInput(err)
		}
	} else if _, local := place.(storage.Folder); !local {
		return nil, usageErr("openssl genpkey -algorithm ed25519 -out KEY creates one; store it with your secrets, because the log keeps its key",
			"%s is not a local folder: sign its log with --sign KEY", place)
	}
	if l.Signer == nil || l.key != nil && !l.key.Equal(l.Signer.Public()) {
		if l.Signer, err = a.ownKey(); err != nil {
			return nil, err
		}
	}
	if l.key != nil && (l.Signer == nil || !l.key.Equal(l.Signer.Public())) {
		return nil, otherKey(place)
	}
	return l, nil
}

// headsFile is the memory of logs in the data folder, which verify --data shares.
func (a *app) headsFile() string { return filepath.Join(a.cfg.Data, "heads.json") }

// read reads the log, if there is one. It must continue its last head: otherwise a backup was
// restored, and another entry would fork the log.
func (l *publicLog) read(ctx context.Context) error {
	place, err := absolute(l.Store)
	if err != nil {
		return err
	}
	view, err := audit.OpenLog(ctx, audit.Options{From: place, Address: place.String(), Heads: l.headsFile(), Now: l.env.Now()})
	var fork *translog.ForkError
	var removed *audit.PlaceError
	if errors.As(err, &fork) || errors.As(err, &removed) {
		return usageErr(fmt.Sprintf("restore the newer copy of the log; or remove the entry %s from %s to continue with this copy, then firstpick verify fails for everyone who checked the newer one",
			place, l.headsFile()), "the log in %s does not continue the one of the last time: %w", place, err)
	}
	if err != nil || view == nil {
		return err
	}
	l.key = view.Key
	l.entries, err = view.Entries(ctx, 0, view.Size)
	return err
}

func otherKey(place storage.Store) error {
	return usageErr("give the key that began the log with --sign KEY; firstpick publish --snapshots PLACE begins a log of its own in another place",
		"the log in %s is signed with another key, and a log keeps its first one", place)
}

// now is the time of an entry, in the seconds that the log keeps.
func (l *publicLog) now() time.Time { return l.env.Now().UTC().Truncate(time.Second) }

// add appends entries and remembers the new head.
func (l *publicLog) add(ctx context.Context, entries ...translog.Entry) (index int64, err error) {
	if l.Signer == nil { // these are the first entries
		if l.Signer, err = l.newKey(); err != nil {
			return 0, err
		}
	}
	index, err = l.Append(ctx, entries...)
	if errors.Is(err, translog.ErrOtherKey) { // begun by another process meanwhile
		err = otherKey(l.Store)
	}
	if err == nil {
		err = l.read(ctx)
	}
	return index, err
}

// published appends a snapshot that is in its place, unless the log has it by now. The error
// is fs.ErrNotExist if it is not in its place.
func (l *publicLog) published(ctx context.Context, id string) error {
	data, _, err := storage.ReadAll(ctx, l.Store, id+"/manifest.json")
	if err != nil {
		return err
	}
	var m publish.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	if err := l.read(ctx); err != nil { // other publishers append meanwhile
		return err
	}
	if err := retracted(l.entries, id); err != nil {
		return err
	}
	digest := content.Digest(data)
	if at, ok := translog.Live(l.entries)[id]; ok && l.entries[at].ManifestSHA256 == digest {
		return nil
	}
	_, err = l.add(ctx, translog.Entry{Kind: translog.Snapshot, At: l.now(), ID: id, ManifestSHA256: digest, AsOf: m.AsOf, Synthetic: m.Synthetic})
	return err
}

// retracted returns an error if a snapshot is retracted.
func retracted(entries []translog.Entry, id string) error {
	reason := translog.Corrections(entries)[id].Retracted
	if reason == "" {
		return nil
	}
	return usageErr("firstpick snapshot list shows the others, and firstpick snapshot promote ID makes one of them the current one; or publish another run",
		"snapshot %s is retracted: %s", id, printableText(reason))
}

// logged returns the entries of the log at a place; nil without a log.
func logged(ctx context.Context, from storage.Opener) ([]translog.Entry, error) {
	view, err := translog.Open(ctx, from)
	if errors.Is(err, translog.ErrNoLog) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return view.Entries(ctx, 0, view.Size)
}

// resolve returns the id of a snapshot in the log from the start of it.
func (l *publicLog) resolve(name string) (string, error) {
	found := map[string]bool{}
	for _, e := range l.entries {
		if e.Kind == translog.Snapshot && name != "" && strings.HasPrefix(e.ID, name) {
			found[e.ID] = true
		}
	}
	if len(found) != 1 {
		return "", usageErr("firstpick log lists them; give a longer prefix if there are several", "%q is the start of %d snapshots of the log", name, len(found))
	}
	for id := range found {
		name = id
	}
	return name, nil
}

// removed appends the removals of snapshots that will be deleted, before they are, and of
// those that the place lost. It returns the log and the ids of the removals; nil without any.
func (a *app) removed(ctx context.Context, from storage.Store, sign string, ids []string) (*publicLog, []string, error) {
	l := &publicLog{app: a, Log: translog.Log{Store: from}}
	if err := l.read(ctx); err != nil || l.key == nil {
		return nil, nil, err
	}
	files, err := from.List(ctx, "") // after the log: what is logged was there before
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name] = true
	}
	var logged []string
	for id := range translog.Live(l.entries) {
		if lost := !there[id+"/manifest.json"]; lost || slices.Contains(ids, id) {
			logged = append(logged, id)
			if lost {
				a.note("snapshot %s of the log is missing in %s; its removal is entered in the log", id, from)
			}
		}
	}
	if len(logged) == 0 {
		return nil, nil, nil
	}
	slices.Sort(logged)
	if l, err = a.publicLog(ctx, from, sign); err != nil {
		return nil, nil, err
	}
	var removals []translog.Entry
	for _, id := range logged {
		removals = append(removals, translog.Entry{Kind: translog.Removal, At: l.now(), Snapshot: id})
	}
	_, err = l.add(ctx, removals...)
	return l, logged, err
}
