package ship

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/runner/filelock"
)

const (
	// SpoolLimit bounds the batches that wait in the buffer folder, in bytes.
	SpoolLimit = 256 << 20
	// rejectedLimit bounds the file of refused events.
	rejectedLimit = 64 << 20

	lockFile     = "lock"
	rejectedFile = "rejected.ndjson"
	batchSuffix  = ".batch"
)

// ErrLocked means that another process uses the buffer folder.
var ErrLocked = errors.New("another process ships from this buffer folder: give each its own")

// A spool is the folder that outlives the process: how far logs were read, batches
// that wait for the service, and events that it refused.
type spool struct {
	dir   string
	limit int64
	lock  *os.File
	names []string // of waiting batches, oldest first
	bytes int64    // of them
	next  int64    // number of the next
	wait  int64    // events in them
}

func openSpool(dir string, limit int64) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(lock); err != nil {
		_ = lock.Close()
		if errors.Is(err, filelock.ErrHeld) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	s := &spool{dir: dir, limit: limit, lock: lock}
	if err := s.list(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// list finds the batches that an earlier process left.
func (s *spool) list() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), batchSuffix)
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			if strings.HasPrefix(e.Name(), ".") { // of a write that was broken off
				_ = os.Remove(filepath.Join(s.dir, e.Name()))
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		batch, err := s.read(e.Name())
		if err != nil {
			return err
		}
		s.names, s.bytes, s.wait, s.next = append(s.names, e.Name()), s.bytes+info.Size(), s.wait+int64(len(batch)), n+1
	}
	return nil
}

// full reports whether another batch must wait.
func (s *spool) full() bool { return s.bytes >= s.limit }

// put keeps a batch. When it returns, the batch is on disk.
func (s *spool) put(batch []entry) error {
	var data []byte
	for _, e := range batch {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	name := fmt.Sprintf("%016d%s", s.next, batchSuffix)
	if err := writeFile(s.dir, name, data); err != nil {
		return err
	}
	s.names, s.bytes, s.wait, s.next = append(s.names, name), s.bytes+int64(len(data)), s.wait+int64(len(batch)), s.next+1
	return nil
}

func (s *spool) read(name string) ([]entry, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []entry
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var e entry
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s is damaged: %w; move it away", f.Name(), err)
		}
		out = append(out, e)
	}
}

// oldest returns the batch that waits for longest.
func (s *spool) oldest() ([]entry, error) { return s.read(s.names[0]) }

// drop removes that batch, which was acknowledged.
func (s *spool) drop(events int) error {
	path := filepath.Join(s.dir, s.names[0])
	info, err := os.Stat(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return err
	}
	s.names, s.bytes, s.wait = s.names[1:], s.bytes-info.Size(), s.wait-int64(events)
	return nil
}

// reject records rejected events, with the reasons of the service.
func (s *spool) reject(list []rejected) error {
	f, err := os.OpenFile(filepath.Join(s.dir, rejectedFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < rejectedLimit {
		var data []byte
		for _, r := range list {
			var line []byte
			if line, err = json.Marshal(r); err != nil {
				break
			}
			data = append(append(data, line...), '\n')
		}
		if err == nil {
			_, err = f.Write(data)
		}
	}
	return errors.Join(err, f.Close())
}

func (s *spool) close() error { return s.lock.Close() }

// rejected is an event that the service refused.
type rejected struct {
	entry
	Code    string `json:"code"`
	Message string `json:"message"`
}
