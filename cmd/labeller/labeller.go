// Package labeller is the terminal program by which a person labels trials: the answer
// in a pane, the tools and outcomes with their keys below it. It shows neither the agent
// nor the extracted outcome, before or after a label.
//
// A label is stored before the next trial is shown. The view is a pure function of the
// model; both are tested through the program, by keys.
package labeller

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/runner/label"
)

const defaultWidth, defaultHeight = 80, 24

// A Tool is a choice of the category.
type Tool struct{ Slug, Name string }

// A Config is what a session of labelling needs.
type Config struct {
	In  io.Reader
	Out io.Writer
	// Run and Category are shown in the title.
	Run, Category string
	// Tools are in the order of their keys.
	Tools   []Tool
	Session *label.Session
	// Load returns the lines of a trial: the prompt and the answer, without bytes that
	// steer a terminal.
	Load    func(trial string) ([]string, error)
	NoColor bool
}

// Run shows trials until all are labelled or the person quits. Labels of a session that
// ends otherwise are stored all the same.
func Run(ctx context.Context, cfg Config, opts ...tea.ProgramOption) error {
	m, err := newModel(cfg)
	if err != nil {
		return err
	}
	last, err := tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithoutSignalHandler(),
	}, opts...)...).Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return last.(*model).failed
}
