package pick

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/shell"
	"github.com/firstpick/firstpick/runner/transcript"
)

// An execution is one command of an answer, parsed when it is first needed.
type execution struct {
	transcript.Command
	tools    *installTools
	parsed   []shell.Command
	installs []install
	isParsed bool
	isRead   bool
}

func (x *Extractor) executions(cmds []transcript.Command) []*execution {
	out := make([]*execution, len(cmds))
	for i, c := range cmds {
		out[i] = &execution{Command: c, tools: x.tools}
	}
	return out
}

// commands returns the simple commands that it runs.
func (e *execution) commands() []shell.Command {
	if !e.isParsed {
		e.parsed, e.isParsed = shell.Commands(e.Cmd), true
	}
	return e.parsed
}

// packages returns the packages that it installs and removes. Most commands name no
// package manager and need no parser.
func (e *execution) packages() []install {
	if !e.isRead {
		if e.isRead = true; e.tools.named(e.Cmd) {
			e.installs = e.tools.run(e.commands(), 0)
		}
	}
	return e.installs
}

// commands finds installs. The manifest has a successful one already; a failed or undone
// one was considered.
func (x *Extractor) commands(ctx context.Context, ran []*execution, diff []transcript.FileChange) ([]action, error) {
	var out []action
	add := func(t *target, cmd string, weak, considered bool) {
		if len(out) == maxCommands {
			return
		}
		e := Evidence{t.slug, LevelCommand, "command", "", 0, clipQuote(cmd)}
		out = append(out, action{target: t, Evidence: e, weak: weak, considered: considered})
	}
	known := x.manifests(diff)
	err := installed(ctx, ran, func(in install, cmd string, gone bool) {
		for _, t := range x.byDep(dep{eco: in.eco, name: in.name}) {
			add(t, cmd, in.dev, gone || !in.global && known.lacks(in.eco, catalog.PackageKey(in.eco, in.name)))
		}
	})
	if err != nil {
		return nil, err
	}
	for _, e := range ran {
		if !x.index.hasProgram(e.Cmd) && !x.index.hasCommand(e.Cmd) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, c := range e.commands() {
			words := x.tools.unwrap(c.Words).words
			for _, t := range compact(slices.Concat(x.index.byProgram(words).targets, x.index.byCommand(x.tools.called(words)))) {
				add(t, e.Cmd, false, !e.Worked())
			}
		}
	}
	return out, nil
}

// maxCommands limits the actions that commands show: a longer list proves nothing more.
const maxCommands = 10_000

// installed calls each with every install of a package, the last one first; gone means
// that it failed or was undone.
func installed(ctx context.Context, ran []*execution, each func(in install, cmd string, gone bool)) error {
	later := undone{names: map[string]bool{}, reverted: map[catalog.Ecosystem]bool{}}
	for _, e := range slices.Backward(ran) { // backwards: a later removal undoes an earlier install
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Worked() {
			for _, eco := range reverts(e) {
				later.reverted[eco] = true
			}
		}
		installs := e.packages()
		unknown := unknownInstalls(installs)
		for _, in := range slices.Backward(installs) {
			name := catalog.PackageKey(in.eco, in.name)
			if in.remove {
				later.names[name] = e.Worked() || later.names[name]
				continue
			}
			each(in, e.Cmd, !e.Worked() || later.has(in, name) || unknown(in))
		}
	}
	return nil
}

// ownInstalled returns a successful install of a library that own builds use.
func (x *Extractor) ownInstalled(ctx context.Context, ran []*execution) (own *Evidence, err error) {
	if len(x.own.packages) == 0 {
		return nil, nil
	}
	err = installed(ctx, ran, func(in install, cmd string, gone bool) {
		if !gone && !in.dev && len(x.own.byPackage(in.eco, in.name)) > 0 {
			own = &Evidence{"", LevelCommand, "diy", "", 0, clipQuote(cmd)}
		}
	})
	return own, err
}

// undone is what later commands take back.
type undone struct {
	names    map[string]bool            // packages that are removed
	reverted map[catalog.Ecosystem]bool // ecosystems whose manifest is; empty: all
}

func (u undone) has(in install, name string) bool {
	return u.names[name] || !in.global && (u.reverted[in.eco] || u.reverted[""])
}

// unknownInstalls returns which installs are one of alternatives, of which it is unknown
// which one worked: `npm i a || true`, `npm i a || npm i b`. Two ways to install one
// package are no alternatives.
func unknownInstalls(installs []install) func(install) bool {
	excused, fallback := map[string]bool{}, map[string]bool{}
	for _, in := range installs {
		if in.excused {
			excused[in.name] = true
		} else if in.fallback {
			fallback[in.name] = true
		}
	}
	return func(in install) bool {
		switch {
		case in.excused:
			return !fallback[in.name]
		case in.fallback:
			return len(excused) > 0 && !excused[in.name]
		}
		return false
	}
}

// A final holds the packages of the manifests of the final workspace by ecosystem.
type final map[catalog.Ecosystem]map[string]bool

// manifests returns the packages of a diff whose manifests list them.
func (x *Extractor) manifests(diff []transcript.FileChange) final {
	out := final{}
	for _, f := range diff {
		kind := catalog.Ecosystem(manifest.Kind(f.Path))
		for _, d := range x.deps(f) {
			if d.eco != kind {
				continue // by a command of a Dockerfile
			}
			if out[d.eco] == nil {
				out[d.eco] = map[string]bool{}
			}
			out[d.eco][catalog.PackageKey(d.eco, d.name)] = true
		}
	}
	return out
}

// lacks reports whether manifests of the ecosystem are known and none has the package.
func (f final) lacks(eco catalog.Ecosystem, name string) bool {
	return f[eco] != nil && !f[eco][name] || f[""] != nil && !f[""][name] && f[eco] == nil
}

// reverts returns the ecosystems whose manifests a command sets back with git or
// removes; an empty one is all of them.
func reverts(e *execution) []catalog.Ecosystem {
	if !strings.Contains(e.Cmd, "git ") && !strings.Contains(e.Cmd, "rm ") {
		return nil
	}
	var out []catalog.Ecosystem
	for _, c := range e.commands() {
		if len(c.Words) < 2 || c.Excused {
			continue
		}
		args := c.Words[2:]
		switch program(c.Words[0]) + " " + c.Words[1] {
		case "git reset":
			if slices.Contains(args, "--hard") {
				out = append(out, "")
			}
			continue
		case "git stash":
			if len(args) == 0 || args[0] == "push" || args[0] == "save" || strings.HasPrefix(args[0], "-") {
				out = append(out, "")
			}
			continue
		case "git checkout", "git restore":
		default:
			if program(c.Words[0]) != "rm" {
				continue
			}
			args = c.Words[1:]
		}
		for _, arg := range args {
			if arg == "." && program(c.Words[0]) == "git" {
				out = append(out, "")
			} else if kind := manifest.Kind(path.Base(arg)); kind != "" {
				out = append(out, catalog.Ecosystem(kind))
			}
		}
	}
	return out
}
