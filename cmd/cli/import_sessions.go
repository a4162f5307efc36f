package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/importer"
	"github.com/firstpick/firstpick/runner/importer/sessions"
)

// A sessionImport has the flags that only --from uses.
type sessionImport struct {
	from     string
	category string
	tasks    []string
	agent    string
	prompt   string
	skipped  bool
}

// check refuses flags without --from, and an unknown kind.
func (s *sessionImport) check(cmd *cobra.Command) error {
	if s.from == "" {
		for _, name := range []string{"category", "tasks", "agent", "prompt", "skipped", "from"} {
			if cmd.Flags().Changed(name) {
				return usageErr("kinds: "+strings.Join(sessions.Kinds(), ", "), "--%s needs --from KIND", name)
			}
		}
		return nil
	}
	if !slices.Contains(sessions.Kinds(), s.from) {
		return usageErr(nearest.Hint(s.from, sessions.Kinds()), "--from: unknown kind %q", s.from)
	}
	return nil
}

// read makes a batch of the sessions in files and folders, and reports what was skipped.
func (s *sessionImport) read(o *importOptions, cat *catalog.Catalog) (importer.Batch, error) {
	scheme := sessions.Scheme{Category: s.category, Agent: s.agent}
	if s.category != "" {
		if _, ok := cat.Category(s.category); !ok {
			return importer.Batch{}, unknownCategory(cat, s.category)
		}
	}
	var err error
	if scheme.Tasks, err = tasksOf(cat, s.tasks); err != nil {
		return importer.Batch{}, err
	}
	report, err := sessions.Read(sessions.Options{Kind: s.from, Prompt: s.prompt}, o.files)
	if err != nil {
		return importer.Batch{}, badInput(fmt.Errorf("sessions: %w", err))
	}
	lines := report.Trials(scheme)
	for _, line := range report.Summary(s.skipped) {
		_, _ = fmt.Fprintln(o.env.Stderr, inert.Line(line))
	}
	if len(lines) == 0 {
		return importer.Batch{}, usageErr(sessionHint(&report), "no session was imported")
	}
	batch, err := importer.Collect(lines, cat, o.env.Now().UTC())
	if err != nil {
		return importer.Batch{}, &codedError{err, exitUsage, "nothing was stored"}
	}
	for i := range batch.Categories {
		part := &batch.Categories[i]
		if c, ok := cat.Category(part.Category); ok {
			if errs := part.Eval.Lint(c); len(errs) > 0 {
				o.note("%s: %s in the prompts: a name steers the answer", part.Category, counted(len(errs), "tool name"))
			}
		}
	}
	return batch, nil
}

// sessionHint is the next step after an import without a session.
func sessionHint(r *sessions.Report) string {
	for _, s := range r.Skipped {
		if s.Reason == sessions.NoCategory {
			return "--category SLUG says what the sessions measure"
		}
		if s.Reason == sessions.NoPrompt {
			return "--prompt TEXT is the prompt of streams that do not have it"
		}
	}
	return "--from has the kinds " + strings.Join(sessions.Kinds(), ", ")
}

// tasksOf returns the prompts of eval files, and the built-in ones.
func tasksOf(cat *catalog.Catalog, files []string) ([]sessions.Task, error) {
	var tasks []sessions.Task
	for _, c := range cat.Categories {
		library, err := eval.Library(fixtures.Files(), c.Slug)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		for _, p := range library.Prompts {
			tasks = append(tasks, sessions.Task{Category: c.Slug, Prompt: p})
		}
	}
	for _, file := range files { // after the built-in ones, which they replace
		ev, err := readEval(file)
		if err != nil {
			return nil, err
		}
		if _, ok := cat.Category(ev.Category); !ok {
			return nil, unknownCategory(cat, ev.Category)
		}
		for _, p := range ev.Prompts {
			tasks = append(tasks, sessions.Task{Category: ev.Category, Prompt: p})
		}
	}
	return tasks, nil
}
