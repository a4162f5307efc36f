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

// commands finds installs. The manifest has a successful one already; a failed or undone
// one was considered.
func (x *Extractor) commands(ctx context.Context, cmds []transcript.Command, diff []transcript.FileChange) ([]action, error) {
	var out []action
	add := func(t *target, cmd string, weak, considered bool) {
		e := Evidence{t.slug, LevelCommand, "command", "", 0, clipQuote(cmd)}
		out = append(out, action{target: t, Evidence: e, weak: weak, considered: considered})
	}
	known := x.manifests(diff)
	err := x.installed(ctx, cmds, func(in install, cmd string, gone bool) {
		for _, t := range x.byDep(dep{eco: in.eco, name: in.name}) {
			add(t, cmd, in.dev, gone || !in.global && known.lacks(in.eco, foldPackage(in.eco, in.name)))
		}
	})
	if err != nil || len(x.index.forms) == 0 {
		return out, err
	}
	for _, c := range cmds {
		for _, s := range shell.Commands(c.Cmd) {
			for _, t := range x.index.byProgram(x.tools.unwrap(s.Words).words).targets {
				add(t, c.Cmd, false, !c.Worked())
			}
		}
	}
	return out, ctx.Err()
}

// installed calls each with every install of a package, the last one first; gone means
// that it failed or was undone.
func (x *Extractor) installed(ctx context.Context, cmds []transcript.Command, each func(in install, cmd string, gone bool)) error {
	later := undone{names: map[string]bool{}, reverted: map[catalog.Ecosystem]bool{}}
	for _, c := range slices.Backward(cmds) { // backwards: a later removal undoes an earlier install
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.Worked() {
			for _, eco := range reverts(c.Cmd) {
				later.reverted[eco] = true
			}
		}
		installs := x.tools.installs(c.Cmd)
		for i, in := range slices.Backward(installs) {
			name := foldPackage(in.eco, in.name)
			if in.remove {
				later.names[name] = c.Worked() || later.names[name]
				continue
			}
			each(in, c.Cmd, !c.Worked() || later.has(in, name) || isUnknown(installs, i))
		}
	}
	return nil
}

// ownInstalled returns a successful install of a library that own builds use.
func (x *Extractor) ownInstalled(ctx context.Context, cmds []transcript.Command) (own *Evidence, err error) {
	if len(x.own.packages) == 0 {
		return nil, nil
	}
	err = x.installed(ctx, cmds, func(in install, cmd string, gone bool) {
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

// isUnknown reports whether an install is one of alternatives, of which it is unknown
// which one worked: `npm i a || true`, `npm i a || npm i b`. Two ways to install one
// package are no alternatives.
func isUnknown(installs []install, i int) bool {
	in := installs[i]
	if !in.excused && !in.fallback {
		return false
	}
	same, other := false, false
	for j, o := range installs {
		if j == i || o.excused == in.excused || !o.excused && !o.fallback {
			continue
		}
		same = same || o.name == in.name
		other = other || o.name != in.name
	}
	return !same && (in.excused || other)
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
			out[d.eco][foldPackage(d.eco, d.name)] = true
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
func reverts(cmd string) []catalog.Ecosystem {
	if !strings.Contains(cmd, "git ") && !strings.Contains(cmd, "rm ") {
		return nil
	}
	var out []catalog.Ecosystem
	for _, c := range shell.Commands(cmd) {
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

// written returns the files that commands write with here-documents, echo and printf,
// for transcripts without a workspace. Files of /tmp are not kept.
func written(cmds []transcript.Command) []transcript.FileChange {
	var out []transcript.FileChange
	for _, c := range cmds {
		if !c.Worked() || !strings.Contains(c.Cmd, ">") && !strings.Contains(c.Cmd, "tee") {
			continue
		}
		for _, s := range shell.Commands(c.Cmd) {
			file, text, more := writes(s)
			if file == "" || strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "/dev/") || strings.ContainsAny(file, "$`") {
				continue
			}
			at := slices.IndexFunc(out, func(f transcript.FileChange) bool { return f.Path == file })
			if at < 0 {
				at = len(out)
				out = append(out, transcript.FileChange{Path: file})
			}
			if !more {
				out[at].Added = nil
			}
			out[at].Added = append(out[at].Added, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
	}
	return out
}

// writes returns the file that a command writes, and its text.
func writes(c shell.Command) (file, text string, more bool) {
	file, more = c.Output, c.Append
	switch program(c.Words[0]) {
	case "cat":
		if len(c.Words) > 1 {
			return "", "", false
		}
		return file, c.Input, more
	case "tee":
		for _, arg := range c.Words[1:] {
			switch {
			case arg == "-a" || arg == "--append":
				more = true
			case !strings.HasPrefix(arg, "-"):
				return arg, c.Input, more
			}
		}
		return "", "", false
	case "echo", "printf":
		words := c.Words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		return file, strings.ReplaceAll(strings.Join(words, " "), `\n`, "\n"), more
	}
	return "", "", false
}
