package evalpages

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/deadline"
)

// file sends a part of a run's results as a file.
func (v *visit) file() error {
	b, release, err := v.h.Evals.Results(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	defer release()
	var media string
	var write func(w io.Writer) error
	name := v.param("name")
	switch name {
	case "traces.ndjson":
		media, write = "application/x-ndjson", func(w io.Writer) error { return b.WriteNDJSON(v.R.Context(), w, filterOf(v.R.URL.Query())) }
	case "trials.parquet":
		media, write = "application/vnd.apache.parquet", func(w io.Writer) error { return parquet(b, w) }
	case "scores.json":
		media, write = "application/json", func(w io.Writer) error { _, err := w.Write(b.Scores()); return err }
	case "manifest.json":
		media, write = "application/json", func(w io.Writer) error { return json.NewEncoder(w).Encode(b.Manifest) }
	default:
		return apierr.NotFound()
	}
	h := v.W.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", `attachment; filename="`+v.param("run")+"-"+name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// The time to send a request in goes on counting, and a large file takes longer.
	_ = http.NewResponseController(v.W).SetReadDeadline(time.Time{}) // where this is not supported there is no such time either
	out := deadline.NewWriter(v.W)
	buffer := bufio.NewWriterSize(out, pieceBytes)
	if err := errors.Join(write(buffer), buffer.Flush()); err != nil {
		if out.Started { // half a file must not be taken for a whole one
			panic(http.ErrAbortHandler)
		}
		h.Del("Content-Disposition")
		return err
	}
	return nil
}

// pieceBytes is how much of a file is sent at once.
const pieceBytes = 64 << 10

func parquet(b *bundle.Bundle, w io.Writer) (err error) {
	f, _, err := b.Parquet()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(w, f)
	return err
}
