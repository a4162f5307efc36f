package publish

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish/content"
)

// rowsName holds the trials once more, as gzipped NDJSON: what a reader without a library
// for Parquet needs to compute every rate again.
const rowsName = "rows.ndjson.gz"

// A row is one line of rows.ndjson.gz.
type row struct {
	Category string `json:"category"`
	Eval     string `json:"eval"`
	Agent    string `json:"agent"`
	Prompt   string `json:"prompt"`
	// Family is the statistical cluster; a prompt without one is a cluster of its own.
	Family    string   `json:"family,omitempty"`
	Template  string   `json:"template"`
	Repeat    int      `json:"repeat"`
	Outcome   string   `json:"outcome"`
	Picked    string   `json:"picked,omitempty"`
	Shortlist []string `json:"shortlist,omitempty"`
}

// writeRows writes the uncompressed lines. Build and Verify both call it.
func (s source) writeRows(ctx context.Context, m *Manifest, w io.Writer) error {
	families := map[string]string{}
	for _, e := range m.Evals {
		for _, p := range e.Prompts {
			families[e.Category+"/"+e.Name+"/"+p.ID] = p.Family
		}
	}
	return s.store.OutcomeRows(ctx, nil, func(r trialstore.OutcomeRow) error {
		data, err := content.JSON(row{
			r.Category, r.Eval, r.Agent, r.Prompt, families[r.Category+"/"+r.Eval+"/"+r.Prompt], r.Template, r.Repeat, r.Outcome, r.Picked, r.Shortlist,
		})
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}

// rows returns rows.ndjson.gz.
func (s source) rows(ctx context.Context, m *Manifest) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression) // without name and time
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(zip, 1<<16)
	err = errors.Join(s.writeRows(ctx, m, w), w.Flush(), zip.Close())
	return out.Bytes(), err
}

// checkRows compares the lines of rows.ndjson.gz with the trials. The compressed bytes may
// differ: they depend on the version of Go.
func (s source) checkRows(ctx context.Context, m *Manifest, dir *os.Root) (err error) {
	damage := func(reason string) error { return &DamageError{Path: rowsName, Reason: reason} }
	f, err := dir.Open(rowsName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return damage(err.Error())
	}
	lines := bufio.NewReaderSize(zip, 1<<16)
	n := 0
	err = s.writeRows(ctx, m, writerFunc(func(want []byte) (int, error) {
		n++
		got := make([]byte, len(want))
		if _, err := io.ReadFull(lines, got); err != nil || !bytes.Equal(got, want) {
			return 0, damage(fmt.Sprintf("line %d differs from trials.parquet: want %s", n, bytes.TrimSpace(want)))
		}
		return len(want), nil
	}))
	if err != nil {
		return err
	}
	if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
		return damage(fmt.Sprintf("more than the %d trials of trials.parquet", n))
	}
	return nil
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
