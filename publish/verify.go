package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish/trialset"
)

// A VerifyReport lists the checks.
type VerifyReport struct {
	ID string
	// Files were compared with their hash, Documents recomputed from Trials
	// trials and compared byte for byte.
	Files, Documents, Trials int
	// Counts says that the boards follow from older formulas: of each board, the counts
	// were compared, not the rates and intervals.
	Counts bool
	// Signed reports that a signature exists, SignatureValid that the given key made
	// it.
	Signed, SignatureValid bool
}

// Verify checks a snapshot: every hash, no added file, the signature if pub is given,
// and that all numbers follow from its trials. If pub is nil, the report only has
// whether a signature exists. The first problem is returned as a *DamageError.
func Verify(ctx context.Context, root, id string, pub ed25519.PublicKey) (VerifyReport, error) {
	report := VerifyReport{ID: id}
	dir, err := openSnapshot(root, id)
	if err != nil {
		return report, err
	}
	defer func() { _ = dir.Close() }()
	m, err := readManifest(dir, id)
	if err != nil {
		return report, err
	}
	var trusted []ed25519.PublicKey
	if pub != nil {
		trusted = append(trusted, pub)
	}
	if report.Signed, err = checkSignature(dir, id, trusted); err != nil {
		return report, err
	}
	report.SignatureValid = report.Signed && pub != nil
	docs, err := readFiles(dir, m)
	if err != nil {
		return report, err
	}
	report.Files = len(m.Files)
	if err := refuseExtra(dir, docs); err != nil {
		return report, err
	}
	if err := checkTraces(ctx, dir, id, m); err != nil {
		return report, err
	}
	if _, err := assemble(id, m, docs); err != nil {
		return report, err
	}
	report.Documents, err = recompute(ctx, dir, filepath.Join(root, id, trialsName), id, m, docs)
	report.Trials, report.Counts = m.Counts.Trials, m.Statistics < Statistics
	return report, err
}

// CheckSignature reports whether a snapshot is signed. Where keys are trusted, it fails with
// a *DamageError unless the signature is of one of them.
func CheckSignature(root, id string, trusted []ed25519.PublicKey) (signed bool, err error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }()
	return checkSignature(dir, id, trusted)
}

// checkSignature reports whether a snapshot is signed. Where keys are trusted, it fails
// unless the signature is of one of them.
func checkSignature(dir *os.Root, id string, trusted []ed25519.PublicKey) (signed bool, err error) {
	text, err := readDocument(dir, signatureName)
	if errors.Is(err, fs.ErrNotExist) {
		if len(trusted) > 0 {
			return false, &DamageError{Path: signatureName, Reason: "missing: the snapshot is not signed"}
		}
		return false, nil
	}
	if err != nil || len(trusted) == 0 {
		return true, err
	}
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return true, &DamageError{Path: signatureName, Reason: "not base64"}
	}
	manifest, err := readManifestBytes(dir, id)
	if err != nil {
		return true, err
	}
	for _, pub := range trusted {
		if len(pub) == ed25519.PublicKeySize && ed25519.Verify(pub, manifest, sig) {
			return true, nil
		}
	}
	return true, &DamageError{Path: signatureName, Reason: "the given key did not sign this manifest"}
}

func refuseExtra(dir *os.Root, docs map[string][]byte) error {
	return fs.WalkDir(dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == manifestName || name == signatureName {
			return err
		}
		if _, ok := docs[name]; !ok {
			return &DamageError{Path: name, Reason: "not listed in the manifest"}
		}
		return nil
	})
}

// recompute derives every document from the trials and compares.
func recompute(ctx context.Context, dir *os.Root, trials, id string, m Manifest, docs map[string][]byte) (n int, err error) {
	var known fields
	if err := decode(docs, catalogName, &known); err != nil {
		return 0, err
	}
	store, err := trialstore.OpenParquet(ctx, trials)
	if err != nil {
		return 0, &DamageError{Path: trialsName, Reason: err.Error()}
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := verifyTraces(ctx, dir, id, m, store); err != nil {
		return 0, err
	}
	var labels labelList
	if docs[labelsName] != nil {
		if err := decode(docs, labelsName, &labels); err != nil {
			return 0, err
		}
	}
	texts, err := publishedTexts(&m, docs)
	if err != nil {
		return 0, err
	}
	field, err := readFieldwork(m, docs, known.Observed)
	if err != nil {
		return 0, err
	}
	from := source{store: store, labels: labels.byCategory(), field: field, texts: texts}
	if _, ok := docs[rowsName]; ok {
		if err := from.checkRows(ctx, &m, dir); err != nil {
			return 0, err
		}
	}
	boards, err := from.rank(ctx, known, &m)
	if err != nil {
		return 0, err
	}
	if err := checkSums(ctx, store, m, boards); err != nil {
		return 0, err
	}
	if m.Statistics > Statistics {
		return 0, fmt.Errorf("the snapshot has statistics %d, newer than %d: update firstpick to recompute its numbers", m.Statistics, Statistics)
	}
	if m.Statistics < Statistics {
		return compareCounts(boards, docs)
	}
	want, err := documents(boards, m.SchemaVersion)
	if err != nil {
		return 0, err
	}
	if _, err := field.documents(want); err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !bytes.Equal(want[name], docs[name]) {
			damage := &DamageError{Path: name, Reason: "does not follow from the trials of the snapshot"}
			if d := differenceOf(name, docs[name], want[name]); d != nil {
				damage.Reason, damage.Difference = d.String(), d
			}
			return n, damage
		}
		n++
	}
	for _, e := range m.Evals {
		for _, name := range trialset.FileNames() {
			want[path.Join(trialset.Folder(e.Category, e.Name), name)] = nil // they were compared above
		}
	}
	for _, f := range m.Files {
		_, follows := want[f.Path]
		if !follows && f.Path != catalogName && f.Path != refsName && f.Path != labelsName && f.Path != trialsName && f.Path != rowsName {
			return n, &DamageError{Path: f.Path, Reason: "unexpected file in a snapshot"}
		}
	}
	return n, nil
}

// compareCounts compares the trials, outcomes and picks of boards by older formulas.
func compareCounts(boards []analytics.Board, docs map[string][]byte) (n int, err error) {
	for _, b := range boards {
		var old analytics.Board
		name := boardPath(b.Category)
		if err := decode(docs, name, &old); err != nil {
			return n, err
		}
		picks := map[string]int{}
		for _, s := range b.Tools {
			picks[s.Slug] = s.Picks
		}
		same := old.NTrials == b.NTrials && old.Outcomes == b.Outcomes && len(old.Tools) == len(b.Tools)
		for _, s := range old.Tools {
			same = same && picks[s.Slug] == s.Picks
		}
		if !same {
			return n, &DamageError{Path: name, Reason: "its counts do not follow from the trials of the snapshot"}
		}
		n++
	}
	return n, nil
}

// checkSums compares the figures of the manifest itself.
func checkSums(ctx context.Context, store *trialstore.Store, m Manifest, boards []analytics.Board) error {
	sums := m
	sumUp(&sums, boards)
	same := sums.AsOf == m.AsOf || sums.AsOf != nil && m.AsOf != nil && sums.AsOf.Equal(*m.AsOf)
	if sums.Counts != m.Counts || !same {
		return &DamageError{Path: manifestName, Reason: fmt.Sprintf("counts are %+v, computed from the trials: %+v", m.Counts, sums.Counts)}
	}
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	valid := map[string]int{}
	for _, r := range rows {
		valid[r.Category+"/"+r.Eval] = r.Valid
	}
	for _, e := range m.Evals {
		key := e.Category + "/" + e.Name
		if valid[key] != e.Valid {
			return &DamageError{Path: manifestName, Reason: fmt.Sprintf("eval %s has %d valid trials, the trials file has %d", key, e.Valid, valid[key])}
		}
		delete(valid, key)
	}
	if len(valid) > 0 {
		return &DamageError{Path: trialsName, Reason: "contains trials of an eval missing from the manifest"}
	}
	return nil
}
