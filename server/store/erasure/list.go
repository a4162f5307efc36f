package erasure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// ListFile is the name of the erasure list in the data folder.
const ListFile = "erasures.ndjson"

// A List is the file of all erasures, outside of backups. Lines are only appended. They
// hold marks, which are keyed hashes: without the master key they name nothing. The empty
// List keeps nothing.
type List string

// A line is an erasure in the list.
type line struct {
	Kind string    `json:"kind"`
	Mark string    `json:"mark"`
	At   time.Time `json:"at"`
}

// Read returns the erasures of the list; none when there is no file. An interrupted last
// line is left out.
func (l List) Read() ([]state.Erasure, error) {
	data, err := os.ReadFile(string(l))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []state.Erasure
	for n := 1; len(data) > 0; n++ {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(text) == 0 {
			continue
		}
		var e line
		if err := json.Unmarshal(text, &e); err != nil || e.Mark == "" || e.Kind == "" {
			if !whole {
				break
			}
			if len(rest) > 0 && rest[0] == '\n' {
				continue // interrupted, and followed by a new line
			}
			return nil, fmt.Errorf("%s:%d: not a line of an erasure list", l, n)
		}
		out = append(out, state.Erasure{Kind: e.Kind, Mark: e.Mark, RequestedAt: e.At})
	}
	return out, nil
}

// Add appends the erasures that the list lacks, and syncs the file.
func (l List) Add(erasures []state.Erasure) error {
	if l == "" || len(erasures) == 0 {
		return nil
	}
	have, err := l.Read()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range have {
		known[e.Mark] = true
	}
	var text bytes.Buffer
	for _, e := range erasures {
		if known[e.Mark] {
			continue
		}
		known[e.Mark] = true
		data, err := json.Marshal(line{e.Kind, e.Mark, e.RequestedAt})
		if err != nil {
			return err
		}
		text.Write(append(data, '\n'))
	}
	if text.Len() == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(l)), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(string(l), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(l.separator(f), text.Bytes()...))
	return errors.Join(err, f.Sync(), f.Close())
}

// separator ends an interrupted line, with an empty one behind it.
func (l List) separator(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return nil
	}
	return []byte("\n\n")
}
