package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/server/store/state"
)

// generator is the program, as what it publishes names it.
const generator = "firstpick"

// evalPolicy is what the configuration lets evals of workspaces do.
func (a *app) evalPolicy() evalwork.Policy {
	return evalwork.Policy{Programs: a.cfg.EvalPrograms, Private: a.cfg.EvalPrivate, MaxTrials: a.cfg.EvalMaxTrials, MaxTimeout: a.cfg.EvalMaxTimeout}
}

// evalChecker makes what says whether an eval may run.
func (a *app) evalChecker() (*evalwork.Checker, error) {
	cat, err := a.catalog()
	if err != nil {
		return nil, err
	}
	table, err := a.loadPrices()
	if err != nil {
		return nil, err
	}
	return &evalwork.Checker{Catalog: cat, Prices: table, Policy: a.evalPolicy(), Sites: a.sites()}, nil
}

// sites reads the sites of products.
func (a *app) sites() evalwork.Sites {
	return evalwork.Sites{Private: a.cfg.CallPrivate, Ports: a.cfg.CallPorts, UserAgent: a.env.Build.UserAgent()}
}

// evalWorker makes a worker that runs the runs of workspaces.
func (a *app) evalWorker(db *state.DB, name string) (*evalwork.Worker, error) {
	cat, err := a.catalog()
	if err != nil {
		return nil, err
	}
	table, err := a.loadPrices()
	if err != nil {
		return nil, err
	}
	data, err := filepath.Abs(a.cfg.Data)
	if err != nil {
		return nil, err
	}
	bundles, bucket, err := a.bundles()
	if err != nil {
		return nil, err
	}
	if bundles, err = filepath.Abs(bundles); err != nil {
		return nil, err
	}
	return &evalwork.Worker{
		DB: db, Data: data, Bundles: bundles, Shared: bucket, Files: fixtures.Files(), Catalog: cat, Prices: table, Policy: a.evalPolicy(),
		Name: name, Generator: generator, Lease: a.cfg.EvalLease, MaxTime: a.cfg.EvalMaxTime, Plans: a.plans(), MemoryCapMB: memoryCapMB(), Counts: &evalwork.Counts{}, Log: a.log, Now: a.env.Now, Sleep: a.env.Sleep,
		Programs: func(ctx context.Context, name string, lookUp func(string) (string, bool)) (cliagent.Deps, func() error, error) {
			work := filepath.Join(data, "work", name)
			if err := cliagent.RemoveAll(work); err != nil { // of a worker that was killed
				return cliagent.Deps{}, nil, err
			}
			d, err := a.programDeps(ctx, table, name, nil)
			if err == nil && d.Sandbox.Warning() != "" && a.cfg.Sandbox != "off" {
				return d, nil, errors.New("programs of workspaces need a sandbox and must not run as root: " + d.Sandbox.Warning() + "; sandbox: off runs them without one")
			}
			d.Hide = append(append(d.Hide, bundles), a.secretFiles()...)
			// Of this process programs get the path alone: keys are the workspace's.
			d.LookupEnv = func(name string) (string, bool) {
				if name == "PATH" {
					path := a.env.Getenv(name)
					return path, path != ""
				}
				return lookUp(name)
			}
			return d, func() error { return cliagent.RemoveAll(work) }, err
		},
	}, nil
}

// secretFiles are the files that are not for programs of workspaces and may lie outside
// of the data folder: the configuration, which can hold every secret of this server, and
// SQLite's files.
func (a *app) secretFiles() []string {
	files := []string{a.cfg.File}
	if u, err := url.Parse(a.cfg.State); err == nil && u.Scheme == "sqlite" {
		file := filepath.FromSlash(u.Path)
		files = append(files, file, file+"-wal", file+"-shm")
	}
	var out []string
	for _, file := range files {
		if path, err := filepath.Abs(file); err == nil && file != "" {
			out = append(out, path)
		}
	}
	return out
}

// workerName is a name that no other process has.
func (a *app) workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return fmt.Sprintf("%.60s-%d-%s", host, os.Getpid(), strings.ToLower(a.env.NewID()[:8]))
}

// serverDrain is how long requests in flight may take when a server with a worker
// in it is stopped.
const serverDrain = 20 * time.Second

// workerInServer makes the worker of a server's own process.
func (a *app) workerInServer(db *state.DB) (*evalwork.Worker, error) {
	if a.cfg.WorkerRuns < 1 {
		return nil, usageErr("", "worker-runs must be positive")
	}
	w, err := a.evalWorker(db, a.workerName())
	if err != nil {
		return nil, err
	}
	w.Runs, w.Drain = a.cfg.WorkerRuns, serverDrain
	return w, nil
}
