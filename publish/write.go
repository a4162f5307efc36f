package publish

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/gather"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/trialset"
)

// write writes the rest of a snapshot beside its trials in a staging folder, and adds it to
// the place from there.
func (in Input) write(ctx context.Context, staging string, m Manifest, docs map[string][]byte) (Manifest, string, error) {
	tmp := filepath.Join(staging, unnamed)
	for name, data := range docs {
		if err := writeFile(filepath.Join(tmp, filepath.FromSlash(name)), data); err != nil {
			return m, "", err
		}
		m.Files = append(m.Files, File{Path: name, SHA256: content.Digest(data), Bytes: int64(len(data))})
	}
	trials, err := content.HashFile(filepath.Join(tmp, trialsName))
	if err != nil {
		return m, "", err
	}
	m.Files = append(m.Files, trials)
	sorting.Func(m.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	data, err := content.JSON(m)
	if err != nil {
		return m, "", err
	}
	if err := errors.Join(writeFile(filepath.Join(tmp, manifestName), data), in.sign(tmp, data)); err != nil {
		return m, "", err
	}
	id := snapshotID(data)
	if err := os.Rename(tmp, filepath.Join(staging, id)); err != nil {
		return m, "", err
	}
	if _, err := Verify(ctx, staging, id, nil); err != nil { // before anybody can read it
		return m, "", fmt.Errorf("nothing published, readers could not verify it: %w", err)
	}
	return m, id, in.Place.add(ctx, storage.Folder(staging), id, m)
}

// unnamed is the folder of a snapshot whose id is not known yet.
const unnamed = "snapshot"

// writeTrials writes trials.parquet and opens it: what is published follows from it, as it
// must for those who verify.
func (in Input) writeTrials(ctx context.Context, staging string) (*trialstore.Store, error) {
	dir := filepath.Join(staging, unnamed)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	if err := in.Store.WriteParquet(ctx, filepath.Join(dir, trialsName), in.ids(), in.policy(false).Picked); err != nil {
		return nil, err
	}
	return OpenTrials(ctx, staging, unnamed)
}

// policy returns what is published of the trials of a run.
func (in Input) policy(synthetic bool) *gather.Policy {
	return gather.NewPolicy(cmp.Or(in.Evidence, trialset.Quotes), synthetic, in.Catalog)
}

func (in Input) sign(dir string, manifest []byte) error {
	if in.SignKey == nil {
		return nil
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(in.SignKey, manifest)) + "\n"
	return writeFile(filepath.Join(dir, signatureName), []byte(sig))
}

// add puts a snapshot of a staging folder into the place. What is there already stays, if
// it is not damaged; only the signature is replaced.
func (p Place) add(ctx context.Context, staging storage.Folder, id string, m Manifest) error {
	manifest, err := content.JSON(m)
	if err != nil {
		return err
	}
	folder, remote := p.Folder()
	if remote {
		if err := p.upload(ctx, staging, id, m, manifest); err != nil {
			return err
		}
	}
	if moved, err := move(folder, staging, id); moved || err != nil {
		return err
	}
	if remote {
		return p.copy(ctx, folder, staging, id, manifest)
	}
	return p.upload(ctx, staging, id, m, manifest)
}

// upload copies a snapshot of a staging folder into the place.
func (p Place) upload(ctx context.Context, staging storage.Folder, id string, m Manifest, manifest []byte) error {
	extra, err := p.extra(ctx, id, m)
	if err != nil {
		return err
	}
	for _, name := range extra {
		if err := p.Store.Remove(ctx, path.Join(id, name)); err != nil {
			return err
		}
	}
	if err := copySignature(ctx, p.Store, staging, id); err != nil {
		return err
	}
	return p.copy(ctx, p.Store, staging, id, manifest)
}

// move moves a snapshot of a staging folder into its folder, all files at once. It reports
// false if the folder has files of the snapshot.
func move(folder, staging storage.Folder, id string) (bool, error) {
	from := filepath.Join(string(staging), id)
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return content.Sync(name)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
	})
	if err == nil {
		err = os.Rename(from, filepath.Join(string(folder), id))
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err == nil {
		err = content.Sync(string(folder))
	}
	return err == nil, err
}

// advise adds advice to an error of writing.
func (p Place) advise(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write a snapshot under %s: %w", p.Store, err)
	switch {
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "No space left on device"):
		return fmt.Errorf("%w; free some space and publish again; readers see whole snapshots only", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; choose a directory that this user may write to", err)
	}
	return err
}

// staging creates a folder for a snapshot that is being made.
func (p Place) staging() (string, error) {
	folder, _ := p.Folder()
	return folder.Staging()
}
