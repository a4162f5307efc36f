package views

import (
	"fmt"
	"strings"
)

// A snapshotFile is a file, or a folder of many.
type snapshotFile struct{ Name, Link, Size, Note string }

// files lists the files without a folder, and the folders.
func files(s Snapshot, m Manifest) []snapshotFile {
	link := SnapshotPath(s.ID) + "/"
	out := []snapshotFile{{Name: "manifest.json", Link: link + "manifest.json", Note: "lists every file with its digest; its own digest begins with the id"}}
	if s.Signed {
		out = append(out, snapshotFile{Name: "manifest.sig", Link: link + "manifest.sig", Note: "signature of the manifest"})
	}
	type folder struct {
		n     int
		bytes int64
	}
	folders := map[string]*folder{}
	for _, f := range m.Files {
		head, _, deep := strings.Cut(f.Path, "/")
		if !deep {
			out = append(out, snapshotFile{Name: f.Path, Link: link + f.Path, Size: size(f.Bytes), Note: fileNote(f.Path)})
			continue
		}
		if folders[head] == nil {
			folders[head] = &folder{}
		}
		folders[head].n++
		folders[head].bytes += f.Bytes
	}
	for _, name := range []string{"boards", "reports", "prompts", "trials", "observed"} {
		if f := folders[name]; f != nil {
			out = append(out, snapshotFile{Name: name + "/", Size: size(f.bytes), Note: quantity(f.n, "file") + " " + fileNote(name)})
		}
	}
	return out
}

func fileNote(name string) string {
	return map[string]string{
		"trials.parquet": "a row for each trial", "rows.ndjson.gz": "the rows of trials that boards are computed from", "catalog.json": "the catalogue of tools", "categories.json": "the list of boards", "refs.json": "names of tools", "labels.json": "labels of people",
		"boards": "with the leaderboards", "reports": "with the reports of tools", "prompts": "with the prompts", "trials": "with answers and evidence", "observed": "of field studies",
	}[name]
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
