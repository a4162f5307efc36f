// Package cliagent runs agents that are programs on this machine: the CLIs of coding
// agents, and any other command. See kinds.
//
// Each trial gets its own folder with a fresh home and a fresh copy of its project
// template. The program runs there with its own environment, limited by the sandbox and
// three time limits. Its event stream reports statements and actions; changes of files
// come from the files themselves.
//
// New fails for a condition of the eval that the program cannot meet.
package cliagent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/redact"
)

// Default limits of a trial.
const (
	defaultWall  = 20 * time.Minute
	defaultStall = 180 * time.Second
	defaultGrace = 20 * time.Second
	// DefaultMemoryMB, DefaultDiskMB and DefaultProcesses limit the resources of a trial.
	DefaultMemoryMB  = 4096
	DefaultDiskMB    = 10240
	DefaultProcesses = 1024
	// laneStart is the initial number of concurrent trials: failing takes long.
	laneStart = 2
)

// Deps are the dependencies of programs.
type Deps struct {
	// LookupEnv reads the variables that programs get: PATH, keys, and those that the eval
	// names. Programs see no others.
	LookupEnv func(name string) (string, bool)
	LookPath  func(name string) (string, error)
	Clock     process.Clock
	// Root is the absolute path of a folder for running trials only: remains of an earlier,
	// killed process may be deleted.
	Root       string
	Workspaces workspace.Source
	// Templates are the templates whose digests the manifest records.
	Templates []string
	Sandbox   sandbox.Sandbox
	// Hide are folders and files that no agent may read, such as the data of runs.
	Hide []string
	// Supervisor is the argv that leads to process.Supervise.
	Supervisor []string
	Prices     *prices.Table
	// Binaries caches inspected programs; it may be shared.
	Binaries *Binaries
	// Inert is for plans and checks, which make no attempts: New reads nothing on this
	// machine and starts nothing.
	Inert bool
	// Keep leaves the trials' folders in place for inspection. Cold gives every trial a
	// home without the program's caches.
	Keep, Cold bool
}

// A program is an agent of the classes program and command.
type program struct {
	eval.Agent
	setup
	deps    Deps
	extra   []variable // its key, and the variables that the eval names
	redact  *redact.Redactor
	price   *prices.Price
	binary  Binary
	missing error // why the program cannot be used
	profile agent.Profile
}

// New returns the agent of a program. It reads the key and inspects the program
// immediately; Check and Ask report a missing program.
func New(a eval.Agent, d Deps) (agent.Agent, error) {
	if a.CLI == nil {
		a.CLI = &eval.CLI{}
	}
	if !filepath.IsAbs(d.Root) {
		return nil, fmt.Errorf("the trials folder must be an absolute path (got %q)", d.Root)
	}
	s, err := setupOf(a)
	if err != nil {
		return nil, err
	}
	if err := process.Supported(); err != nil && !d.Inert {
		return nil, err
	}
	if err := network(a, d); err != nil {
		return nil, err
	}
	p := &program{Agent: a, setup: *s, deps: d, price: priceOf(a, s.vendor, d.Prices)}
	if a.CLI.TrialCostUSD > 0 && !s.caps && p.price == nil {
		return nil, fmt.Errorf("trial_cost_usd: unknown price of %s, so the limit cannot be enforced; set price", a.Model)
	}
	auth, fingerprint, err := p.environment()
	if err != nil {
		return nil, err
	}
	if d.Inert {
		p.missing = errors.New("programs are not started for a plan or a check")
	} else if p.binary, p.missing = p.find(context.Background()); p.missing == nil && a.CLI.Version != "" && a.CLI.Version != p.binary.Version {
		p.missing = fmt.Errorf("%s is version %s, the eval requires %s: install that version, or change version", p.binary.Path, p.binary.Version, a.CLI.Version)
	}
	return p, p.describe(auth, fingerprint)
}

// network returns an error if commands cannot be isolated from the network as
// configured.
func network(a eval.Agent, d Deps) error {
	switch {
	case a.CLI.Network != "off":
		return nil
	case !d.Inert && !d.Sandbox.CutsNetwork():
		return fmt.Errorf("network: off needs a sandbox with network isolation (got %s)", d.Sandbox.Name())
	case a.Kind != eval.KindCommand:
		return fmt.Errorf("network: off would isolate %s from its model as well; use web_search: false, or kind %s with a model that needs no network", a.Kind, eval.KindCommand)
	}
	return nil
}

// environment reads the variables that the program is given from here. It returns
// the kind of authentication and a fingerprint of the key.
func (p *program) environment() (auth, fingerprint string, err error) {
	path, _ := p.deps.LookupEnv("PATH")
	p.extra = []variable{{"PATH", path}}
	var secrets []string
	for _, name := range p.CLI.Env {
		if slices.ContainsFunc(p.env, func(v variable) bool { return v.name == name }) {
			return "", "", fmt.Errorf("env: %s is set for each trial, to isolate it from your setup and from other trials; remove it", name)
		}
		if value, ok := p.deps.LookupEnv(name); ok {
			p.extra = append(p.extra, variable{name, value})
			if secretName.MatchString(name) {
				secrets = append(secrets, value)
			}
		}
	}
	auth, fingerprint = "none", "nokey"
	if len(secrets) > 0 {
		auth = "environment"
	}
	if key, from := p.keyValue(); key != "" {
		p.extra = append(p.extra, variable{p.key.as, key})
		secrets = append(secrets, key)
		sum := sha256.Sum256([]byte(key))
		auth, fingerprint = "key in "+from, hex.EncodeToString(sum[:4])
	} else if len(p.key.from) > 0 {
		// The eval may provide other credentials: a token, those of a cloud.
		if len(p.CLI.Env) == 0 || p.APIKeyEnv != "" {
			return "", "", fmt.Errorf("%w: put it into the environment variable %s, or name the variables of other credentials in env", agent.ErrNoKey, p.key.from[0])
		}
		auth = "environment"
	}
	p.redact = redact.New(secrets...)
	return auth, fingerprint, nil
}

// secretName matches variables whose value must not be shown. Other values, such as a
// region, may occur in answers.
var secretName = lazyregexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH`)

func (p *program) keyValue() (key, from string) {
	for _, name := range p.key.from {
		if value, ok := p.deps.LookupEnv(name); ok && strings.TrimSpace(value) != "" {
			return strings.TrimSpace(value), name
		}
	}
	return "", ""
}

// describe fills in the profile.
func (p *program) describe(auth, fingerprint string) error {
	m := journal.Manifest{
		Agent: p.Name, Kind: p.Kind, Model: p.Model, Endpoint: p.BaseURL, Version: p.binary.Version, Binary: p.binary.SHA256,
		Args: append([]string{p.setup.binary}, p.args...), Web: web(p.WebSearch), Network: onOff(p.CLI.Network != "off"),
		Sandbox: p.deps.Sandbox.Name(), Purity: p.CLI.Purity, Auth: auth, Parameters: map[string]string{},
	}
	for _, v := range append(slices.Clone(p.env), p.extra...) {
		m.Env = append(m.Env, v.name)
	}
	slices.Sort(m.Env)
	if p.price != nil && p.Price == nil {
		m.Prices = p.deps.Prices.Version
	}
	parameter := func(name, value string, set bool) {
		if set {
			m.Parameters[name] = value
		}
	}
	parameter("effort", p.Effort, p.Effort != "")
	parameter("max_turns", strconv.Itoa(p.CLI.MaxTurns), p.CLI.MaxTurns > 0)
	parameter("trial_cost_usd", dollars(p.CLI.TrialCostUSD), p.CLI.TrialCostUSD > 0)
	parameter("wall", p.wall().String(), true)
	parameter("stall", p.stall().String(), true)
	if b := p.CLI.Builds; b != nil {
		parameter("builds", b.Command, true)
		parameter("builds_timeout", buildTimeout(b).String(), true)
	}
	limits := p.limits()
	parameter("memory_mb", strconv.Itoa(limits.MemoryMB), true)
	parameter("disk_mb", strconv.Itoa(limits.DiskMB), true)
	parameter("max_processes", strconv.Itoa(limits.Processes), true)
	for name, text := range p.files {
		parameter("file "+name, text, true)
	}
	for _, name := range p.deps.Templates {
		hash, err := p.deps.Workspaces.Hash(name)
		if err != nil {
			return fmt.Errorf("template %s: %w", name, err)
		}
		if m.Templates == nil {
			m.Templates = map[string]string{}
		}
		m.Templates[name] = hash
	}
	p.profile = agent.Profile{
		Paid: p.Kind != eval.KindCommand || auth != "none" || p.Price != nil, MemoryMB: p.memoryMB, Manifest: m,
		Lane: agent.Lane{Start: laneStart, Max: p.MaxConcurrency, Probe: true},
	}
	if at := cmp.Or(p.host, p.vendor); at != "" {
		p.profile.Lane.Key = at + "/" + fingerprint + "/" + p.Model
	}
	return nil
}

func (p *program) Profile() agent.Profile { return p.profile }

// Worst returns trial_cost_usd. Claude Code respects it to within a call. Others are
// ended when their reported usage costs more; some report only at the end.
func (p *program) Worst(agent.Task) *float64 {
	switch {
	case p.CLI.TrialCostUSD > 0:
		return &p.CLI.TrialCostUSD
	case p.price != nil && *p.price == prices.Price{MaxOutput: p.price.MaxOutput}:
		free := 0.0
		return &free
	}
	return nil
}

// Check reports a missing program, a wrong version, or a program that has changed.
func (p *program) Check(context.Context) error {
	if p.missing != nil {
		return p.missing
	}
	now, err := digest(p.binary.Path)
	if err == nil && now != p.binary.SHA256 {
		err = errors.New(p.binary.Path + " changed during the run: restart the run")
	}
	return err
}

func (p *program) wall() time.Duration  { return orDefault(p.CLI.WallS, defaultWall) }
func (p *program) stall() time.Duration { return orDefault(p.CLI.StallS, defaultStall) }
func (p *program) grace() time.Duration { return orDefault(p.CLI.GraceS, defaultGrace) }

// limits returns the limits of a program and its descendants, with the folders that they
// may write to.
func (p *program) limits(folders ...string) process.Limits {
	return process.Limits{
		MemoryMB: cmp.Or(p.CLI.MemoryMB, DefaultMemoryMB), DiskMB: cmp.Or(p.CLI.DiskMB, DefaultDiskMB),
		Processes: cmp.Or(p.CLI.MaxProcesses, DefaultProcesses), Folders: folders,
	}
}

func orDefault(seconds int, d time.Duration) time.Duration {
	if seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return d
}

func web(w *bool) string {
	if w == nil {
		return "default"
	}
	return onOff(*w)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
