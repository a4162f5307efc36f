// Package archive serves what is published besides the view of the current snapshot: the
// list of snapshots and their files, the log, the history, what changed, and the trials of
// the current snapshot, read by page.
package archive

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/handles"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A Source is the place of the published snapshots and the log. Its methods may be called
// by many goroutines.
type Source interface {
	// Stamp changes when a snapshot was added, removed or promoted, and with the log. It is
	// cheap.
	Stamp(ctx context.Context) (string, error)
	// Snapshots lists the snapshots, newest first. Unreadable ones are left out.
	Snapshots(ctx context.Context) ([]Snapshot, error)
	// Files returns the files of a snapshot's manifest. The error is fs.ErrNotExist for a
	// missing snapshot.
	Files(ctx context.Context, id string) ([]trialset.File, error)
	// Open opens a file by its name below the place, such as ID/manifest.json or
	// log/checkpoint, and returns its size. The error is fs.ErrNotExist for a missing file.
	Open(ctx context.Context, name string) (File, int64, error)
	// History returns the series of a category over all snapshots, oldest first.
	History(ctx context.Context, category string) (nights.Series, error)
	// Changes returns what moved from one snapshot to another.
	Changes(ctx context.Context, older, newer string) ([]analytics.Change, error)
}

// A File is open for reading.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// A Snapshot is a line of the list of snapshots.
type Snapshot struct {
	ID string `json:"id"`
	// AsOf is when its last trial finished, PublishedAt when it was written to this place.
	AsOf        *time.Time `json:"asOf"`
	PublishedAt time.Time  `json:"publishedAt"`
	Counts      Counts     `json:"counts"`
	Synthetic   bool       `json:"synthetic"`
	// Signed says that a signature is there, not that it is valid.
	Signed  bool `json:"signed"`
	Current bool `json:"current"`
	// Retracted is the reason of its retraction in the log, Errata are the corrections there.
	Retracted string   `json:"retracted,omitempty"`
	Errata    []string `json:"errata,omitempty"`
	// URL is that of its manifest.
	URL string `json:"url"`
	// Entry is its place in the log; nil without one. Pages alone show it.
	Entry *int `json:"-"`
}

// Counts are the totals of a snapshot: trials are valid ones, tools are places on boards.
type Counts struct {
	Categories int `json:"categories"`
	Tools      int `json:"tools"`
	Planned    int `json:"planned"`
	Trials     int `json:"trials"`
}

// None is a Source without snapshots.
type None struct{}

// Stamp implements Source.
func (None) Stamp(context.Context) (string, error) { return "", nil }

// Snapshots implements Source.
func (None) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Files implements Source.
func (None) Files(context.Context, string) ([]trialset.File, error) { return nil, fs.ErrNotExist }

// Open implements Source.
func (None) Open(context.Context, string) (File, int64, error) { return nil, 0, fs.ErrNotExist }

// History implements Source.
func (None) History(_ context.Context, category string) (nights.Series, error) {
	return nights.Series{Category: category, Nights: []nights.Line{}}, nil
}

// Changes implements Source.
func (None) Changes(context.Context, string, string) ([]analytics.Change, error) {
	return nil, fs.ErrNotExist
}

// A Config has the parts of a Handler. All fields but LimitsOff are required.
type Config struct {
	Source    Source
	Current   func() *snapshotview.Site
	Sender    *snapshotview.Sender
	Errors    apierr.Writer
	Log       *slog.Logger
	Now       func() time.Time
	BaseURL   string // public address without trailing slash
	LimitsOff bool
}

// A Handler serves the archive.
type Handler struct {
	Config
	calls *ratelimit.Limiter[netip.Addr] // of files
	made  memo
	stamp *stamps
	sets  *handles.Cache[setKey, *trialset.Set]
	whole chan struct{}                   // trials that are read whole
	docs  chan struct{}                   // files of the log that are read
	files reads[map[string]trialset.File] // by snapshot and path
	logs  reads[document]                 // by name
	head  atomic.Pointer[string]          // the tag of the last checkpoint
}

// FilesPerMinute is how many files of snapshots and the log one address may get: a whole
// snapshot, several times.
const FilesPerMinute = 6000

// New builds a Handler.
func New(c Config) *Handler {
	h := &Handler{
		Config: c, stamp: &stamps{read: c.Source.Stamp, now: c.Now}, whole: make(chan struct{}, maxWhole), docs: make(chan struct{}, maxWhole),
		files: reads[map[string]trialset.File]{now: c.Now, most: maxManifests, size: func(map[string]trialset.File) int { return 1 }},
		logs:  reads[document]{now: c.Now, most: maxLogs, size: func(d document) int { return len(d.data) }},
		calls: ratelimit.ByAddress(ratelimit.Rule{Name: "files", Quota: FilesPerMinute, Window: time.Minute}),
	}
	h.sets = h.newSets()
	return h
}

// Close closes the trial files. Requests that read them go on.
func (h *Handler) Close() error { return h.sets.Close() }

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/api/public/snapshots": h.snapshots, "/api/public/history": h.history, "/api/public/changes": h.changes,
		"/api/public/trials": h.trials, "/api/public/trials/{trial}": h.trial,
		"/snapshots/current": h.current, "/snapshots/{snapshot}/*": h.file, "/log/*": h.log,
	} {
		route.Public(r, path, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				e := apierr.Of(err)
				if e.Status >= http.StatusInternalServerError && e.Cause != nil && r.Context().Err() == nil {
					h.Log.Error("a read of the archive failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", e)
				}
				h.Errors.Write(w, r, e)
			}
		})
	}
}

// Limits implements route.Limited: files have a limit of their own.
func (h *Handler) Limits() map[string]route.Limits {
	return map[string]route.Limits{"/snapshots/{snapshot}/*": {Unmetered: true}, "/log/*": {Unmetered: true}}
}

// site returns the current site.
func (h *Handler) site() (*snapshotview.Site, error) {
	if s := h.Current(); s != nil {
		return s, nil
	}
	return nil, apierr.Unavailable()
}
