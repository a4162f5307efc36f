package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/runner/eval"
)

func newNewCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Write a new file",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNewEvalCmd(env))
	return cmd
}

func newNewEvalCmd(env *Env) *cobra.Command {
	var prompts int
	var agents []string
	cmd := &cobra.Command{
		Use:   "eval CATEGORY",
		Short: "Write an eval file with the built-in prompts of a category",
		Long: `Write evals/CATEGORY.yaml with the built-in prompts of a category: 20 unbranded tasks
with family and tags, to be edited. Without --agents, the agent is a simulated one. An
existing file is never replaced.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("prompts") && prompts == 0 {
				return usageErr("", "--prompts must be at least 1 (got 0)")
			}
			return a.newEval(args[0], prompts, agents)
		},
	}
	cmd.Flags().IntVar(&prompts, "prompts", 0, "how many of the prompts, spread evenly over the list (default all)")
	cmd.Flags().StringSliceVar(&agents, "agents", nil, "agents as KIND:MODEL, separated by commas")
	return cmd
}

// newEval writes the eval file of a category, and the schema for editors beside it.
func (a *app) newEval(slug string, prompts int, agents []string) error {
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	category, ok := cat.Category(slug)
	if !ok {
		return unknownCategory(cat, slug)
	}
	d, err := newDraft(category, prompts)
	if err != nil {
		return err
	}
	for _, agent := range agents {
		if err := d.addAgent(agent); err != nil {
			return err
		}
	}
	text, err := d.render(category)
	if err != nil {
		return err
	}
	path := filepath.Join("evals", slug+".yaml")
	if err := writeNew(path, text); errors.Is(err, fs.ErrExist) {
		return usageErr("edit it, or rename it first", "%s exists already", path)
	} else if err != nil {
		return err
	}
	schema := filepath.Join("evals", "eval.schema.json")
	if _, err := os.Stat(schema); errors.Is(err, fs.ErrNotExist) {
		if err := writeNew(schema, eval.Schema()); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "written %s\nnext: firstpick lint, then firstpick run %s\n", path, path)
	return nil
}
