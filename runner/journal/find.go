package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// Find returns the records of the trials whose id has the prefix, and the manifests of
// their agents, in order. It decodes nothing else, so that one trial of a large run is
// found quickly; other records are not validated.
func Find(root, id, prefix string) ([]Record, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return nil, err
	}
	segments, err := segmentsOf(dir)
	if err != nil {
		return nil, err
	}
	if err := unbroken(dir, segments, Offset{}); err != nil {
		return nil, err
	}
	var found []Record
	for i, n := range segments {
		if found, err = findIn(segmentPath(dir, n), i == len(segments)-1, prefix, found); err != nil {
			return nil, err
		}
	}
	return ofTrials(found, prefix), nil
}

// findIn appends a segment's records of matching trials, and all manifests.
func findIn(path string, last bool, prefix string, found []Record) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(f, 1<<20)
	table, name, manifest := newTable(), []byte(`"id":"`+prefix), []byte(`"`+string(KindManifest)+`"`)
	var long []byte
	var at int64
	for {
		line, err := readLine(in, &long)
		if errors.Is(err, io.EOF) {
			s := scanner{path: path, last: last}
			return found, s.torn(Offset{Byte: at}, len(line))
		}
		if err != nil {
			return nil, &DamageError{Path: path, Byte: at, Reason: err.Error()}
		}
		if bytes.Contains(line, name) || bytes.Contains(line[:min(len(line), 64)], manifest) {
			var r Record
			if reason := decode(table, line[:len(line)-1], &r); reason != "" {
				return nil, &DamageError{Path: path, Byte: at, Reason: reason}
			}
			found = append(found, r)
		}
		at += int64(len(line))
	}
}

// ofTrials filters the records of matching trials and of their agents.
func ofTrials(found []Record, prefix string) []Record {
	agents := map[string]bool{}
	for _, r := range found {
		if r.Trial.ID != "" && strings.HasPrefix(r.Trial.ID, prefix) {
			agents[r.Trial.Agent] = true
		}
	}
	matching := found[:0]
	for _, r := range found {
		if r.Trial.ID != "" && strings.HasPrefix(r.Trial.ID, prefix) || r.Manifest != nil && agents[r.Manifest.Agent] {
			matching = append(matching, r)
		}
	}
	return matching
}
