package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/render"
)

// send answers with a value as JSON. Characters that could act in a page or a terminal are
// escaped, also in text that is quoted from agents.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // Inert does it, also in raw messages
	if err := enc.Encode(v); err != nil {
		return err
	}
	h.sendBytes(w, r, jsonType, render.InertJSON(b.Bytes()))
	return nil
}

// sendTable answers with a table as a file of comma-separated values.
func (h *Handler) sendTable(w http.ResponseWriter, r *http.Request, name string, table [][]any) error {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.sendBytes(w, r, render.CSVType, render.CSV(table))
	return nil
}

func (h *Handler) sendBytes(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	sum := sha256.Sum256(body)
	v := negotiate.NewVariant(body, hex.EncodeToString(sum[:12]), "")
	head := w.Header()
	head.Set("ETag", v.ETag[0])
	head.Set("Cache-Control", "public, max-age=60")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id")
	if negotiate.NotModified(r, v.ETag[0]) {
		head.Del("Content-Disposition")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	v.Send(w, r, []string{kind})
}
