package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/pick"
)

// A Bundle is open for reading: its set of trials, and what is private to workspaces. Its
// methods may be called by many goroutines.
type Bundle struct {
	ID       string
	Manifest format.Manifest
	*trialset.Set

	root   *os.Root
	scores []byte
}

// Open opens the bundle root/id. It fails with trialset.ErrNotFound for a missing bundle
// and with a *trialset.DamageError for one that was altered.
func Open(root, id string) (*Bundle, error) { return openWith(root, id, nil) }

// openWith opens a bundle that unpacks with a decoder that others may use too.
func openWith(root, id string, decoder *zstd.Decoder) (_ *Bundle, err error) {
	if !regexp.MustCompile(`^[0-9a-f]{20}$`).MatchString(id) {
		return nil, fmt.Errorf("run bundle %q: an id has 20 digits of 0-9a-f: %w", id, trialset.ErrNotFound)
	}
	dir, err := os.OpenRoot(filepath.Join(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run bundle %s: %w", id, trialset.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("run bundle %s: %w", id, err)
	}
	b := &Bundle{ID: id, root: dir}
	if err := b.load(decoder); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return b, nil
}

// Close closes the files. Concurrent reads fail or finish normally.
func (b *Bundle) Close() error { return errors.Join(b.root.Close(), b.Set.Close()) }

func (b *Bundle) load(decoder *zstd.Decoder) error {
	place := trialset.Place{Of: "run bundle", ID: b.ID, Open: trialset.InRoot(b.root, ".")}
	data, err := place.Read(format.ManifestName)
	if err != nil {
		return err
	}
	if b.Manifest, err = parseManifest(b.ID, data); err != nil {
		return err
	}
	place.Files = b.Manifest.Files
	if b.scores, err = place.Document(format.ScoresName); err != nil {
		return err
	}
	trials, _, err := place.Sized(format.TrialsName) // its hash is for those who download it
	if err != nil {
		return err
	}
	if err := trials.Close(); err != nil { // reopened for each reader
		return err
	}
	b.Set, err = trialset.Open(place, decoder)
	return err
}

// Scores returns scores.json as it is. It must not be changed.
func (b *Bundle) Scores() []byte { return b.scores }

// ReadScores returns the scores as values. Their URLs begin with base, an address
// without trailing slash: in the bundle they are paths.
func (b *Bundle) ReadScores(base string) (*format.Scores, error) {
	var s format.Scores
	if err := json.Unmarshal(b.scores, &s); err != nil {
		return nil, damaged(b.ID, format.ScoresName, err.Error())
	}
	s.Board = s.Board.WithBase(base)
	for i := range s.Agents {
		s.Agents[i].Board = s.Agents[i].Board.WithBase(base)
	}
	return &s, nil
}

// ErrNoExplanations means that a bundle was written before bundles had explanations.
var ErrNoExplanations = errors.New("the run bundle has no explanations")

// Explanations reads explanations.json. It fails with ErrNoExplanations for a bundle of
// version 1.
func (b *Bundle) Explanations() (*format.Explanations, error) {
	if b.Manifest.SchemaVersion < 2 {
		return nil, fmt.Errorf("run bundle %s: %w", b.ID, ErrNoExplanations)
	}
	data, err := b.Place().Document(format.ExplanationsName)
	if err != nil {
		return nil, err
	}
	var e format.Explanations
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, damaged(b.ID, format.ExplanationsName, err.Error())
	}
	if len(e.Tools) != len(e.Reports) {
		return nil, damaged(b.ID, format.ExplanationsName, fmt.Sprintf("%d tools and %d reports", len(e.Tools), len(e.Reports)))
	}
	return &e, nil
}

// Cells returns the valid trials by prompt, agent, outcome and pick, for comparing pick
// rates. The index has neither shortlists nor times: rates of these and ranks are in
// Scores. A cell's prompt is its id in the eval. Cells are sorted.
func (b *Bundle) Cells(ctx context.Context) ([]analytics.Cell, error) {
	counts, err := b.Counts(ctx)
	if err != nil {
		return nil, err
	}
	var groups []analytics.Group
	for _, c := range counts {
		if c.Outcome != trialset.Excluded {
			groups = append(groups, analytics.Group{
				Prompt: c.Prompt, Agent: c.Agent, Outcome: pick.Kind(c.Outcome), Picked: c.Picked, Trials: c.Trials, Mismatched: c.Mismatched,
			})
		}
	}
	return analytics.Cells(groups), nil
}

// Parquet opens trials.parquet and returns it with its size. The caller closes it.
func (b *Bundle) Parquet() (io.ReadSeekCloser, int64, error) {
	f, is, err := b.Place().Sized(format.TrialsName)
	if err != nil {
		return nil, 0, err
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{io.NewSectionReader(f, 0, is.Bytes), f}, is.Bytes, nil
}
