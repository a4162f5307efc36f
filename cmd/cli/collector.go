package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	rangesFile     = "agent-ranges.json" // in the data folder: what operators published last
	refreshFirst   = time.Minute         // after the start, so that a short try calls nobody
	refreshEvery   = 24 * time.Hour
	refreshTimeout = 20 * time.Second
)

// collector starts the service that takes events, and what refreshes its lists.
func (a *app) collector(beside *tasks, db *state.DB, vault *secret.Vault) (*collect.Service, *ranges.Set, error) {
	table := agentid.Load()
	lists, err := ranges.Open(filepath.Join(a.cfg.Data, rangesFile))
	if err != nil {
		return nil, nil, badInput(err)
	}
	links, err := attribution.NewSigner(1, map[byte][]byte{1: vault.MAC("link tags")})
	if err != nil {
		return nil, nil, err
	}
	names := rdns.New(net.DefaultResolver, a.env.Now)
	names.Warn(func(err error) {
		a.log.Warn("agents are not verified by DNS: set a resolver that resolves public hosts", "err", err)
	})
	directory := webbotauth.NewDirectory(table.Signers())
	identifier := &collect.Identifier{
		Who: &agentid.Verifier{
			Table: table, Ranges: lists, Names: names,
			Signatures: &webbotauth.Verifier{Keys: directory, Nonces: &webbotauth.Nonces{}},
		},
		Links: links,
	}
	svc := collect.New(collect.Config{
		DB: db, Vault: vault, Secrets: secret.Source{Rand: rand.Reader}, Log: a.log, Now: a.env.Now, Identify: identifier.Identify,
	})
	beside.atEnd(svc.Close)
	beside.start(names.Run)
	beside.start(func(ctx context.Context) {
		a.refreshAgents(ctx, &http.Client{Timeout: refreshTimeout}, lists, directory)
	})
	beside.every(sweepEvery, func(ctx context.Context, tick <-chan time.Time) { a.sweepEvents(ctx, svc, tick) })
	return svc, lists, nil
}

// sweepEvery is how often events are looked for that are kept too long.
const sweepEvery = time.Hour

func (a *app) sweepEvents(ctx context.Context, svc *collect.Service, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		n, err := svc.Sweep(ctx)
		if n > 0 {
			a.log.Info("events were deleted, as old as their workspaces say", "events", n)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn("old events were not deleted; it is tried again", "err", err)
		}
	}
}

// How sites are looked at.
const (
	sitesEvery    = 5 * time.Minute // for those that are due
	siteTimeout   = 20 * time.Second
	siteRedirects = 3
)

// sites starts what looks at the sites of workspaces.
func (a *app) sites(beside *tasks, db *state.DB, base string) *sitecheck.Service {
	svc := &sitecheck.Service{DB: db, Log: a.log, Now: a.env.Now, Checker: &sitecheck.Checker{
		Client: safehttp.NewClient(safehttp.Limits{Timeout: siteTimeout, Redirects: siteRedirects, Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts)}),
		Now:    a.env.Now, UserAgent: "firstpick-sitecheck/1 (+" + base + "/docs/attribution.md)",
	}}
	beside.every(sitesEvery, svc.Run)
	return svc
}

// loadEvery is how late an event may be in reports.
const loadEvery = time.Second

// reports opens the read model of events, and keeps it up with the store. Without
// it the server works, and its workspaces tell of no traffic: another server on
// this data folder may have it.
func (a *app) reports(beside *tasks, db *state.DB, looked *sitecheck.Service, lists *ranges.Set) (traffic.Reports, error) {
	if err := os.MkdirAll(a.cfg.Data, 0o755); err != nil { // with its state elsewhere, a server may have none yet
		return nil, badInput(err)
	}
	file := filepath.Join(a.cfg.Data, "traffic.duckdb")
	events, err := trafficdb.Open(beside.ctx, file)
	var locked *trafficdb.LockedError
	if errors.As(err, &locked) {
		a.log.Warn("another process has the traffic database: this server's workspaces tell of no traffic", "file", file)
		return nil, nil
	}
	if err != nil {
		return nil, badInput(err)
	}
	beside.atEnd(func() {
		if err := events.Close(); err != nil {
			a.log.Warn("the traffic database was not closed well; it is made anew if it has to be", "err", err)
		}
	})
	if why := events.Remade(); why != "" {
		a.log.Warn("the traffic database is made anew from the stored events", "file", file, "why", why)
	}
	if ahead, err := isAhead(beside.ctx, db, events); err != nil {
		return nil, badInput(err)
	} else if ahead {
		a.log.Warn("the traffic database knows events that the store does not have, which was restored: it is made anew", "file", file)
		if err := events.Rebuild(beside.ctx); err != nil {
			return nil, err
		}
	}
	loader := &trafficdb.Loader{DB: events, Log: a.log, Source: storedEvents(db)}
	beside.every(loadEvery, loader.Run)
	beside.every(sweepEvery, func(ctx context.Context, tick <-chan time.Time) { a.sweepReports(ctx, db, events, tick) })
	return reporter.New(reporter.Config{DB: events, Now: a.env.Now, Site: looked.Result, Lists: lists.Ages}), nil
}

// isAhead says whether a read model was loaded from a later state of the store,
// as after a restore of an older backup. Numbers are given again then, and a loader
// that goes on from the model's would pass over new events.
func isAhead(ctx context.Context, db *state.DB, events *trafficdb.DB) (bool, error) {
	mark, err := events.Mark(ctx)
	if err != nil {
		return false, err
	}
	last, err := db.Read().LastSeq(ctx)
	return mark > last, err
}

// sweepReports lets go from the read model what is swept from the store.
func (a *app) sweepReports(ctx context.Context, db *state.DB, events *trafficdb.DB, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if err := dropExpired(ctx, db, events, a.env.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("old events were not taken out of the traffic database; it is tried again", "err", err)
		}
	}
}

// dropExpired takes out events that are older than their workspaces keep them, and
// all of workspaces that are gone.
func dropExpired(ctx context.Context, db *state.DB, events *trafficdb.DB, now time.Time) error {
	workspaces, err := events.Workspaces(ctx) // first: one that is new meanwhile is not gone
	if err != nil {
		return err
	}
	kept, err := db.Read().Retentions(ctx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		before := now.Add(24 * time.Hour) // more than all
		if days, known := kept[w]; known {
			before = now.AddDate(0, 0, -days)
		}
		if _, err := events.DropBefore(ctx, w, before); err != nil {
			return err
		}
	}
	return nil
}

// storedEvents is where a read model reads.
func storedEvents(db *state.DB) trafficdb.Source {
	return func(ctx context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		list, err := db.Read().EventsAfter(ctx, seq, limit)
		out := make([]trafficdb.Stored, len(list))
		for i, e := range list {
			out[i] = trafficdb.Stored{Seq: e.Seq, Workspace: e.WorkspaceID, Body: e.Body}
		}
		return out, err
	}
}

// refreshAgents fetches once a day where agents come from and what they sign with.
// Without outbound network the last known lists go on serving; that they are old
// is logged once.
func (a *app) refreshAgents(ctx context.Context, client *http.Client, lists *ranges.Set, directory *webbotauth.Directory) {
	warned := false
	next := time.NewTimer(refreshFirst)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(refreshEvery)
		}
		if err := lists.Refresh(ctx, client, a.env.Now()); err != nil && ctx.Err() == nil {
			a.log.Info("some lists of agents' addresses were not refreshed", "err", err)
		}
		ages := lists.Ages(a.env.Now())
		if ages.Old > 0 && !warned {
			a.log.Warn("lists of agents' addresses are old: agents stay verified by their last state; allow outbound https, or install a newer release",
				"old", ages.Old, "lists", ages.Lists, "oldest", ages.Oldest.Format(time.DateOnly))
		}
		warned = ages.Old > 0
		if err := directory.Refresh(ctx, client, a.env.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("some agents' signature keys were not fetched", "err", err)
		}
	}
}
