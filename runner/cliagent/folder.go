package cliagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
)

// A folder is the folder of one trial: a home, a project and temporary files, never
// shared with other trials.
type folder struct {
	dir, home, workdir, tmp string
	tree                    *workspace.Tree
	fill                    *strings.Replacer // of {prompt} and the other placeholders
}

// open creates the folder of a trial.
func (p *program) open(ctx context.Context, t agent.Task) (f *folder, err error) {
	if err := os.MkdirAll(p.deps.Root, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(p.deps.Root, "t-")
	if err != nil {
		return nil, err
	}
	// The agent sees the last of these names: they must not hint at a measurement.
	f = &folder{dir: dir, home: filepath.Join(dir, "home"), workdir: filepath.Join(dir, "app"), tmp: filepath.Join(dir, "tmp")}
	defer func() {
		if err != nil {
			err = errors.Join(err, RemoveAll(dir))
		}
	}()
	f.fill = strings.NewReplacer("{prompt}", p.guarded(t.Prompt), "{workdir}", f.workdir, "{home}", f.home, "{tmp}", f.tmp, "{model}", p.Model)
	if err := p.furnish(f); err != nil {
		return nil, err
	}
	if f.tree, err = p.deps.Workspaces.Prepare(ctx, t.Trial.Template, f.workdir); err != nil {
		return nil, err
	}
	return f, p.deps.Sandbox.Own(dir)
}

// furnish creates the home: folders, settings and the program's caches.
func (p *program) furnish(f *folder) error {
	for _, d := range []string{f.home, f.tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if p.binary.Caches != "" && !p.deps.Cold {
		for _, name := range p.caches {
			to := filepath.Join(f.home, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			if err := workspace.CopyTree(filepath.Join(p.binary.Caches, name), to); err != nil {
				return err
			}
		}
	}
	for _, d := range p.dirs {
		if err := os.MkdirAll(filepath.Join(f.home, d), 0o700); err != nil {
			return err
		}
	}
	for name, text := range p.files {
		path := filepath.Join(f.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.fill.Replace(text)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// guarded returns a prompt that the program does not parse as one of its commands: it
// prefixes a leading slash with a space.
func (p *program) guarded(prompt string) string {
	if p.commands != "" && prompt != "" && strings.ContainsAny(prompt[:1], p.commands) {
		return " " + prompt
	}
	return prompt
}

// argv returns the command line and the environment in a folder.
func (p *program) argv(f *folder) (argv, env []string) {
	argv = []string{p.binary.Path}
	for _, a := range p.args {
		argv = append(argv, f.fill.Replace(a))
	}
	for _, v := range p.env {
		env = append(env, v.name+"="+f.fill.Replace(v.value))
	}
	for _, v := range p.extra {
		env = append(env, v.name+"="+v.value)
	}
	return p.sandboxed(f, argv, env, p.wall()+p.grace()), env
}

// sandboxed wraps a command line in the trial's sandbox. A container ends it some time after
// its own time limits.
func (p *program) sandboxed(f *folder, argv, env []string, limit time.Duration) []string {
	limits := p.limits()
	return p.deps.Sandbox.Wrap(argv, sandbox.Options{
		MemoryMB: limits.MemoryMB, Processes: limits.Processes,
		Workdir: f.workdir, Home: f.home, Tmp: f.tmp, Network: p.CLI.Network != "off", Hide: p.deps.Hide, Env: env,
		ReadOnly: p.shown(p.binary.Path), Limit: limit + time.Minute,
	})
}

// close removes the folder with all its files.
func (f *folder) close(keep bool) {
	if !keep {
		_ = RemoveAll(f.dir) // the rest is deleted with the root
	}
}
