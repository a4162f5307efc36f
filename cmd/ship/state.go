package ship

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

const (
	stateFile = "state.json"
	// maxMarks bounds the logs that are remembered; those not seen for longest go.
	maxMarks = 2000
)

// A mark says how far a log was read. A log is known again by its head, which is
// its first line, and by the end of the last line before the mark.
type mark struct {
	Path   string    `json:"path"` // where it was read first
	Head   []byte    `json:"head"` // hash of its first line
	Offset int64     `json:"offset"`
	Line   int64     `json:"line"`
	Tail   []byte    `json:"tail,omitempty"`
	Done   bool      `json:"done,omitempty"` // to its end, and it will not grow
	Seen   time.Time `json:"seen"`           // when it was last read from

	open *source // reads it
}

// A state is the marks of all logs, as a file.
type state struct {
	dir       string
	url       string // where they were sent to
	workspace string
	marks     []*mark
	saved     []byte // what the file holds
}

// storedState is the file.
type storedState struct {
	URL       string  `json:"url"`
	Workspace string  `json:"workspace,omitempty"` // empty until the service reports it
	Logs      []*mark `json:"logs"`
}

func readState(dir string) (*state, error) {
	s := &state{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		var stored storedState
		err = json.Unmarshal(data, &stored)
		s.url, s.workspace, s.marks = stored.URL, stored.Workspace, stored.Logs
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; delete it to read the logs from their beginning: nothing counts twice", filepath.Join(dir, stateFile), err)
	}
	s.saved = data
	return s, nil
}

// A SpoolError reports a buffer folder that was used for another service or workspace.
type SpoolError struct {
	Dir            string
	Workspace, URL string // of the events that were sent from it; Workspace may be empty
	To, ToURL      string // the workspace and the service of this run; To may be empty
}

// Error implements error.
func (e *SpoolError) Error() string {
	name := func(workspace, url string) string {
		if workspace == "" {
			return url
		}
		return "the workspace " + workspace + " of " + url
	}
	return fmt.Sprintf("the buffer folder %s is for %s, not for %s", e.Dir, name(e.Workspace, e.URL), name(e.To, e.ToURL))
}

// belongs fails when the logs were read for another service or workspace: its
// state does not apply to this one. An empty workspace is not known yet.
func (s *state) belongs(url, workspace string) error {
	if s.url != "" && s.url != url || s.workspace != "" && workspace != "" && s.workspace != workspace {
		return &SpoolError{s.dir, s.workspace, s.url, workspace, url}
	}
	s.url = url
	if workspace != "" {
		s.workspace = workspace
	}
	return nil
}

// save makes the marks durable.
func (s *state) save() error {
	if n := len(s.marks) - maxMarks; n > 0 {
		sorting.StableFunc(s.marks, func(a, b *mark) int { return a.Seen.Compare(b.Seen) })
		kept := s.marks[:0]
		for _, m := range s.marks {
			if n > 0 && m.open == nil {
				n--
				continue
			}
			kept = append(kept, m)
		}
		s.marks = kept
	}
	data, err := json.MarshalIndent(storedState{s.url, s.workspace, s.marks}, "", " ")
	if err != nil || bytes.Equal(data, s.saved) {
		return err
	}
	if err := writeFile(s.dir, stateFile, data); err != nil {
		return err
	}
	s.saved = data
	return nil
}

// writeFile replaces a file whole, and returns when it is on disk.
func writeFile(dir, name string, data []byte) error {
	tmp, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
