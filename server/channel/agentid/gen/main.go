// Command gen rebuilds the data about agents from its sources: the tables of names from
// public lists, and the snapshot of the address lists that operators and CDNs publish.
// Run it with each release, from the root of the repository:
//
//	go run ./server/channel/agentid/gen
//
// It reads names, patterns, hosts and prefixes, but no prose. Sources that cannot be
// fetched or parsed keep their data; the command names them and fails. Versions, dates
// and checksums of the tables go to data/sources.json, dates of the lists to the
// snapshot. Then review the diff and run the tests: they list browsers that no new
// token may match.
//
// With -inputs it builds the tables from local files, which must be those of
// data/sources.json: crawler-user-agents.json, robots.json and AIAssistants.yml. Then
// it fetches nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
)

const fetchTimeout = 30 * time.Second

// A job is one run of the command.
type job struct {
	data     string // folder of the tables
	snapshot string // file of the address lists
	inputs   string // folder of inputs; empty: fetch them and the address lists
	client   *http.Client
	now      time.Time
	out      io.Writer
}

func main() {
	log.SetFlags(0)
	j := job{client: &http.Client{Timeout: fetchTimeout}}
	flag.StringVar(&j.data, "data", "server/channel/agentid/data", "folder of the tables")
	flag.StringVar(&j.snapshot, "snapshot", "server/channel/agentid/ranges/data/snapshot.json", "file of the address lists")
	flag.StringVar(&j.inputs, "inputs", "", "make the tables from the recorded inputs in this folder, and fetch nothing")
	flag.Parse()
	j.now, j.out = time.Now().UTC(), os.Stdout //nolint:forbidigo // the edge of a command that only developers run
	if err := j.run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func (j *job) run(ctx context.Context) error {
	recorded, err := readRecords(filepath.Join(j.data, recordFile))
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tables() {
		i := slices.IndexFunc(recorded, func(r record) bool { return r.Table == t.file })
		if i < 0 {
			return fmt.Errorf("%s has no entry for %s", recordFile, t.file)
		}
		if err := j.table(ctx, t, &recorded[i]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.file, err))
		}
		_, _ = fmt.Fprintf(j.out, "%-22s %s %s, %s\n", t.file, recorded[i].Source, recorded[i].Version, recorded[i].Date)
	}
	if err := writeRecords(filepath.Join(j.data, recordFile), recorded); err != nil {
		return err
	}
	if j.inputs == "" {
		errs = append(errs, j.lists(ctx))
	}
	return errors.Join(errs...)
}

// lists fetches the address lists and writes the snapshot.
func (j *job) lists(ctx context.Context) error {
	set, err := ranges.Open(j.snapshot)
	if err != nil {
		return err
	}
	failed := set.Refresh(ctx, j.client, j.now) // which also writes the file, in the server's form
	raw, err := set.Snapshot()
	if err != nil {
		return err
	}
	asOf := set.AsOf()
	for _, s := range ranges.Sources() {
		day := "never fetched"
		if at, ok := asOf[s.List]; ok {
			day = at.Format(time.DateOnly)
		}
		_, _ = fmt.Fprintf(j.out, "%-22s %s\n", s.List, day)
	}
	return errors.Join(failed, os.WriteFile(j.snapshot, raw, 0o644))
}
