package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

// The limits of a downloaded snapshot.
const (
	maxFiles = 100_000
	maxBytes = 16 << 30
)

// rows has the trials for readers without a library for Parquet.
const rows = "rows.ndjson.gz"

// download copies a snapshot to a folder of snapshots and checks every digest on the way.
func download(ctx context.Context, from storage.Opener, root, id string) (m publish.Manifest, err error) {
	if !validID(id) {
		return m, fmt.Errorf("%q is not the id of a snapshot, which has 20 digits of 0-9a-f: %w", id, ErrName)
	}
	dir := filepath.Join(root, id)
	data, err := readManifest(ctx, from, id)
	if err != nil {
		return m, err
	}
	if m, err = publish.ParseManifest(id, data); err == nil {
		err = m.CheckFiles()
	}
	if err != nil {
		return m, err
	}
	if err := checkFiles(m); err != nil {
		return m, problem(id+"/manifest.json", "%v", err)
	}
	if err := save(dir, "manifest.json", data); err != nil {
		return m, err
	}
	sig, _, err := storage.ReadAll(ctx, from, id+"/manifest.sig")
	if err == nil {
		err = save(dir, "manifest.sig", sig)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return m, err
	}
	for _, f := range m.Files {
		if err := fetch(ctx, from, dir, id, f); err != nil {
			return m, err
		}
	}
	return m, unlisted(ctx, from, id, m.Files)
}

// readManifest reads a manifest and checks it against the id.
func readManifest(ctx context.Context, from storage.Opener, id string) ([]byte, error) {
	data, _, err := storage.ReadAll(ctx, from, id+"/manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem(id+"/manifest.json", "missing: the snapshot is not there")
	}
	if err == nil && content.Digest(data)[:20] != id {
		err = problem(id+"/manifest.json", "its digest starts with %s, the id of the snapshot is %s", content.Digest(data)[:20], id)
	}
	return data, err
}

// checkFiles refuses what takes too long to download, and layout 2 without its rows.
func checkFiles(m publish.Manifest) error {
	if len(m.Files) > maxFiles {
		return fmt.Errorf("%d files, at most %d are read", len(m.Files), maxFiles)
	}
	var total int64
	for _, f := range m.Files {
		if total += f.Bytes; f.Bytes > maxBytes || total > maxBytes {
			return fmt.Errorf("more than %d bytes", int64(maxBytes))
		}
	}
	if m.SchemaVersion >= 2 && !slices.ContainsFunc(m.Files, func(f publish.File) bool { return f.Path == rows }) {
		return fmt.Errorf("does not list %s, which layout 2 has", rows)
	}
	return nil
}

// fetch copies one file of a snapshot.
func fetch(ctx context.Context, from storage.Opener, dir, id string, f publish.File) (err error) {
	in, err := from.Open(ctx, id+"/"+f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &publish.DamageError{Path: f.Path, Reason: "missing"}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	place := filepath.Join(dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(place, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, f.Bytes+1))
	if err != nil {
		return fmt.Errorf("%s/%s: %w", id, f.Path, err)
	}
	if n > f.Bytes {
		return &publish.DamageError{Path: f.Path, Reason: fmt.Sprintf("more than the %d bytes in the manifest", f.Bytes)}
	}
	if n < f.Bytes {
		return &publish.DamageError{Path: f.Path, Reason: fmt.Sprintf("%d bytes, %d in the manifest", n, f.Bytes)}
	}
	if hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return &publish.DamageError{Path: f.Path, Reason: "digest differs from the manifest"}
	}
	return nil
}

func save(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o600)
}

// unlisted refuses files that the manifest does not list, where the place lists files.
func unlisted(ctx context.Context, from storage.Opener, id string, files []publish.File) error {
	place, ok := from.(storage.Store)
	if !ok {
		return nil
	}
	list, err := place.List(ctx, id+"/")
	if err != nil {
		return err
	}
	known := map[string]bool{id + "/manifest.json": true, id + "/manifest.sig": true}
	for _, f := range files {
		known[id+"/"+f.Path] = true
	}
	for _, f := range list {
		if !known[f.Name] {
			return problem(f.Name, "not listed in the manifest")
		}
	}
	folder, ok := from.(storage.Folder)
	if !ok {
		return nil
	}
	return fs.WalkDir(os.DirFS(string(folder)), id, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() && !known[name] { // List leaves out links
			err = problem(name, "not listed in the manifest")
		}
		return err
	})
}
