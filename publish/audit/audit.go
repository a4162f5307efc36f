// Package audit checks published results from outside: a snapshot of a server, a bucket or a
// folder, and the log beside it. It trusts nothing that it reads.
package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

// Options say what is checked.
type Options struct {
	// From has the published files. If it lists them, no other files may be there.
	From storage.Opener
	// Address names the place in the memory of heads and in messages.
	Address string
	// Snapshot is the id of the snapshot; empty means the current one.
	Snapshot string
	// Trusted are the accepted keys; if empty, every key is.
	Trusted []ed25519.PublicKey
	// Heads is the file that remembers the last head of each log; empty for none.
	Heads string
	Now   time.Time
}

// A Report lists what was checked.
type Report struct {
	Address   string     `json:"address"`
	Snapshot  string     `json:"snapshot"`
	AsOf      *time.Time `json:"asOf"`
	Synthetic bool       `json:"synthetic"`
	// Files were compared with their digests, Documents recomputed from Trials trials.
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`
	Documents int   `json:"documents"`
	Trials    int   `json:"trials"`
	// CountsOnly says that the boards follow from older formulas: their rates and
	// intervals were not recomputed.
	CountsOnly bool `json:"countsOnly,omitempty"`
	// Signed reports a signature, SignatureValid that a trusted key or the key of the log
	// made it.
	Signed         bool `json:"signed"`
	SignatureValid bool `json:"signatureValid"`
	// Log is nil where the place has no log.
	Log *LogReport `json:"log"`
}

// A LogReport lists what was checked of a log.
type LogReport struct {
	// Key is the public key of the log in hexadecimal, Trusted whether it is a given one.
	Key     string `json:"key"`
	Trusted bool   `json:"trusted"`
	Size    int64  `json:"size"`
	Root    string `json:"root"`
	// Before is the remembered size that the log continues; 0 for a log first seen.
	Before int64 `json:"before"`
	// Entry is the index of the snapshot.
	Entry int64 `json:"entry"`
	// Served is how many other snapshots of the log were found as logged, Unchecked how
	// many older ones were not looked for.
	Served    int `json:"served"`
	Unchecked int `json:"unchecked"`
	// Errata and Retraction are about the snapshot.
	Errata     []string `json:"errata,omitempty"`
	Retraction string   `json:"retraction,omitempty"`
	// Unlisted are registrations of the snapshot's evals without a run in it.
	Unlisted []int64 `json:"unlisted,omitempty"`
}

// A PlaceError is the first thing that is wrong.
type PlaceError struct {
	// File is the place, below the address.
	File string `json:"file"`
	// Reason says what is wrong.
	Reason string `json:"error"`
	*publish.Difference
}

// Error implements error.
func (p *PlaceError) Error() string { return p.File + ": " + p.Reason }

func problem(file, format string, args ...any) error {
	return &PlaceError{File: file, Reason: fmt.Sprintf(format, args...)}
}

// Run checks a snapshot and the log beside it. The error is a *PlaceError where the published
// files are wrong, and another one where they could not be read.
func Run(ctx context.Context, o Options) (r Report, err error) {
	r = Report{Address: o.Address, Snapshot: o.Snapshot}
	defer func() { err = o.place(r.Snapshot, err) }()
	if r.Snapshot == "" {
		if r.Snapshot, err = current(ctx, o.From); err != nil {
			return r, err
		}
	}
	view, before, err := o.open(ctx)
	if err != nil {
		return r, err
	}
	root, err := os.MkdirTemp("", "firstpick-verify-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	m, err := download(ctx, o.From, root, r.Snapshot)
	if err != nil {
		return r, err
	}
	r.AsOf, r.Synthetic = m.AsOf, m.Synthetic
	for _, f := range m.Files {
		r.Bytes += f.Bytes
	}
	if err := o.signature(&r, root, view); err != nil {
		return r, err
	}
	v, err := publish.Verify(ctx, root, r.Snapshot, nil)
	if err != nil {
		return r, err
	}
	r.Files, r.Documents, r.Trials, r.CountsOnly = v.Files, v.Documents, v.Trials, v.Counts
	if view != nil {
		r.Log = &LogReport{
			Key: hex.EncodeToString(view.Key), Trusted: o.trusts(view.Key), Size: view.Size, Root: view.Hash.String(), Before: before,
		}
		err = checkLog(ctx, o.From, view, root, r.Snapshot, m, r.Log)
	}
	return r, err
}

// place turns errors that blame a file into a *PlaceError.
func (o Options) place(id string, err error) error {
	var damage *publish.DamageError
	var fork *translog.ForkError
	var signature *translog.SignatureError
	switch {
	case errors.As(err, &damage):
		return &PlaceError{id + "/" + damage.Path, damage.Reason, damage.Difference}
	case errors.As(err, &fork):
		return problem("log/checkpoint", "%s", strings.TrimPrefix(fork.Error(), "log/checkpoint: "))
	case errors.As(err, &signature):
		return problem(signature.Path, "%s", signature.Err)
	}
	return err
}

func (o Options) trusts(key ed25519.PublicKey) bool {
	return slices.ContainsFunc(o.Trusted, func(k ed25519.PublicKey) bool { return k.Equal(key) })
}

// current returns the id of the current snapshot.
func current(ctx context.Context, from storage.Opener) (string, error) {
	data, _, err := storage.ReadAll(ctx, from, "current")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no current snapshot: %w", publish.ErrNotFound)
	}
	id := strings.TrimSpace(string(data))
	if err == nil && !validID(id) {
		err = problem("current", "not the id of a snapshot: %.40q", id)
	}
	return id, err
}

// open opens the log, and checks its key and that it continues the remembered head. The
// view is nil for a place that never had a log.
func (o Options) open(ctx context.Context) (view *translog.View, before int64, err error) {
	heads := heads{o.Heads}
	known, err := heads.read(o.Address)
	if err != nil {
		return nil, 0, err
	}
	view, err = translog.Open(ctx, o.From)
	if errors.Is(err, translog.ErrNoLog) {
		if known != nil {
			return nil, 0, problem("log/checkpoint", "missing: the log was removed; before: %s", known)
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if len(o.Trusted) > 0 && !o.trusts(view.Key) {
		return nil, 0, problem("log/checkpoint", "signed with the key %x, which is not trusted", []byte(view.Key))
	}
	if known != nil {
		before = known.Size
		if err := view.Extends(ctx, *known); err != nil {
			return nil, 0, err
		}
	}
	return view, before, heads.write(o.Address, view.Checkpoint, o.Now)
}

// signature checks the signature of the downloaded manifest. A snapshot without one is
// accepted from a trusted log: its entry has the digest of the manifest.
func (o Options) signature(r *Report, root string, view *translog.View) (err error) {
	if r.Signed, err = publish.CheckSignature(root, r.Snapshot, nil); err != nil || !r.Signed && view != nil {
		return err
	}
	accepted := o.Trusted
	if len(accepted) == 0 && view != nil {
		accepted = []ed25519.PublicKey{view.Key}
	}
	if len(accepted) == 0 {
		return nil
	}
	_, err = publish.CheckSignature(root, r.Snapshot, accepted)
	if r.SignatureValid = err == nil; len(o.Trusted) == 0 {
		return nil // of a key that nobody named
	}
	return err
}
