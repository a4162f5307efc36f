package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/runner/filelock"
)

// OpenLog opens the log at o.From, checks that it continues the head that o.Heads remembers
// for o.Address, and remembers its head. The view is nil for a place that never had a log. The error
// is a *translog.ForkError, or a *PlaceError if the log was removed.
func OpenLog(ctx context.Context, o Options) (*translog.View, error) {
	b, err := o.open(ctx)
	if b == nil {
		return nil, err
	}
	return b.view, err
}

// heads is the memory of the last head of each log, by address. It holds signed heads: two
// that contradict each other prove what the key's owner did.
type heads struct{ file string }

type seenHead struct {
	Checkpoint string    `json:"checkpoint"`
	Seen       time.Time `json:"seen"`
}

// A HeadsError means that the memory of heads cannot be read. It does not blame the place.
type HeadsError struct {
	File string
	Err  error
}

// Error implements error.
func (e *HeadsError) Error() string { return "the memory of logs " + e.File + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *HeadsError) Unwrap() error { return e.Err }

func (h heads) all() (map[string]seenHead, error) {
	out := map[string]seenHead{}
	if _, err := os.Stat(h.file); err != nil {
		return out, nil //nolint:nilerr // nothing is remembered
	}
	data, err := os.ReadFile(h.file)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, &HeadsError{h.file, err}
	}
	return out, nil
}

// read returns the remembered checkpoint of an address and its head; nil if absent.
func (h heads) read(address string) (checkpoint string, head *translog.Head, err error) {
	all, err := h.all()
	if err != nil || all[address].Checkpoint == "" {
		return "", nil, err
	}
	checkpoint = all[address].Checkpoint
	parsed, err := translog.ParseCheckpoint([]byte(checkpoint))
	if err != nil {
		return "", nil, &HeadsError{h.file, fmt.Errorf("the head of %s is damaged: %v", address, err)} //nolint:errorlint // the place's files are not meant
	}
	return checkpoint, &parsed, nil
}

// remember replaces the remembered checkpoint of an address, known, by that of a view, which
// was compared with it. If another process remembered another head meanwhile, it compares
// with that one too, and the larger one stays. It returns a note where the file cannot be written.
func (h heads) remember(ctx context.Context, address, known string, view *translog.View, now time.Time) (note string, err error) {
	for h.file != "" {
		done, err := h.replace(address, known, string(view.Checkpoint), now)
		if done {
			return "", nil
		}
		if err != nil {
			return fmt.Sprintf("the head of the log is not remembered: %v", err), nil //nolint:nilerr // a note
		}
		checkpoint, other, err := h.read(address)
		if err != nil {
			return "", err
		}
		if known = checkpoint; other == nil {
			continue
		}
		if err := view.Agrees(ctx, *other); err != nil || other.Size >= view.Size {
			return "", err
		}
	}
	return "", nil
}

// replace replaces a checkpoint, and reports whether it was the one that the caller knows.
func (h heads) replace(address, known, checkpoint string, now time.Time) (done bool, err error) {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o755); err != nil {
		return false, err
	}
	lock, err := os.OpenFile(h.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := filelock.Lock(lock); err != nil {
		return false, err
	}
	all, err := h.all()
	if err != nil || all[address].Checkpoint != known {
		return false, err
	}
	all[address] = seenHead{checkpoint, now.UTC()}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return false, err
	}
	tmp := h.file + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return false, err
	}
	if err := os.Rename(tmp, h.file); err != nil {
		return false, err
	}
	return true, nil
}
