// Package app assembles a server from its parts: the stores, the services, the routes,
// and the tasks in the background. The program and the tests start the same assembly.
package app

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/console/operator"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/store/erasure"
)

const (
	housekeepInterval = time.Minute     // for expired rows, and mail that failed
	eraseEvery        = 5 * time.Second // for requested erasures
	schedulesEvery    = 10 * time.Second
	openBundles       = 64 // results kept open; each takes a few files and memory for its scores and prompts
)

// A Config is the configuration of a server.
type Config struct {
	server.Settings
	// Registrations has the open store. Its Log, Now and BaseURL default to those of
	// Settings.
	Registrations registrations.Config
	// Data is the folder of the address lists and the traffic database; empty for the
	// bundled lists and no reports.
	Data string
	// Snapshots are served as soon as they are published; optional.
	Snapshots Snapshots
	// Archive is where they are published; nil serves no files, no history and no trials.
	Archive archive.Source
	// Published lets operators promote snapshots in the browser; nil if absent.
	Published operator.Snapshots
	// CallPrivate allows webhooks and sites of workspaces at private addresses; CallPorts
	// are allowed ports in addition to 80 and 443.
	CallPrivate bool
	CallPorts   []int
	// Resolver verifies agents by DNS; nil means the system's.
	Resolver rdns.Resolver
	// EvalChecker validates evals of workspaces; without it the server has no evals.
	// Bundles is the folder of their results. FetchBundle brings a missing one there; may be
	// nil.
	EvalChecker evals.Checker
	EvalCaps    evals.Caps
	Plans       bool // evals need the paid plan
	Bundles     string
	FetchBundle func(workspace, id string) error
	// Erase are the folders with files of workspaces, which erasures empty.
	Erase erasure.Folders
	// Worker runs evals of workspaces until its context ends; nil leaves them to other
	// processes.
	Worker func(context.Context) error
	// Adjust changes the parts before the routes are built, for tests; nil changes nothing.
	Adjust func(*server.Config)
}

// A ConfigError is a problem of a folder, file or address in the configuration.
type ConfigError struct{ Err error }

// Error implements error.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// An App is a server with its background tasks. Close ends the tasks; the store stays
// open.
type App struct {
	*server.Server
	server.Services
	// Lists are the address lists of agents.
	Lists *ranges.Set

	cfg        Config
	background *background
	models     []erasure.Model
}

// Build assembles a server and starts its background tasks.
func Build(ctx context.Context, cfg Config) (_ *App, err error) {
	a := &App{cfg: cfg, background: newBackground(ctx)}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	a.Source, a.Archive, a.Published = a.addSnapshots(ctx), cfg.Archive, cfg.Published
	if err := a.addAgents(ctx); err != nil {
		return nil, err
	}
	if cfg.EvalChecker != nil {
		if err := a.Agents.DB.SetPlans(ctx, cfg.Plans); err != nil {
			return nil, err
		}
	}
	if err := a.addCollector(); err != nil {
		return nil, err
	}
	reports, err := a.addReports(a.addSites())
	if err != nil {
		return nil, err
	}
	if reports != nil {
		a.Reports = reports
	}
	alerts := a.newAlerts(reports)
	a.Alerts = alerts
	a.addEvals(alerts)
	a.addWorker()
	a.addErasures()
	parts := server.Config{Services: a.Services, Settings: cfg.Settings}
	if cfg.Adjust != nil {
		cfg.Adjust(&parts)
		a.Services = parts.Services
	}
	if a.Server, err = server.New(parts); err != nil {
		return nil, &ConfigError{err}
	}
	if a.Alerts == alerts {
		a.addPicks(alerts, a.OwnTools().Measured)
		a.background.every(alertsEvery, alerts.Run)
	}
	a.background.onClose(func() { _ = a.CloseFiles() }) // they were only read
	return a, nil
}

// Close ends the background tasks and closes what Build opened. It may be called again.
func (a *App) Close() { a.background.close() }

// addSnapshots follows the published snapshots.
func (a *App) addSnapshots(ctx context.Context) *snapshotview.Holder {
	holder := &snapshotview.Holder{}
	if a.cfg.Snapshots == nil {
		return holder
	}
	f := &Follower{Snapshots: a.cfg.Snapshots, Holder: holder, BaseURL: a.cfg.BaseURL, Contact: a.cfg.Contact, Log: a.cfg.Log, Now: a.cfg.Now}
	f.Poll(ctx)
	a.background.start(func(ctx context.Context) { f.run(ctx, a.cfg.Sleep) })
	return holder
}

// addAgents starts registrations, sign-in and mail.
func (a *App) addAgents(ctx context.Context) (err error) {
	cfg := a.cfg.Registrations
	cfg.Log, cfg.BaseURL = cmp.Or(cfg.Log, a.cfg.Log), cmp.Or(cfg.BaseURL, a.cfg.BaseURL)
	if cfg.Now == nil {
		cfg.Now = a.cfg.Now
	}
	if a.Agents, err = registrations.New(ctx, cfg); err == nil {
		a.background.every(housekeepInterval, a.Agents.Run)
	}
	return err
}

// addEvals makes the evals of workspaces, and starts their schedules.
func (a *App) addEvals(alerts *alert.Service) {
	if a.cfg.EvalChecker == nil {
		return
	}
	cache := bundle.NewCache(a.cfg.Bundles, a.cfg.FetchBundle, openBundles)
	a.background.onClose(func() { _ = cache.Close() })
	a.Evals = &evals.Service{
		DB: a.Agents.DB, Secrets: a.Agents.Secrets, Checker: a.cfg.EvalChecker, Bundles: cache, Log: a.cfg.Log, Now: a.cfg.Now, Sleep: a.cfg.Sleep,
		BaseURL: a.Agents.BaseURL, Uploads: a.cfg.Erase.Journals, Caps: a.cfg.EvalCaps, Plans: a.cfg.Plans, Notify: alerts.MailOwner, Follow: alerts.FollowFirst,
	}
	a.background.repeat(sweepEvery, a.Evals.SweepUploads, func(err error) {
		a.cfg.Log.Warn("expired uploads were not deleted; the next sweep retries", "err", err)
	})
	schedules := &evals.Scheduler{Service: a.Evals}
	a.background.repeat(schedulesEvery, schedules.Step, func(err error) { a.cfg.Log.Error("schedules of evals failed; retrying", "err", err) })
}

// addErasures carries out erasures: of owners in the browser, of programs and of operators.
func (a *App) addErasures() {
	list := erasure.List("")
	if a.cfg.Data != "" {
		list = erasure.List(filepath.Join(a.cfg.Data, erasure.ListFile))
	}
	s := &erasure.Service{
		DB: a.Agents.DB, List: list, Folders: a.cfg.Erase, Models: a.models, Secrets: a.Agents.Secrets,
		Log: a.cfg.Log, Now: a.cfg.Now, Patient: true,
	}
	a.background.every(eraseEvery, s.Run)
}

// addWorker runs evals of workspaces in this process.
func (a *App) addWorker() {
	if a.cfg.Worker == nil {
		return
	}
	a.background.start(func(ctx context.Context) {
		if err := a.cfg.Worker(ctx); err != nil {
			a.cfg.Log.Error("the worker in this server ended", "err", err)
		}
	})
}
