package trafficdb

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
)

// WriteNDJSON writes rows as one JSON object a line, in the form in which they
// are stored. It stops at the first error.
func WriteNDJSON(out io.Writer, rows iter.Seq2[Row, error]) error {
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	for row, err := range rows {
		if err != nil {
			return err
		}
		line := struct {
			Seq int64 `json:"seq"`
			event.Record
		}{row.Seq, row.Record}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// WriteCSV writes rows as CSV under a line of column names. Texts come from
// strangers: one that a spreadsheet would take for a formula has an apostrophe
// before it. It stops at the first error.
func WriteCSV(out io.Writer, rows iter.Seq2[Row, error]) error {
	w := csv.NewWriter(out)
	header := strings.FieldsFunc(columnNames, func(r rune) bool { return strings.ContainsRune(", \n\t", r) })
	if err := w.Write(header); err != nil {
		return err
	}
	line := make([]string, columns)
	for row, err := range rows {
		if err != nil {
			return err
		}
		for i, field := range fields(&row) {
			line[i] = written(field)
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func written(field any) string {
	switch v := field.(type) {
	case *string:
		if *v != "" && strings.ContainsRune("=+-@\t\r", rune((*v)[0])) {
			return "'" + *v
		}
		return *v
	case *int:
		return strconv.Itoa(*v)
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *bool:
		return strconv.FormatBool(*v)
	case *time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}
