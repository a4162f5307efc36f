package publish

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
)

// The limits of what Verify holds in memory.
const (
	maxDocuments = 256 << 20 // bytes of all documents of a snapshot
	maxValues    = 1 << 20   // values of a document: an empty one takes hundreds of bytes once it is decoded
)

const unexpectedFile = "unexpected file in a snapshot"

// CheckFiles refuses files that no snapshot has, and documents that are larger than 256 MiB
// together, before any of them is read. Files that grow with the trials are no documents.
// The error is a *DamageError.
func (m *Manifest) CheckFiles() error {
	known := map[string]bool{catalogName: true, categoriesName: true, refsName: true, labelsName: true, trialsName: true, rowsName: true}
	folders := map[string]bool{}
	for _, e := range m.Evals {
		known[boardPath(e.Category)] = true
		folders[path.Dir(reportPath(e.Category, "slug"))] = true
		if m.SchemaVersion < 2 {
			continue
		}
		known[promptsPath(e.Category)] = true
		for _, name := range trialset.FileNames() {
			known[path.Join(trialset.Folder(e.Category, e.Name), name)] = true
		}
	}
	for _, study := range m.Observed {
		known[observedName], known[studyPath(study.Name)] = true, true
		folders[path.Dir(observedPath("category"))] = true
	}
	total := int64(0)
	for _, f := range m.Files {
		if !known[f.Path] && (!folders[path.Dir(f.Path)] || !strings.HasSuffix(f.Path, ".json")) {
			return &DamageError{Path: f.Path, Reason: unexpectedFile}
		}
		if large(f.Path) {
			continue
		}
		if total += min(f.Bytes, maxDocuments+1); total > maxDocuments {
			return &DamageError{Path: manifestName, Reason: fmt.Sprintf("documents of more than %d MiB; at most that many are read", maxDocuments>>20)}
		}
	}
	return nil
}

// tooMany says that a document has more values than a snapshot needs.
func tooMany(document []byte) bool { return bytes.Count(document, []byte{','}) > maxValues }
