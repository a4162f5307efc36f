package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/observed"
)

func newFieldCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "field",
		Short: "Count what agents used in real repositories",
		Long: `Count what agents used in pull requests and commits to existing repositories, mostly
what was there before. These figures are observed: they are marked so everywhere, never
mixed with trials, and never seen by rank, diff, gate or history. publish adds them to
the snapshot.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFieldScanCmd(env), newFieldAddCmd(env), newFieldBoardsCmd(env))
	return cmd
}

func (a *app) observedRoot() string { return filepath.Join(a.cfg.Data, "observed") }

// studies reads the field studies of the data folder, by name.
func (a *app) studies() ([]*observed.Study, error) {
	names, err := filepath.Glob(filepath.Join(a.observedRoot(), "*"+observed.Extension))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []*observed.Study
	for _, name := range names {
		s, err := readStudy(name)
		if err != nil {
			return nil, err
		}
		if want := s.Name + observed.Extension; filepath.Base(name) != want {
			return nil, badInput(fmt.Errorf("%s: the study is called %s; rename the file to %s", name, s.Name, want))
		}
		out = append(out, s)
	}
	return out, nil
}

// maxStudy is the largest file of a study that is read, in bytes.
const maxStudy = 256 << 20

func readStudy(name string) (*observed.Study, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, badInput(err)
	}
	if info.Size() > maxStudy {
		return nil, badInput(fmt.Errorf("%s: %d bytes; a study has at most %d", name, info.Size(), maxStudy))
	}
	data, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, badInput(err)
	}
	s, err := observed.Decode(data)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %s", name, strings.ReplaceAll(err.Error(), "\n", "\n"+name+": ")))
	}
	return s, nil
}

// keepStudy writes a study into the data folder, in place of one of the same name.
func (a *app) keepStudy(s *observed.Study) error {
	file, err := observed.Encode(s)
	if err != nil {
		return badInput(err)
	}
	return a.keepStudyFile(s.Name, file)
}

func (a *app) keepStudyFile(study string, file []byte) error {
	if err := os.MkdirAll(a.observedRoot(), 0o755); err != nil {
		return err
	}
	return writeStudy(filepath.Join(a.observedRoot(), study+observed.Extension), file)
}

// writeStudy replaces a file at once: a reader sees the old study or the new one.
func writeStudy(name string, data []byte) (err error) {
	if old, err := os.ReadFile(name); err == nil && slices.Equal(old, data) { //nolint:gosec // the user names it
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".study-*")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.Remove(f.Name()); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func newFieldAddCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "add FILE",
		Short: "Add a field study to the data folder",
		Long: `Add a field study to the data folder, in place of one of the same name. The file has
JSON lines, plain or compressed with zstd: a header, then one line per unit.

  {"kind":"observed","observed":true,"name":"ours","title":"Our repositories",
   "unit":"pull request","source":{"title":"...","cite":"..."},"asOf":null,
   "estimand":"...","ecosystems":["npm"],"read":812}
  {"id":"12","repo":"shop","language":"TypeScript","agent":"Codex",
   "tools":{"orm":["drizzle"]}}

A unit that uses no tool of the catalogue has no line and is counted in read.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			s, err := readStudy(args[0])
			if err != nil {
				return err
			}
			if err := a.keepStudy(s); err != nil {
				return err
			}
			_, _ = fmt.Fprintf(env.Stderr, "OBSERVED: study %s, %d of %d %ss use a tool, in %s\n", s.Name, len(s.Units), s.Read, s.Unit, a.observedRoot())
			return nil
		},
	}
}
