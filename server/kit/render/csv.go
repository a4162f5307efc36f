package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/firstpick/firstpick/fixtures/inert"
)

// CSVType is the media type of CSV.
const CSVType = "text/csv; charset=utf-8"

// CSV renders a table as comma-separated values (RFC 4180). Numbers stay numbers; text is
// inert, see inert.Cell.
func CSV(table [][]any) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	for _, row := range table {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		_ = w.Write(cells) // a buffer takes everything
	}
	w.Flush()
	return b.Bytes()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case *float64:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	case int, bool:
		return fmt.Sprint(v)
	}
	return inert.Cell(fmt.Sprint(v))
}
