package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/runner/eval"
)

//go:embed scaffold/firstpick.yaml
var scaffoldConfig []byte

//go:embed scaffold/payments.yaml
var scaffoldEval []byte

func newInitCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a configuration file and an example eval",
		Args:  usage(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := firstOr(args, ".")
			files := []struct {
				path string
				data []byte
			}{
				{configName, scaffoldConfig},
				{filepath.Join("evals", "payments.yaml"), scaffoldEval},
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
