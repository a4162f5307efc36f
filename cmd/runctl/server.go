// Package runctl lets another terminal look at a run under way and steer it: a
// few requests over HTTP on a Unix socket that only the run's owner can open.
package runctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firstpick/firstpick/runner"
)

const (
	// addrFile, in the folder of the run, holds the path of the socket.
	addrFile   = "control"
	socketName = "socket"
	// maxSocketPath is the longest portable path of a socket, in bytes.
	maxSocketPath = 100
	// tempNameSize is the most bytes in the name of a temporary folder.
	tempNameSize = len("firstpick-4294967295")
	answerWithin = 10 * time.Second
)

// A Server answers for one run.
type Server struct {
	http   http.Server
	done   chan struct{}
	remove func()
}

// order is the body of a request that changes something.
type order struct {
	Paused      *bool    `json:"paused,omitempty"`
	Concurrency *int     `json:"concurrency,omitempty"`
	MaxCostUSD  *float64 `json:"max_cost_usd,omitempty"`
}

type refusal struct {
	Error string `json:"error"`
}

// Listen answers for the run whose folder is dir until Close.
func Listen(dir string, c *runner.Control) (*Server, error) {
	dir, err := filepath.Abs(dir) // clients have working directories of their own
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	private, err := privateFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	remove := func() { _ = os.RemoveAll(private) }
	path := filepath.Join(private, socketName)
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		remove()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	file := filepath.Join(dir, addrFile)
	if err := os.WriteFile(file, []byte(path), 0o600); err != nil {
		_ = l.Close()
		remove()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	s := &Server{done: make(chan struct{}), remove: func() { _ = os.Remove(file); remove() }}
	s.http.Handler = handler(c)
	s.http.ReadTimeout, s.http.WriteTimeout = answerWithin, answerWithin
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// privateFolder creates the folder of the socket, accessible only to the owner from the
// beginning: a socket has every right that the umask leaves.
func privateFolder(dir string) (string, error) {
	private := filepath.Join(dir, "control.d")
	if len(private)+len(socketName)+1 > maxSocketPath {
		temp := os.TempDir()
		if len(temp)+tempNameSize+len(socketName)+2 > maxSocketPath {
			temp = "/tmp"
		}
		return os.MkdirTemp(temp, "firstpick-")
	}
	// It may be there, of a process that was killed; the run's lock is ours.
	return private, errors.Join(os.RemoveAll(private), os.Mkdir(private, 0o700))
}

// Close stops answering.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	s.remove()
	return err
}

func handler(c *runner.Control) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { answer(w, r, c, nil) })
	mux.HandleFunc("PATCH /status", func(w http.ResponseWriter, r *http.Request) {
		var o order
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		answer(w, r, c, &o)
	})
	return mux
}

// answer executes a command, if any, and returns the state of the run.
func answer(w http.ResponseWriter, r *http.Request, c *runner.Control, o *order) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin/2)
	defer cancel()
	if o != nil {
		if err := o.apply(ctx, c); err != nil {
			refuse(w, http.StatusConflict, err)
			return
		}
	}
	st, err := c.Status(ctx)
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(st)
}

func (o *order) apply(ctx context.Context, c *runner.Control) error {
	var errs []error
	if o.Concurrency != nil {
		errs = append(errs, c.SetConcurrency(ctx, *o.Concurrency))
	}
	if o.MaxCostUSD != nil {
		errs = append(errs, c.SetMaxCost(ctx, *o.MaxCostUSD))
	}
	if o.Paused != nil && *o.Paused {
		errs = append(errs, c.Pause(ctx))
	} else if o.Paused != nil {
		errs = append(errs, c.Resume(ctx))
	}
	return errors.Join(errs...)
}

func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(refusal{err.Error()})
}
