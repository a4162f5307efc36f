// Package reqbody reads request bodies within a limit, and decodes JSON objects with
// errors that name the member and the expected type.
package reqbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// MaxObject is the maximum size of a JSON object, in bytes.
const MaxObject = 64 << 10

// Read returns a body of at most limit bytes. It fails with a 413 for a larger one, with
// a 415 for a compressed one, and with a 400 for one that breaks off.
func Read(r *http.Request, limit int64) ([]byte, error) {
	if err := Uncompressed(r); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || int64(len(data)) > limit:
		e := apierr.TooLarge()
		e.Description = "The request body is larger than " + strconv.FormatInt(limit>>10, 10) + " KiB."
		return nil, e
	case err != nil:
		return nil, malformed("Unexpected end of the request body.")
	}
	return data, nil
}

// Uncompressed fails with a 415 for a request whose body has a Content-Encoding.
func Uncompressed(r *http.Request) error {
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return &apierr.Error{
				Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
				Description: "Send the body without Content-Encoding. Only /api/collect takes compressed bodies.",
			}
		}
	}
	return nil
}

// Object decodes a JSON object into the struct that v points to. Unknown members are
// ignored.
func Object(r *http.Request, v any) error { return object(r, v, false) }

// StrictObject is Object, but unknown members are errors.
func StrictObject(r *http.Request, v any) error { return object(r, v, true) }

func object(r *http.Request, v any, strict bool) error {
	data, err := Read(r, MaxObject)
	if err != nil {
		return err
	}
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return malformed("The request body is empty. Send a JSON object.")
	case !json.Valid(data):
		return malformed(syntax(data))
	case data[0] != '{':
		return malformed("The request body must be a JSON object; it is " + Kind(data) + ".")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(v); err != nil {
		return malformed(explain(err, v))
	}
	return nil
}

func malformed(description string) error { return apierr.BadBody("malformed_body", description) }
