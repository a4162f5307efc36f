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

	"github.com/firstpick/firstpick/server/agentid"
	"github.com/firstpick/firstpick/server/agentid/ranges"
	"github.com/firstpick/firstpick/server/agentid/rdns"
	"github.com/firstpick/firstpick/server/agentid/webbotauth"
	"github.com/firstpick/firstpick/server/attribution"
	"github.com/firstpick/firstpick/server/collect"
	"github.com/firstpick/firstpick/server/reporter"
	"github.com/firstpick/firstpick/server/secret"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/traffic"
	"github.com/firstpick/firstpick/server/trafficdb"
)

const (
	rangesFile     = "agent-ranges.json" // in the data folder: what operators published last
	refreshFirst   = time.Minute         // after the start, so that a short try calls nobody
	refreshEvery   = 24 * time.Hour
	refreshTimeout = 20 * time.Second
)

// collector starts the service that takes events. The function it returns stops
// it, and what refreshes its lists.
func (a *app) collector(ctx context.Context, db *state.DB, vault *secret.Vault) (*collect.Service, func(), error) {
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
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{}, 2)
	go func() { names.Run(ctx); done <- struct{}{} }()
	go func() { a.refreshAgents(ctx, lists, directory); done <- struct{}{} }()
	return svc, func() { stop(); <-done; <-done; svc.Close() }, nil
}

// loadEvery is how late an event may be in reports.
const loadEvery = time.Second

// reports opens the read model of events, and keeps it up with the store. Without
// it the server works, and its workspaces tell of no traffic: another server on
// this data folder may have it.
func (a *app) reports(ctx context.Context, db *state.DB) (traffic.Reports, func(), error) {
	if err := os.MkdirAll(a.cfg.Data, 0o755); err != nil { // with its state elsewhere, a server may have none yet
		return nil, nil, badInput(err)
	}
	file := filepath.Join(a.cfg.Data, "traffic.duckdb")
	events, err := trafficdb.Open(ctx, file)
	var locked *trafficdb.LockedError
	if errors.As(err, &locked) {
		a.log.Warn("another process has the traffic database: this server's workspaces tell of no traffic", "file", file)
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, badInput(err)
	}
	if err := os.Chmod(file, 0o600); err != nil { // it tells of visits and customers
		return nil, nil, errors.Join(err, events.Close())
	}
	if why := events.Remade(); why != "" {
		a.log.Warn("the traffic database is made anew from the stored events", "file", file, "why", why)
	}
	loader := &trafficdb.Loader{DB: events, Log: a.log, Source: func(ctx context.Context, seq int64, limit int) ([]trafficdb.Stored, error) {
		list, err := db.Read().EventsAfter(ctx, seq, limit)
		out := make([]trafficdb.Stored, len(list))
		for i, e := range list {
			out[i] = trafficdb.Stored{Seq: e.Seq, Workspace: e.WorkspaceID, Body: e.Body}
		}
		return out, err
	}}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	tick := time.NewTicker(loadEvery)
	done := make(chan struct{})
	go func() { defer close(done); loader.Run(ctx, tick.C) }()
	return &reporter.Service{DB: events, Now: a.env.Now}, func() {
		stop()
		tick.Stop()
		<-done
		if err := events.Close(); err != nil {
			a.log.Warn("the traffic database was not closed well; it is made anew if it has to be", "err", err)
		}
	}, nil
}

// refreshAgents asks operators once a day where their agents come from and what
// they sign with. Without a way out the shipped lists go on serving, and grow stale.
func (a *app) refreshAgents(ctx context.Context, lists *ranges.Set, directory *webbotauth.Directory) {
	client := &http.Client{Timeout: refreshTimeout}
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
			a.log.Warn("some lists of agents' addresses were not refreshed; verdicts go stale after 14 days", "err", err)
		}
		if err := directory.Refresh(ctx, client, a.env.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("some agents' signature keys were not fetched", "err", err)
		}
	}
}
