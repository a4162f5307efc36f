package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// listCmds are the commands about evals themselves.
func (o *evalsOptions) listCmds(env *Env) []*cobra.Command {
	list := o.command(env, "list", "List the evals of the workspace", cobra.NoArgs, o.list)
	o.flags(list)
	show := o.command(env, "show EVAL", "Show an eval, or with --source its text", cobra.ExactArgs(1), o.show)
	show.Flags().IntVar(&o.version, "version", 0, "show this version (default: the latest)")
	show.Flags().BoolVar(&o.source, "source", false, "print only the source of the eval")
	push := o.command(env, "push EVAL.yaml", "Store an eval, or a new version of the one with its name", cobra.ExactArgs(1), o.push)
	check := o.command(env, "check EVAL.yaml", "Validate an eval on the server without storing it", cobra.ExactArgs(1), o.check)
	key := o.command(env, "key", "Show the key, its workspace and the limits", cobra.NoArgs, o.key)
	for _, cmd := range []*cobra.Command{show, push, check, key} {
		cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	}
	show.MarkFlagsMutuallyExclusive("json", "source")
	return []*cobra.Command{list, show, push, check, key}
}

func (o *evalsOptions) list(ctx context.Context, _ []string) error {
	evals := []*evalclient.Eval{}
	t := table{header: []string{"eval", "id", "version", "category", "agents", "trials", "expected $", "keys missing", "updated"}}
	for ev, err := range o.client.Evals(ctx) {
		if err != nil {
			return err
		}
		evals = append(evals, ev)
		t.add(ev.Name, ev.ID, fmt.Sprint(ev.Version), ev.Category, fmt.Sprint(len(ev.Agents)), fmt.Sprint(ev.Trials), amount(ev.ExpectedUSD),
			strings.Join(ev.MissingKeys, " "), stamp(ev.UpdatedAt))
	}
	if o.json {
		return printJSON(o.env, map[string]any{"evals": evals})
	}
	return t.print(o.env, o.format)
}

func (o *evalsOptions) key(ctx context.Context, _ []string) error {
	k, err := o.client.Whoami(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, k)
	}
	_, err = io.WriteString(o.env.Stdout, harmless(func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "key        %s %s (%s), for %s\n", k.Shown, k.Label, k.ID, strings.Join(k.Scopes, " and "))
		_, _ = fmt.Fprintf(w, "workspace  %s, %s\n", k.Workspace.Slug, k.Workspace.Plan)
		_, _ = fmt.Fprintf(w, "limits     %.2f USD per run, %d queued runs, %d evals\n", k.Limits.BudgetUSD, k.Limits.QueuedRuns, k.Limits.Evals)
	}))
	return err
}

// amount prints dollars that may not be known.
func amount(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *usd)
}

func (o *evalsOptions) show(ctx context.Context, args []string) error {
	ev, err := o.client.FindEval(ctx, args[0])
	if err == nil && o.version > 0 {
		ev, err = o.client.Version(ctx, ev.ID, o.version)
	}
	switch {
	case err != nil:
		return err
	case o.source && o.env.StdoutIsTTY:
		_, err = io.WriteString(o.env.Stdout, printableText(ev.Source))
		return err
	case o.source:
		_, err = io.WriteString(o.env.Stdout, ev.Source)
		return err
	}
	return o.printEval(ev)
}

func (o *evalsOptions) push(ctx context.Context, args []string) error {
	ev, err := o.store(ctx, args[0])
	if err != nil {
		return err
	}
	return o.printEval(ev)
}

// store puts an eval file on the server.
func (o *evalsOptions) store(ctx context.Context, file string) (*evalclient.Eval, error) {
	source, err := readSource(file)
	if err != nil {
		return nil, err
	}
	ev, err := o.client.Put(ctx, source)
	return ev, placed(file, err)
}

func (o *evalsOptions) check(ctx context.Context, args []string) error {
	source, err := readSource(args[0])
	if err != nil {
		return err
	}
	ev, err := o.client.Check(ctx, source)
	if err != nil {
		return placed(args[0], err)
	}
	return o.printEval(ev)
}

func readSource(file string) ([]byte, error) {
	return readFile("eval", "an eval is a few kilobytes of YAML", eval.MaxSize, file)
}

// readFile reads a file of at most most bytes. hint is what to do about a larger one.
func readFile(what, hint string, most int, file string) (_ []byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usageErr("", "%s: %w", what, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", what, err))
	}
	if len(data) > most {
		return nil, usageErr(hint, "%s: %s is larger than %d bytes", what, file, most)
	}
	return data, nil
}

// placed reports the problems of an eval file as lint and plan do: each problem with
// file and line.
func placed(file string, err error) error {
	var refused *evalclient.Error
	if !errors.As(err, &refused) || len(refused.Issues) == 0 {
		return err
	}
	var lines []string
	for _, issue := range refused.Issues {
		switch {
		case issue.Line > 0:
			lines = append(lines, fmt.Sprintf("%s:%d: %s", file, issue.Line, issue.Message))
		default:
			lines = append(lines, file+": "+issue.Message)
		}
	}
	return badInput(errors.New(strings.Join(lines, "\n")))
}

// printEval prints an eval; an eval that was only checked has no id.
func (o *evalsOptions) printEval(ev *evalclient.Eval) error {
	for _, w := range ev.Warnings {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s\n", clean(w))
	}
	switch {
	case o.json && ev.ID == "":
		return printJSON(o.env, struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
			resource.Summary
			MissingKeys []string `json:"missingKeys"`
			Warnings    []string `json:"warnings"`
		}{ev.Name, ev.Digest, ev.Summary, ev.MissingKeys, ev.Warnings})
	case o.json:
		return printJSON(o.env, ev)
	}
	_, err := io.WriteString(o.env.Stdout, harmless(func(w io.Writer) {
		line := func(name, format string, args ...any) {
			_, _ = fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
		}
		if ev.ID != "" {
			line("eval", "%s, version %d (%s)", ev.Name, ev.Version, ev.ID)
		} else {
			line("eval", "%s", ev.Name)
		}
		line("category", "%s", ev.Category)
		if ev.Description != "" {
			line("about", "%s", strings.ReplaceAll(strings.TrimSpace(ev.Description), "\n", " "))
		}
		line("trials", "%d: %d prompts, %d agents, %d projects, %d repeats", ev.Trials, ev.Prompts, len(ev.Agents), len(ev.Templates), ev.Repeats)
		for _, a := range ev.Agents {
			line("agent", "%s", strings.TrimSpace(a.Name+" "+a.Kind+" "+a.Model))
		}
		if ev.Synthetic {
			line("synthetic", "yes: its answers are simulated")
		}
		line("cost", "%s USD expected, %s worst case", amount(ev.ExpectedUSD), amount(ev.WorstUSD))
		if len(ev.ProviderKeys) > 0 {
			line("keys", "%s", strings.Join(ev.ProviderKeys, ", "))
		}
		if len(ev.MissingKeys) > 0 {
			line("missing", "%s: firstpick evals provider-key set NAME", strings.Join(ev.MissingKeys, ", "))
		}
		if ev.ID != "" {
			line("updated", "%s", stamp(ev.UpdatedAt))
		}
	}))
	return err
}
