package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	view, _, err := o.open(ctx)
	return view, err
}

// heads is the memory of the last head of each log, by address. It holds signed heads: two
// that contradict each other prove what the key's owner did.
type heads struct{ file string }

type seenHead struct {
	Checkpoint string    `json:"checkpoint"`
	Seen       time.Time `json:"seen"`
}

func (h heads) all() (map[string]seenHead, error) {
	out := map[string]seenHead{}
	data, err := os.ReadFile(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("the memory of logs %s: %w", h.file, err)
	}
	return out, nil
}

// read returns the remembered head of an address; nil for none.
func (h heads) read(address string) (*translog.Head, error) {
	if h.file == "" {
		return nil, nil
	}
	all, err := h.all()
	if err != nil {
		return nil, err
	}
	seen, ok := all[address]
	if !ok {
		return nil, nil
	}
	head, err := translog.ParseCheckpoint([]byte(seen.Checkpoint))
	if err != nil {
		return nil, fmt.Errorf("the memory of logs %s: %s: %w", h.file, address, err)
	}
	return &head, nil
}

// write remembers a head, unless another process remembered a larger one meanwhile.
func (h heads) write(address string, checkpoint []byte, now time.Time) (err error) {
	if h.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(h.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := filelock.Lock(lock); err != nil {
		return err
	}
	all, err := h.all()
	if err != nil {
		return err
	}
	head, err := translog.ParseCheckpoint(checkpoint)
	if err != nil {
		return err
	}
	if known, err := translog.ParseCheckpoint([]byte(all[address].Checkpoint)); err == nil && known.Key.Equal(head.Key) && known.Size > head.Size {
		return nil
	}
	all[address] = seenHead{string(checkpoint), now.UTC()}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	tmp := h.file + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, h.file)
}
