package publish

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/trialstore"
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
	id := snapshotID(data)
	if err := os.Rename(tmp, filepath.Join(staging, id)); err != nil {
		return m, "", err
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
