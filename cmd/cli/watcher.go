package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// lookEvery is how often the pointer to the current snapshot is read.
const lookEvery = 500 * time.Millisecond

// A watcher follows the pointer to the current snapshot and hands every new one
// to the server. A snapshot that does not load is told once, and the server
// keeps the one it has.
type watcher struct {
	root, base string
	holder     *snapshotview.Holder
	log        *slog.Logger
	sleep      func(context.Context, time.Duration) error
	// trusted are the keys of which one must have signed a snapshot; none asks for no
	// signature.
	trusted []ed25519.PublicKey

	refused string // id, with the error, of the snapshot that was told last
	serving string
}

func (w *watcher) run(ctx context.Context) {
	for w.sleep(ctx, lookEvery) == nil {
		w.look()
	}
}

// trustedKeys reads the keys of the configuration's trust.
func trustedKeys(files []string) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for _, file := range files {
		key, err := publish.ReadPublicKey(file)
		if err != nil {
			return nil, badInput(fmt.Errorf("trust: %w", err))
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// look serves the current snapshot if it is another than before.
func (w *watcher) look() {
	id, err := publish.Current(w.root)
	if errors.Is(err, publish.ErrNotFound) || err == nil && id == w.serving {
		return
	}
	if err == nil {
		err = w.take(id)
	}
	if err == nil {
		w.refused = ""
		return
	}
	if told := id + err.Error(); told != w.refused {
		w.refused = told
		w.log.Error("the current snapshot is refused; the one before stays", "id", id, "serving", w.serving, "err", err)
	}
}

func (w *watcher) take(id string) error {
	snap, err := publish.LoadSigned(w.root, id, w.trusted)
	if err != nil {
		return err
	}
	in := snapshotview.Input{
		ID: id, Boards: snap.Boards, Refs: snap.Refs, BaseURL: w.base,
		Notes: snap.Manifest.Notes, Synthetic: snap.Manifest.Synthetic,
	}
	if snap.Manifest.AsOf != nil {
		in.AsOf = *snap.Manifest.AsOf
	}
	built, err := snapshotview.Build(in)
	if err != nil {
		return err
	}
	w.holder.Set(built)
	w.serving = id
	w.log.Info("serving snapshot", "id", id, "categories", len(snap.Boards))
	return nil
}
