package app

import (
	"context"
	"errors"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/safehttp"
)

const (
	sitesEvery    = 5 * time.Minute // for sites that are due
	siteTimeout   = 20 * time.Second
	siteRedirects = 3

	loadEvery   = time.Second // how late an event may be in reports
	alertsEvery = 10 * time.Second
)

// TrafficFile is the read model of events, in the data folder.
const TrafficFile = "traffic.duckdb"

// outbound returns the limits of requests to addresses that owners of workspaces name.
func (a *App) outbound(timeout time.Duration) safehttp.Limits {
	return safehttp.Limits{Timeout: timeout, Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts)}
}

// addSites starts the checks of the sites of workspaces.
func (a *App) addSites() *sitecheck.Service {
	limits := a.outbound(siteTimeout)
	limits.Redirects = siteRedirects
	s := &sitecheck.Service{DB: a.Agents.DB, Log: a.cfg.Log, Now: a.cfg.Now, Checker: &sitecheck.Checker{
		Client: safehttp.NewClient(limits), Now: a.cfg.Now, UserAgent: "firstpick-sitecheck/1 (+" + a.cfg.BaseURL + "/docs/attribution.md)",
	}}
	a.background.every(sitesEvery, s.Run)
	return s
}

// addReports opens the read model of events, and keeps it up to date with the store.
// Without it, because another server has it, workspaces get no reports.
func (a *App) addReports(checked *sitecheck.Service) (*reporter.Service, error) {
	if a.cfg.Data == "" {
		return nil, nil
	}
	if err := os.MkdirAll(a.cfg.Data, 0o755); err != nil { // a server with its state elsewhere may have no data folder yet
		return nil, &ConfigError{err}
	}
	file := filepath.Join(a.cfg.Data, TrafficFile)
	model, err := trafficdb.Open(a.background.ctx, file)
	var locked *trafficdb.LockedError
	if errors.As(err, &locked) {
		a.cfg.Log.Warn("another process has the traffic database open: this server has no traffic reports", "file", file)
		return nil, nil
	}
	if err != nil {
		return nil, &ConfigError{err}
	}
	a.background.onClose(func() {
		if err := model.Close(); err != nil {
			a.cfg.Log.Warn("closing the traffic database failed; the next start rebuilds it if necessary", "err", err)
		}
	})
	if why := model.Remade(); why != "" {
		a.cfg.Log.Warn("rebuilding the traffic database from the stored events", "file", file, "why", why)
	}
	rebuilt, err := reporter.Adopt(a.background.ctx, a.Agents.DB, model)
	if err != nil {
		return nil, &ConfigError{err}
	}
	if rebuilt != "" {
		a.cfg.Log.Warn("rebuilding the traffic database: "+rebuilt, "file", file)
	}
	a.models = append(a.models, model)
	loader := &trafficdb.Loader{DB: model, Log: a.cfg.Log, Source: reporter.StoredEvents(a.Agents.DB)}
	a.background.every(loadEvery, loader.Run)
	a.background.repeat(sweepEvery, func(ctx context.Context) error {
		return reporter.DropExpired(ctx, a.Agents.DB, model, a.cfg.Now())
	}, func(err error) {
		a.cfg.Log.Warn("expired events were not deleted from the traffic database; the next sweep retries", "err", err)
	})
	return reporter.New(reporter.Config{DB: model, Now: a.cfg.Now, Site: checked.Result, Lists: a.Lists.Ages}), nil
}

// newAlerts makes the service of alerts. Without reports it only sends: a server that
// has them evaluates.
func (a *App) newAlerts(reports *reporter.Service) *alert.Service {
	limits := a.outbound(alert.CallTimeout)
	cfg := alert.Config{
		DB: a.Agents.DB, Secrets: a.Agents.Secrets, Log: a.cfg.Log, Now: a.cfg.Now, BaseURL: a.Agents.BaseURL,
		Mail: a.Agents.Outbox.Put, Kick: a.Agents.Outbox.Kick, Jitter: mathrand.Float64,
		HTTP: safehttp.NewClient(limits), Private: limits.Private, Ports: limits.Ports,
	}
	if reports != nil {
		cfg.Traffic = reports.Recent
	}
	return alert.New(cfg)
}
