package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/translog"
	console "github.com/firstpick/firstpick/server/console/operator"
)

// promoter lets operators promote the snapshots of a folder or bucket in the browser. It
// implements operator.Snapshots.
type promoter struct {
	place   publish.Place
	trusted []ed25519.PublicKey // as in published
}

// List implements operator.Snapshots.
func (p promoter) List(ctx context.Context) ([]console.Snapshot, string, error) {
	infos, err := p.place.List(ctx)
	current, currentErr := p.place.Current(ctx)
	if errors.Is(currentErr, publish.ErrNotFound) {
		currentErr = nil
	}
	entries, logErr := logged(ctx, p.place.Store)
	corrections := translog.Corrections(entries)
	out := make([]console.Snapshot, len(infos))
	for i, s := range infos {
		out[i] = console.Snapshot{
			ID: s.ID, CreatedAt: s.CreatedAt, Boards: s.Counts.Categories, Trials: s.Counts.Trials, Synthetic: s.Synthetic, Signed: s.Signed,
			Current: s.ID == current, Retracted: corrections[s.ID].Retracted,
		}
		if s.AsOf != nil {
			out[i].AsOf = *s.AsOf
		}
	}
	return out, current, errors.Join(err, currentErr, logErr)
}

// Promote implements operator.Snapshots. It refuses what firstpick snapshot promote refuses,
// and what this server would not serve.
func (p promoter) Promote(ctx context.Context, id, before string) error {
	if err := publish.CheckID(id); err != nil {
		return &console.Refusal{Text: "malformed snapshot id."}
	}
	entries, err := logged(ctx, p.place.Store)
	if err != nil {
		return err
	}
	if reason := translog.Corrections(entries)[id].Retracted; reason != "" {
		return &console.Refusal{Text: "the log retracts it: " + reason}
	}
	if len(p.trusted) > 0 {
		_, err = p.place.Load(ctx, id, p.trusted...)
	}
	if err == nil {
		err = p.place.PromoteFrom(ctx, id, before)
	}
	var damage *publish.DamageError
	switch {
	case errors.Is(err, publish.ErrMoved):
		return &console.Refusal{Text: "another snapshot became the current one meanwhile. Look at the list again, then decide."}
	case errors.Is(err, publish.ErrNotFound):
		return &console.Refusal{Text: "it is not in " + p.place.Store.String() + " any more."}
	case errors.As(err, &damage):
		return &console.Refusal{Text: err.Error()}
	}
	return err
}

// Command implements operator.Snapshots.
func (p promoter) Command(id string) string {
	store, err := absolute(p.place.Store)
	if err != nil {
		store = p.place.Store
	}
	return "firstpick snapshot promote " + id + " --snapshots " + shellWord(store.String())
}

// shellWord quotes a text for a POSIX shell where that is necessary.
func shellWord(text string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@%+=", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !safe(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
