package traffic

import (
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// A Format is a form in which events are exported.
type Format string

// The formats.
const (
	NDJSON  Format = "ndjson" // as the events are stored, one JSON object a line
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// ParseFormat reads a format's name; an empty one is NDJSON.
func ParseFormat(name string) (Format, error) {
	switch f := Format(strings.ToLower(name)); f {
	case "":
		return NDJSON, nil
	case NDJSON, CSV, Parquet:
		return f, nil
	default:
		return "", apierr.InvalidRequest("format must be ndjson, csv or parquet.")
	}
}

// MediaType returns the format's type on the wire.
func (f Format) MediaType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8"
	case Parquet:
		return "application/vnd.apache.parquet"
	default:
		return "application/x-ndjson"
	}
}
