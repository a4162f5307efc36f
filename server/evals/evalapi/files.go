package evalapi

import (
	"bufio"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/deadline"
	"github.com/firstpick/firstpick/server/kit/negotiate"
)

// The forms of traces.
const (
	page    = "application/json"
	ndjson  = "application/x-ndjson"
	parquet = "application/vnd.apache.parquet"
)

// formatOf returns the form that is asked for, by the parameter or else by Accept.
func formatOf(r *http.Request, values url.Values) (string, error) {
	switch values.Get("format") {
	case "json":
		return page, nil
	case "ndjson":
		return ndjson, nil
	case "parquet":
		return parquet, nil
	case "":
		return accepted(r), nil
	}
	return "", apierr.InvalidRequest("format is json, ndjson or parquet.")
}

// accepted returns the format with the greatest weight in Accept; JSON when it accepts
// no known format (RFC 9110, 12.5.1).
func accepted(r *http.Request) string {
	best, weight := page, 0.0
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || !slices.Contains([]string{page, ndjson, parquet}, media) {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if q > weight {
			best, weight = media, q
		}
	}
	return best
}

// without refuses parameters that a form cannot have.
func without(values url.Values, format string, names ...string) error {
	for _, name := range names {
		if values.Has(name) {
			return apierr.InvalidRequest("The parameter " + name + " does not go with " + format + ", which has all there is to say.")
		}
	}
	return nil
}

// lines writes whole traces, one per line.
func (c *call) lines(b *bundle.Bundle, f trialset.Filter, values url.Values) error {
	if err := without(values, "NDJSON", "limit", "cursor", "fields"); err != nil {
		return err
	}
	id, err := tag(b, "ndjson", f)
	if err != nil {
		return err
	}
	gz := negotiate.AcceptsGzip(c.r)
	if c.fresh(id, gz) {
		return nil
	}
	c.file(ndjson, b.ID+".ndjson")
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	out := deadline.NewWriter(c.w)
	buffer := bufio.NewWriterSize(out, pieceBytes)
	if gz {
		c.w.Header().Set("Content-Encoding", "gzip")
		z := newGzip(buffer)
		err = errors.Join(b.WriteNDJSON(c.r.Context(), z, f), z.Close())
	} else {
		err = b.WriteNDJSON(c.r.Context(), buffer, f)
	}
	if err == nil {
		err = buffer.Flush()
	}
	if err != nil && !out.Started {
		for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Encoding", "ETag"} {
			c.w.Header().Del(name)
		}
		return unread(err)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a truncated file must not look complete
	}
	return nil
}

// parquet answers with the trials as a table, or with a part of the file.
func (c *call) parquet(b *bundle.Bundle, values url.Values) error {
	if err := without(values, "Parquet", "agent", "outcome", "picked", "prompt", "limit", "cursor", "fields"); err != nil {
		return err
	}
	id, err := tag(b, "parquet")
	if err != nil {
		return err
	}
	file, _, err := b.Parquet()
	if err != nil {
		return unread(err)
	}
	defer func() { _ = file.Close() }() // it was read
	if c.fresh(id, false) {
		return nil
	}
	c.file(parquet, b.ID+".parquet")
	return deadline.ServeFile(c.w, c.r, file)
}

// file sets the headers of a download.
func (c *call) file(media, name string) {
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
}
