package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/eval"
)

const (
	askTimeout = 10 * time.Minute
	// connectTimeout bounds the time until a connection is made; a lane of which no agent
	// was ever reached is given up after twice that.
	connectTimeout = 10 * time.Second
	// connectionsPerHost is how many connections to one provider stay open between
	// requests: as many as may be in flight.
	connectionsPerHost = runner.MaxConcurrency
	// tryTimeout bounds the look at whether a sandbox works.
	tryTimeout = 20 * time.Second
)

// agentDeps are the dependencies of agents. The name is that of the work folder of
// programs, which no other process may use at the same time. p are the projects of the eval;
// nil for the built-in templates.
func (a *app) agentDeps(ctx context.Context, table *prices.Table, name string, p *projects) agents.Deps {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: connectTimeout}).DialContext
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, connectionsPerHost
	return agents.Deps{
		Files: fixtures.Files(), Getenv: a.env.Getenv, Sleep: a.env.Sleep, Prices: table,
		Client: &http.Client{Timeout: askTimeout, Transport: transport},
		Programs: sync.OnceValues(func() (cliagent.Deps, error) {
			return a.programDeps(ctx, table, name, p)
		}),
	}
}

func (a *app) programDeps(ctx context.Context, table *prices.Table, name string, p *projects) (d cliagent.Deps, err error) {
	data, err := filepath.Abs(a.cfg.Data)
	if err != nil {
		return d, err
	}
	if p == nil {
		cat, err := a.catalog()
		if err != nil {
			return d, err
		}
		if p, err = a.projects(ctx, &eval.Eval{}, cat); err != nil {
			return d, err
		}
	}
	self, err := a.env.Executable()
	if err != nil {
		return d, fmt.Errorf("this program's own path: %w", err)
	}
	root, hide := filepath.Join(data, "work", name), []string{data}
	box, err := a.sandbox(ctx, root, hide)
	if err != nil {
		return d, err
	}
	if warning := box.Warning(); warning != "" {
		a.log.Warn(warning)
	}
	var supervisor []string
	if runtime.GOOS == "linux" {
		supervisor = []string{self, superviseCommand}
	}
	git, _ := exec.LookPath("git") // without it projects have no repository
	return cliagent.Deps{
		LookupEnv: func(name string) (string, bool) {
			value := a.env.Getenv(name)
			return value, value != ""
		},
		LookPath: a.lookPath, Clock: process.Clock{Now: a.env.Now, After: a.env.After},
		Root: root, Workspaces: workspace.Source{Git: git, Load: p.load}, Templates: p.names(),
		Sandbox: box, Hide: hide, Supervisor: supervisor, Prices: table, Binaries: &cliagent.Binaries{},
		Keep: a.cfg.KeepWork,
	}, nil
}

// lookPath finds a program by name: where the user says that it is, or in PATH.
func (a *app) lookPath(name string) (string, error) {
	for _, entry := range a.cfg.Binary {
		if known, path, _ := strings.Cut(entry, "="); known == name {
			return exec.LookPath(path)
		}
	}
	return exec.LookPath(name)
}

// sandbox finds the sandbox that the configuration asks for. Programs will work below
// root and must not see the paths in hide.
func (a *app) sandbox(ctx context.Context, root string, hide []string) (sandbox.Sandbox, error) {
	c := sandbox.Config{
		LookPath: exec.LookPath, Home: a.env.Getenv("HOME"), Off: a.cfg.Sandbox == sandboxOff,
		Root: root, Hide: hide, Superuser: os.Geteuid() == 0,
		Try: func(ctx context.Context, argv []string) error {
			ctx, cancel := context.WithTimeout(ctx, tryTimeout)
			defer cancel()
			out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
			if text := strings.TrimSpace(string(out)); err != nil && text != "" {
				return fmt.Errorf("%w: %.200s", err, text)
			}
			return err
		},
	}
	if engine, image, ok := strings.Cut(a.cfg.Sandbox, ":"); ok {
		c.Runtime, c.Image = engine, image
	}
	box, err := sandbox.Detect(ctx, c)
	if err == nil && a.cfg.Sandbox == sandboxRequired && box.Warning() != "" {
		return box, usageErr("install bubblewrap, or name a container: --sandbox docker:IMAGE", "sandbox: required, but %s", box.Warning())
	}
	return box, err
}

// loadPrices reads the table that the configuration names, or the built-in one.
func (a *app) loadPrices() (*prices.Table, error) {
	if a.cfg.Prices == "" {
		return prices.Load(fixtures.Files())
	}
	data, err := os.ReadFile(a.cfg.Prices)
	if err != nil {
		return nil, badInput(fmt.Errorf("prices: %w", err))
	}
	table, err := prices.Parse(a.cfg.Prices, data)
	return table, badInput(err)
}
