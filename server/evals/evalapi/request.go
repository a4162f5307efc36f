package evalapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// isText reports whether a store takes a value: it is valid UTF-8 without NUL.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

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
			return nil, apierr.InvalidRequest("Duplicate parameter " + name + ".")
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
