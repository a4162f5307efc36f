// Package audit checks published results from outside: a snapshot of a server, a bucket or a
// folder, and the log beside it. It trusts nothing that it reads.
package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
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
	// Snapshot is the id of the snapshot; empty means the current one. Where there is a log,
	// it may be the unique start of an id.
	Snapshot string
	// Trusted are the accepted keys; if empty, every key is.
	Trusted []ed25519.PublicKey
	// Heads is the file that remembers the last head of each log; empty if absent.
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
	// SignatureChecked says that there was a key to check the signature with. A valid log
	// accepts a snapshot that is signed with another key.
	SignatureChecked bool `json:"signatureChecked"`
	// Log is nil where the place has no log.
	Log *LogReport `json:"log"`
	// Notes are what a reader should know although nothing is wrong.
	Notes []string `json:"notes,omitempty"`
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
	// Newest is the newest snapshot of the log that is not retracted, where it is another
	// one.
	Newest *Newest `json:"newest,omitempty"`
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

// A Newest is a snapshot of the log.
type Newest struct {
	Entry    int64  `json:"entry"`
	Snapshot string `json:"snapshot"`
}

// ErrName means that Options.Snapshot is not the id of a snapshot, nor the start of one.
var ErrName = errors.New("no such snapshot")

// A PlaceError is the first thing that is wrong.
type PlaceError struct {
	// File is the place, below the address.
	File string `json:"file"`
	// Reason says what is wrong.
	Reason string `json:"error"`
	// Next is what to do; empty if the message says it.
	Next string `json:"next,omitempty"`
	*publish.Difference
}

// Error implements error.
func (p *PlaceError) Error() string { return p.File + ": " + p.Reason }

func problem(file, format string, args ...any) *PlaceError {
	return &PlaceError{File: file, Reason: fmt.Sprintf(format, args...)}
}

// Run checks a snapshot and the log beside it. The error is a *PlaceError where the published
// files are wrong, a *HeadsError or ErrName if they apply, and another one where the files
// could not be read.
func Run(ctx context.Context, o Options) (r Report, err error) {
	r = Report{Address: o.Address, Snapshot: o.Snapshot}
	defer func() { err = o.place(r.Snapshot, err) }()
	if r.Snapshot == "" {
		if r.Snapshot, err = current(ctx, o.From); err != nil {
			return r, err
		}
	}
	book, err := o.open(ctx)
	if err != nil {
		return r, err
	}
	if r.Snapshot, err = o.resolve(ctx, book, r.Snapshot); err != nil {
		return r, err
	}
	root, err := os.MkdirTemp("", "firstpick-verify-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	m, err := download(ctx, o.From, root, r.Snapshot)
	if err != nil {
		return r, book.explain(ctx, r.Snapshot, err)
	}
	r.AsOf, r.Synthetic = m.AsOf, m.Synthetic
	for _, f := range m.Files {
		r.Bytes += f.Bytes
	}
	if err := o.signature(&r, root, book); err != nil {
		return r, err
	}
	v, err := publish.Verify(ctx, root, r.Snapshot, nil)
	if err != nil {
		return r, err
	}
	r.Files, r.Documents, r.Trials, r.CountsOnly = v.Files, v.Documents, v.Trials, v.Counts
	if book == nil {
		return r, nil
	}
	if r.Log, err = book.check(ctx, root, r.Snapshot, m); err != nil {
		return r, err
	}
	if n := r.Log.Newest; n != nil && o.Snapshot == "" {
		r.Notes = append(r.Notes, fmt.Sprintf("the current snapshot is entry %d; the newest snapshot of the log is entry %d (%s)", r.Log.Entry, n.Entry, n.Snapshot))
	}
	if book.note != "" {
		r.Notes = append(r.Notes, book.note)
	}
	return r, nil
}

// place turns errors that blame a file into a *PlaceError.
func (o Options) place(id string, err error) error {
	var damage *publish.DamageError
	var fork *translog.ForkError
	var file *translog.FileError
	switch {
	case errors.As(err, &damage):
		return &PlaceError{File: id + "/" + damage.Path, Reason: damage.Reason, Difference: damage.Difference}
	case errors.As(err, &fork):
		p := problem("log/checkpoint", "%s", strings.TrimPrefix(fork.Error(), "log/checkpoint: "))
		if o.Heads != "" {
			p.Next = o.evidence()
		}
		return p
	case errors.As(err, &file):
		return problem(file.Path, "%s", file.Err)
	}
	return err
}

func (o Options) trusts(key ed25519.PublicKey) bool {
	return slices.ContainsFunc(o.Trusted, func(k ed25519.PublicKey) bool { return k.Equal(key) })
}

// signature checks the signature of the downloaded manifest. A snapshot without one is
// accepted from a trusted log: its entry has the digest of the manifest.
func (o Options) signature(r *Report, root string, book *logbook) (err error) {
	accepted := o.Trusted
	if len(accepted) == 0 && book != nil {
		accepted = []ed25519.PublicKey{book.view.Key}
	}
	r.Signed, err = publish.CheckSignature(root, r.Snapshot, accepted)
	if r.SignatureChecked = r.Signed && len(accepted) > 0; !r.Signed && book != nil {
		return nil
	}
	if r.SignatureValid = r.SignatureChecked && err == nil; len(o.Trusted) == 0 && errors.As(err, new(*publish.DamageError)) {
		return nil // of a key that nobody named
	}
	return err
}
