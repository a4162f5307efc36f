package cliagent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

const (
	// maxBuildRaw is how much of a build's output is held, maxBuildOutput how much of its end
	// is kept. A secret at the cut of what is held is outside of what is kept.
	maxBuildRaw    = 32 << 10
	maxBuildOutput = 4 << 10
	shell          = "/bin/sh"
)

func buildTimeout(b *eval.Builds) time.Duration {
	return time.Duration(cmp.Or(b.TimeoutS, eval.DefaultBuildS)) * time.Second
}

// build runs the eval's command in the folder of an answered trial and adds its result to the
// reply. A command that could not run to its end for reasons outside of the folder leaves a
// note and no result.
func (p *program) build(ctx context.Context, f *folder, r *agent.Reply) {
	b := p.CLI.Builds
	if b == nil {
		return
	}
	note := func(why string) { r.Notes = append(r.Notes, "no result of builds: "+p.redact.Text(why)) }
	switch {
	case ctx.Err() != nil:
		note("the run was interrupted")
		return
	case !f.tree.Intact():
		note("the work folder is gone, or a link stands in its place")
		return
	}
	env := p.buildEnv(f)
	exit, err := process.Run(ctx, p.deps.Clock, process.Spec{
		Argv: p.sandboxed(f, []string{shell, "-c", "exec 2>&1\n" + b.Command}, env, buildTimeout(b)), Dir: f.workdir, Env: env,
		Supervisor: p.deps.Supervisor, Wall: buildTimeout(b), Limits: p.limits(f.dir), MaxRaw: maxBuildRaw,
	})
	switch {
	case err != nil:
		note(err.Error())
		return
	case exit.Why == process.Cancelled:
		note("the run was interrupted")
		return
	}
	r.Build = &journal.Build{Exit: exit.Code, WallMS: exit.Wall.Milliseconds(), Output: p.tail(exit.Raw)}
	if exit.Why != process.Exited {
		r.Build.Exit, r.Build.Ended = -1, string(exit.Why)
	}
}

// buildEnv returns the variables of the build: those of the folder and the path, and no key.
func (p *program) buildEnv(f *folder) (env []string) {
	for _, v := range p.env {
		if slices.Contains(folderVariables, v.name) {
			env = append(env, v.name+"="+f.fill.Replace(v.value))
		}
	}
	path, _ := p.deps.LookupEnv("PATH")
	return append(env, "PATH="+path)
}

// tail returns the end of an output as text without secrets.
func (p *program) tail(raw []byte) string {
	text := string(p.redact.Bytes(raw))
	text = text[max(0, len(text)-maxBuildOutput):]
	return strings.ToValidUTF8(text, "\uFFFD")
}
