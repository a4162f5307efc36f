package evalapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/apierr"
)

// isText reports whether a store takes a value: it is valid UTF-8 without NUL.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

const maxJSON = 64 << 10 // of a body, in bytes

// The sizes of a page of a list.
const (
	pageRows = 50
	maxRows  = 200
)

// query reads the parameters of a request. One that the path does not know is
// refused, so that a misspelt filter selects nothing instead of everything.
func (c *call) query(known ...string) (url.Values, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, apierr.BadQuery()
	}
	for name, v := range values {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return nil, apierr.InvalidRequest("This path takes no parameters.")
		case !slices.Contains(known, name):
			return nil, apierr.InvalidRequest("This path takes the parameters " + strings.Join(known, ", ") + ", and no others.")
		case len(v) > 1:
			return nil, apierr.InvalidRequest("The parameter " + name + " stands more than once.")
		case !isText(v[0]):
			return nil, apierr.InvalidRequest("The parameter " + name + " is not text.")
		}
	}
	return values, nil
}

// rows reads how many entries a page may have.
func rows(values url.Values, otherwise, most int) (int, error) {
	text := values.Get("limit")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, apierr.InvalidRequest("limit must be a number from 1 to " + strconv.Itoa(most) + ".")
	}
	return n, nil
}

// body reads at most so many bytes.
func (c *call) body(most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(c.r.Body, most+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) || int64(len(data)) > most:
		e := apierr.TooLarge()
		e.Description = "The request body is larger than " + strconv.FormatInt(most>>10, 10) + " KiB."
		return nil, e
	case err != nil:
		return nil, apierr.BadBody("malformed_body", "The request body could not be read.")
	}
	return data, nil
}

// object reads a JSON object that has the fields of v and no others. known is how
// they are called. What stands in it is never repeated: it may be a key.
func (c *call) object(v any, known string) error {
	data, err := c.body(maxJSON)
	if err != nil {
		return err
	}
	bad := apierr.BadBody("malformed_body", "The request body must be one JSON object with "+known+".")
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return bad
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return bad
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bad
	}
	return nil
}
