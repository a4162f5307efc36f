package publish

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

// write writes the snapshot into a staging folder and adds it to the place from there.
func (in Input) write(ctx context.Context, m Manifest, docs map[string][]byte) (_ Manifest, id string, err error) {
	defer func() { err = in.Place.advise(err) }()
	staging, err := in.Place.staging()
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	tmp := filepath.Join(staging, "snapshot")
	for name, data := range docs {
		if err := writeFile(filepath.Join(tmp, filepath.FromSlash(name)), data); err != nil {
			return m, "", err
		}
		m.Files = append(m.Files, File{Path: name, SHA256: content.Digest(data), Bytes: int64(len(data))})
	}
	trials, err := in.writeTrials(ctx, tmp)
	if err != nil {
		return m, "", err
	}
	m.Files = append(m.Files, trials)
	if err := in.writeTraces(ctx, tmp, &m); err != nil {
		return m, "", err
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	data, err := content.JSON(m)
	if err != nil {
		return m, "", err
	}
	if err := errors.Join(writeFile(filepath.Join(tmp, manifestName), data), in.sign(tmp, data)); err != nil {
		return m, "", err
	}
	id = snapshotID(data)
	if err := os.Rename(tmp, filepath.Join(staging, id)); err != nil {
		return m, "", err
	}
	if _, err := Verify(ctx, staging, id, nil); err != nil { // before anybody can read it
		return m, "", fmt.Errorf("nothing published, readers could not verify it: %w", err)
	}
	return m, id, in.Place.add(ctx, storage.Folder(staging), id, m)
}

func (in Input) writeTrials(ctx context.Context, dir string) (File, error) {
	name := filepath.Join(dir, trialsName)
	if err := in.Store.WriteParquet(ctx, name, in.ids()); err != nil {
		return File{}, err
	}
	return content.HashFile(name)
}

func (in Input) sign(dir string, manifest []byte) error {
	if in.SignKey == nil {
		return nil
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(in.SignKey, manifest)) + "\n"
	return writeFile(filepath.Join(dir, signatureName), []byte(sig))
}
