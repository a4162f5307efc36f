package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
)

// A VerifyReport lists the checks.
type VerifyReport struct {
	ID string
	// Files were compared with their hash, Documents recomputed from Trials
	// trials and compared byte for byte.
	Files, Documents, Trials int
	// Counts says that the boards follow from formulas 1: only what follows from counts was
	// recomputed, not intervals, rank ranges, tests and corrections by labels.
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
	if err := m.CheckFiles(); err != nil {
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
	docs, err := readFiles(dir, m.Files)
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
	if report.Documents, err = recompute(ctx, dir, filepath.Join(root, id, trialsName), id, m, docs); err != nil {
		return report, err
	}
	report.Trials, report.Counts = m.Counts.Trials, m.Statistics < 2
	_, err = assemble(id, m, docs, nil) // its documents are now known to be as large as they should
	return report, err
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
	store, err := trialstore.OpenUntrusted(ctx, trials, m.Counts.Trials)
	if errors.Is(err, trialstore.ErrRows) {
		return 0, &DamageError{Path: manifestName, Reason: "counts of trials: " + trialsName + " has " + err.Error()}
	}
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
	from := source{store: store, labels: labels.byCategory(), field: field, texts: texts, traces: tracesOf(dir, id, m)}
	if _, ok := docs[rowsName]; ok {
		if err := from.checkRows(ctx, &m, dir); err != nil {
			return 0, err
		}
	}
	boards, err := from.rank(ctx, known, &m)
	if inconsistent := new(inconsistentError); errors.As(err, &inconsistent) {
		return 0, &DamageError{Path: boardPath(inconsistent.category), Reason: inconsistent.Error()}
	}
	if err != nil {
		return 0, err
	}
	if err := checkSums(ctx, store, m, boards); err != nil {
		return 0, err
	}
	if m.Statistics > Statistics {
		return 0, fmt.Errorf("the snapshot has statistics %d, newer than %d: update firstpick to recompute its numbers", m.Statistics, Statistics)
	}
	if m.Statistics < 2 {
		if boards, err = from.older(ctx, id, m, boards, docs); err != nil {
			return 0, err
		}
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
	for _, f := range m.Files {
		if _, follows := want[f.Path]; !follows && !large(f.Path) && f.Path != catalogName && f.Path != refsName && f.Path != labelsName {
			return n, &DamageError{Path: f.Path, Reason: unexpectedFile}
		}
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
	if simulated := slices.ContainsFunc(m.Evals, func(e Eval) bool { return e.Synthetic }); m.Synthetic != simulated {
		return &DamageError{Path: manifestName, Reason: fmt.Sprintf("synthetic is %t, of its evals %t", m.Synthetic, simulated)}
	}
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	runs := map[string]trialstore.RunRow{}
	for _, r := range rows {
		runs[r.Category+"/"+r.Eval] = r
	}
	for _, e := range m.Evals {
		key := e.Category + "/" + e.Name
		r := runs[key]
		if r.Valid != e.Valid {
			return &DamageError{Path: manifestName, Reason: fmt.Sprintf("eval %s has %d valid trials, the trials file has %d", key, e.Valid, r.Valid)}
		}
		if r.Synthetic != e.Synthetic && r.Valid > 0 {
			return &DamageError{Path: manifestName, Reason: fmt.Sprintf("eval %s has synthetic %t, the trials file %t", key, e.Synthetic, r.Synthetic)}
		}
		if !slices.ContainsFunc(boards, func(b analytics.Board) bool { return b.Category == e.Category }) {
			return &DamageError{Path: catalogName, Reason: fmt.Sprintf("lacks %s, the category of eval %s", e.Category, e.Name)}
		}
		delete(runs, key)
	}
	if len(runs) > 0 {
		return &DamageError{Path: trialsName, Reason: "contains trials of an eval missing from the manifest"}
	}
	return nil
}
