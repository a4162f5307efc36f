package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxDepth bounds how deep JSON from outside may nest.
const maxDepth = 32

// errJSON means that bytes are not one JSON object that every reader
// understands alike.
var errJSON = errors.New("not a plain JSON object")

// An object is a JSON object whose members are read by their exact names; a
// decoder into a struct would also take "ISS" for iss.
type object map[string]json.RawMessage

// parseObject parses one JSON object. It refuses ambiguous input: duplicate names at
// any depth, invalid UTF-8 and trailing data (RFC 8725, 2.4).
func parseObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, errJSON
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := unique(dec, maxDepth); err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, errJSON
	}
	return o, nil
}

// unique reads one value and fails when an object in it repeats a name.
func unique(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil || depth == 0 {
		return errJSON
	}
	open, nested := tok.(json.Delim)
	if !nested {
		return nil
	}
	names := map[string]bool{}
	for dec.More() {
		if open == '{' {
			tok, err := dec.Token()
			name, ok := tok.(string)
			if err != nil || !ok || names[name] {
				return errJSON
			}
			names[name] = true
		}
		if err := unique(dec, depth-1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// has reports whether a member is present, with whatever value.
func (o object) has(name string) bool {
	_, ok := o[name]
	return ok
}

// text returns a member that is a string of 1 to limit bytes. It refuses control
// characters and U+FFFD, which replaces a broken escape: two broken names must not
// become equal.
func (o object) text(name string, limit int) (string, bool) {
	return text(o[name], limit)
}

func text(raw json.RawMessage, limit int) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	if s == "" || len(s) > limit || strings.ContainsFunc(s, unfit) {
		return "", false
	}
	return s, true
}

func unfit(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }

// texts returns a member that is an array of strings.
func (o object) texts(name string, limit int) ([]string, bool) {
	var list []json.RawMessage
	raw := o[name]
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := text(item, limit)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// isTrue reports whether a member is the boolean true; the string "true" is
// not.
func (o object) isTrue(name string) bool { return string(o[name]) == "true" }

// isBool reports whether a member is a boolean.
func (o object) isBool(name string) bool { return o.isTrue(name) || string(o[name]) == "false" }

// date returns a member that is a NumericDate: seconds since 1970, possibly
// with a fraction (RFC 7519, 2), up to the year 9999.
func (o object) date(name string) (time.Time, bool) {
	raw := string(o[name])
	if raw == "" || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return time.Time{}, false
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f >= 253402300800 {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(f * 1e6)).UTC(), true
}

// object returns a member that is an object.
func (o object) object(name string) (object, bool) {
	var m object
	raw := o[name]
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil {
		return nil, false
	}
	return m, true
}
