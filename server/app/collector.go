package app

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
	"github.com/firstpick/firstpick/server/channel/collect"
)

const (
	rangesFile     = "agent-ranges.json" // in the data folder: address lists as operators published them last
	refreshFirst   = time.Minute         // after the start, so that a short try calls no host
	refreshEvery   = 24 * time.Hour
	refreshTimeout = 20 * time.Second
	sweepEvery     = time.Hour // for expired events and uploads
)

// addCollector starts the service that takes events, and the refresh of its lists.
func (a *App) addCollector() (err error) {
	file := ""
	if a.cfg.Data != "" {
		file = filepath.Join(a.cfg.Data, rangesFile)
	}
	if a.Lists, err = ranges.Open(file); err != nil {
		return &ConfigError{err}
	}
	table := agentid.Load()
	names := rdns.New(cmp.Or[rdns.Resolver](a.cfg.Resolver, net.DefaultResolver), a.cfg.Now)
	names.Warn(func(err error) {
		a.cfg.Log.Warn("agents are not verified by DNS: set a resolver that resolves public hosts", "err", err)
	})
	directory := webbotauth.NewDirectory(table.Signers())
	identifier := &collect.Identifier{
		Who: &agentid.Verifier{
			Table: table, Ranges: a.Lists, Names: names,
			Signatures: &webbotauth.Verifier{Keys: directory, Nonces: &webbotauth.Nonces{}},
		},
	}
	a.Collect = collect.New(collect.Config{
		DB: a.Agents.DB, Vault: a.Agents.Vault, Secrets: a.Agents.Secrets, Log: a.cfg.Log, Now: a.cfg.Now, Identify: identifier.Identify,
	})
	a.background.onClose(a.Collect.Close)
	a.background.start(names.Run)
	a.background.start(func(ctx context.Context) { a.refreshLists(ctx, &http.Client{Timeout: refreshTimeout}, directory) })
	a.background.repeat(sweepEvery, a.sweepEvents, func(err error) {
		a.cfg.Log.Warn("expired events were not deleted; the next sweep retries", "err", err)
	})
	return nil
}

func (a *App) sweepEvents(ctx context.Context) error {
	n, err := a.Collect.Sweep(ctx)
	if n > 0 {
		a.cfg.Log.Info("expired events deleted", "events", n)
	}
	return err
}

// refreshLists fetches agents' addresses and signature keys once a day. Without outbound
// network the lists fetched last, or the bundled lists, are used; that they are old is
// logged once.
func (a *App) refreshLists(ctx context.Context, client *http.Client, directory *webbotauth.Directory) {
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
		if err := a.Lists.Refresh(ctx, client, a.cfg.Now()); err != nil && ctx.Err() == nil {
			a.cfg.Log.Info("some lists of agents' addresses were not refreshed", "err", err)
		}
		ages := a.Lists.Ages(a.cfg.Now())
		if ages.Old > 0 && !warned {
			a.cfg.Log.Warn("lists of agents' addresses are old: agents stay verified by their last state; allow outbound https, or install a newer release",
				"old", ages.Old, "lists", ages.Lists, "oldest", ages.Oldest.Format(time.DateOnly))
		}
		warned = ages.Old > 0
		if err := directory.Refresh(ctx, client, a.cfg.Now()); err != nil && ctx.Err() == nil {
			a.cfg.Log.Warn("some agents' signature keys were not fetched", "err", err)
		}
	}
}
