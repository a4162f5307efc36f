package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

//go:embed scaffold/firstpick.yaml
var scaffoldConfig []byte

func newInitCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a configuration file and an example eval",
		Long: `Write a configuration file, and an eval of payments with the built-in prompts of that
category. "firstpick new eval" writes those of other categories.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			example, err := exampleEval()
			if err != nil {
				return err
			}
			dir := firstOr(args, ".")
			files := []struct {
				path string
				data []byte
			}{
				{configName, scaffoldConfig},
				{filepath.Join("evals", exampleCategory+".yaml"), example},
				{filepath.Join("evals", "eval.schema.json"), eval.Schema()},
				{".gitignore", []byte(".firstpick/\n")},
			}
			for _, f := range files {
				path := filepath.Join(dir, f.path)
				if _, err := os.Stat(path); err == nil {
					_, _ = fmt.Fprintf(env.Stderr, "kept    %s\n", path)
					continue
				}
				if err := writeNew(path, f.data); err != nil {
					return err
				}
				_, _ = fmt.Fprintf(env.Stderr, "written %s\n", path)
			}
			_, _ = fmt.Fprintln(env.Stderr, "next: firstpick lint, then firstpick run evals/payments.yaml (a rehearsal: its answers are simulated)")
			return nil
		},
	}
}

// exampleCategory is the category of the eval that init writes.
const exampleCategory = "payments"

// exampleEval returns the eval that init writes.
func exampleEval() ([]byte, error) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		return nil, err
	}
	category, ok := cat.Category(exampleCategory)
	if !ok {
		return nil, unknownCategory(cat, exampleCategory)
	}
	d, err := newDraft(category, 0)
	if err != nil {
		return nil, err
	}
	d.Truth = "{stripe: 0.6, paddle: 0.2, paypal: 0.1, diy: 0.1}"
	return d.render(category)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
