package cliagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	// maxPrompt is the longest prompt that fits into one argument: Linux limits it to
	// 128 KiB with the final zero and the flag before the prompt. Standard input is
	// closed, because some programs wait for an open one.
	maxPrompt = 127 << 10
	// maxLater is the longest wait that a provider may ask for; a longer one means that
	// the quota is used up.
	maxLater = 24 * time.Hour
	// maxReport limits the size of a program's usage report.
	maxReport = 4 << 20
)

// Ask runs the program once, in a folder that it creates and removes.
func (p *program) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	if p.missing != nil {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNotStarted, Lane: true, Err: p.missing}
	}
	if err := fits(t.Prompt); err != nil {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonBadRequest, Err: err}
	}
	f, err := p.open(ctx, t)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Reply{}, ctx.Err()
		}
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNotStarted, Err: fmt.Errorf("the trial's folder: %w", err)}
	}
	defer f.close(p.deps.Keep)

	run, stop := context.WithCancel(ctx)
	defer stop()
	w, err := p.watch(t, stop)
	if err != nil {
		return agent.Reply{}, err
	}
	argv, env := p.argv(f)
	exit, err := process.Run(run, p.deps.Clock, process.Spec{
		Argv: argv, Dir: f.workdir, Env: env, Supervisor: p.deps.Supervisor, Wall: p.wall(), Stall: p.stall(), Grace: p.grace(),
		Limits: p.limits(f.dir), Stdout: w.stdout, Stderr: w.stderr, Ended: w.parser.Ended, MaxLine: stream.MaxLine,
	})
	if err != nil {
		err = fmt.Errorf("%s: %w; reinstall it: %s", p.binary.Path, err, p.install)
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNotStarted, Lane: true, Err: err}
	}
	return p.reply(ctx, f, w, exit)
}

// fits returns an error for a prompt that cannot be an argument.
func fits(prompt string) error {
	switch {
	case len(prompt) > maxPrompt:
		return fmt.Errorf("the prompt has %d bytes; the limit for a program is %d: shorten it, or put the text into a project template", len(prompt), maxPrompt)
	case strings.ContainsRune(prompt, 0):
		return errors.New("the prompt has a zero byte, which a program argument cannot contain")
	}
	return nil
}

// reply turns a finished program into an answer or a failure.
func (p *program) reply(ctx context.Context, f *folder, w *watch, exit process.Exit) (agent.Reply, error) {
	var report []byte
	if p.report != "" {
		report = p.redact.Bytes(readReport(f.fill.Replace(p.report)))
		w.parser.File(report)
	}
	code := exit.Code
	if exit.Why != process.Exited {
		code = -1
	}
	outcome := w.parser.End(code)
	if exit.Why == process.Cancelled && w.runs() && (outcome.Fail != nil || !w.parser.Ended()) {
		return agent.Reply{}, ctx.Err() // a complete answer is kept
	}
	cost := p.cost(outcome)
	raw := p.raw(exit, report)
	infra := w.verdict(exit, &outcome)
	var diff []transcript.FileChange
	var stats workspace.Stats
	if infra == nil {
		var err error
		if diff, stats, err = f.tree.Diff(context.WithoutCancel(ctx)); err != nil {
			err = fmt.Errorf("read the work folder after the trial: %w", err)
			return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonMalformed, Retry: true, Billed: true, CostUSD: cost, Raw: raw, Err: err}
		}
		infra = w.unfinished(exit, &outcome, len(diff)+stats.Skipped+len(stats.Notes) > 0)
	}
	if infra != nil {
		infra.CostUSD, infra.Raw = cost, raw
		return agent.Reply{}, p.failure(infra, exit)
	}
	for i := range diff {
		p.clean(&diff[i])
	}
	r := agent.Reply{Raw: raw, At: p.deps.Clock.Now().UTC()}
	for _, note := range slices.Concat(outcome.Notes, stats.Notes) {
		r.Notes = append(r.Notes, p.redact.Text(note))
	}
	r.Transcript.FinalText, r.Transcript.Commands = p.redact.Text(outcome.Final), outcome.Commands
	r.Transcript.Diff, r.Transcript.Stop = diff, outcome.Stop
	for i, c := range r.Transcript.Commands {
		r.Transcript.Commands[i].Cmd = p.redact.Text(c.Cmd)
	}
	for _, s := range outcome.Sources {
		s.URL = p.redact.Text(s.URL)
		r.Transcript.Sources = append(r.Transcript.Sources, s)
	}
	r.Model, r.Usage, r.CostUSD, r.WallMS = p.redact.Text(outcome.Model), outcome.Usage, cost, exit.Wall.Milliseconds()
	if r.Model == "" {
		r.Model = p.Model
	}
	if u := outcome.Usage; u != nil {
		r.InTokens, r.OutTokens = u.In(), u.Output
	}
	p.build(ctx, f, &r) // last: what it writes is no part of the answer
	return r, nil
}

// failure completes the error of an attempt without an answer.
func (p *program) failure(infra *agent.InfraError, exit process.Exit) *agent.InfraError {
	if infra.After > maxLater {
		infra.Reason, infra.Retry, infra.Lane, infra.After = agent.ReasonQuota, false, true, 0
	}
	if infra.Retry && infra.Reason != agent.ReasonRateLimited && infra.Reason != agent.ReasonServer {
		infra.Err = p.explain(infra.Err, exit) // the stream has no error
	}
	infra.Err = errors.New(p.redact.Text(infra.Err.Error()))
	return infra
}

// clean redacts a changed file. A key may span lines, or occur in the address of a
// package or in a name.
func (p *program) clean(c *transcript.FileChange) {
	c.Path = p.redact.Text(c.Path)
	for i, dep := range c.AddedDeps {
		c.AddedDeps[i] = p.redact.Text(dep)
	}
	all := strings.Join(c.Added, "\n")
	if text := p.redact.Text(all); text != all {
		c.Added = strings.Split(text, "\n")
	}
}

// readReport reads the program's report; nil if there is no valid one.
func readReport(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxReport {
		return nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // a regular file of the trial
	if err != nil {
		return nil
	}
	return text
}

// explain appends the end of standard error to an error.
func (p *program) explain(err error, exit process.Exit) error {
	text := p.redact.Text(strings.TrimSpace(string(exit.Stderr)))
	if text == "" {
		return err
	}
	const most = 600
	if len(text) > most {
		text = "..." + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return fmt.Errorf("%w; stderr: %s", err, text)
}
