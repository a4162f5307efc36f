package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// An Issue is one thing that is wrong with the arguments of a call.
type Issue struct {
	Path    string `json:"path"` // a JSON pointer; empty for the whole
	Message string `json:"message"`
}

// arguments are those of a call. They collect all problems, so that a model
// can fix them in one retry.
type arguments struct {
	values map[string]json.RawMessage
	issues []Issue
}

// read parses an object; null and an empty text are an empty one. Members outside names
// are issues.
func read(raw json.RawMessage, names ...string) *arguments {
	a := &arguments{}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return a
	}
	if err := json.Unmarshal(raw, &a.values); err != nil {
		a.fail("", "the arguments must be a JSON object")
		return a
	}
	var unknown []string
	for name := range a.values {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		a.fail("/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), "unknown argument; known arguments: "+strings.Join(names, ", "))
	}
	return a
}

// maxIssues limits the issues of a response: a model corrects that many at a time, and
// junk must not get long responses.
const maxIssues = 20

func (a *arguments) fail(path, message string) {
	if len(a.issues) < maxIssues {
		a.issues = append(a.issues, Issue{path, message})
	}
}

// text returns a string argument of at most most characters. A missing one that is needed
// is an issue.
func (a *arguments) text(name string, needed bool, most int) string {
	raw, ok := a.values[name]
	if !ok {
		if needed {
			a.fail("/"+name, "is missing")
		}
		return ""
	}
	var s *string
	switch err := json.Unmarshal(raw, &s); {
	case err != nil || s == nil:
		a.fail("/"+name, "must be a string")
		return ""
	case utf8.RuneCountInString(*s) > most:
		a.fail("/"+name, fmt.Sprintf("has more than %d characters", most))
		return ""
	case needed && strings.TrimSpace(*s) == "":
		a.fail("/"+name, "must not be empty")
	}
	return *s
}

// texts returns a list of 1 to most strings of at most length characters.
func (a *arguments) texts(name string, most, length int) []string {
	raw, ok := a.values[name]
	if !ok {
		a.fail("/"+name, "is missing")
		return nil
	}
	var list []*string
	switch err := json.Unmarshal(raw, &list); {
	case err != nil || list == nil:
		a.fail("/"+name, "must be a list of strings")
		return nil
	case len(list) == 0 || len(list) > most:
		a.fail("/"+name, fmt.Sprintf("must have 1 to %d items (got %d)", most, len(list)))
		return nil
	}
	var out []string
	for i, s := range list {
		if s == nil || *s == "" || utf8.RuneCountInString(*s) > length {
			a.fail(fmt.Sprintf("/%s/%d", name, i), fmt.Sprintf("must be a string of 1 to %d characters", length))
			continue
		}
		out = append(out, *s)
	}
	return out
}

// stored returns a text that is compared with what a store has, which holds no NUL.
func (a *arguments) stored(name string, needed bool, most int) string {
	before := len(a.issues)
	s := a.text(name, needed, most)
	switch _, given := a.values[name]; {
	case strings.ContainsRune(s, 0):
		a.fail("/"+name, "must not contain a NUL character")
	case given && s == "" && len(a.issues) == before:
		a.fail("/"+name, "must not be empty; leave it out")
	}
	return s
}

// amount returns an amount above 0, which is needed.
func (a *arguments) amount(name string) float64 {
	raw, ok := a.values[name]
	if !ok {
		a.fail("/"+name, "is missing")
		return 0
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f <= 0 {
		a.fail("/"+name, "must be a number above 0")
	}
	return f
}

// word returns one of some words, by default the first.
func (a *arguments) word(name string, words ...string) string {
	s := a.text(name, false, 100)
	if _, given := a.values[name]; !given {
		return words[0]
	}
	if s == "" || !slices.Contains(words, s) {
		a.fail("/"+name, "must be one of "+strings.Trim(strings.Join(words, ", "), ", "))
	}
	return s
}

// number returns a whole number from 1 to most.
func (a *arguments) number(name string, otherwise, most int) int {
	raw, ok := a.values[name]
	if !ok {
		return otherwise
	}
	f, err := strconv.ParseFloat(string(raw), 64) // 10.0 is whole too (JSON Schema, 6.1.1)
	if err != nil || f != math.Trunc(f) || f < 1 || f > float64(most) {
		a.fail("/"+name, fmt.Sprintf("must be a whole number from 1 to %d", most))
		return otherwise
	}
	return int(f)
}

var slugPattern = lazyregexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// slug returns a slug; empty where it is missing.
func (a *arguments) slug(name string) string {
	_, given := a.values[name]
	s := a.text(name, false, 64)
	if given && !slugPattern.MatchString(s) {
		a.fail("/"+name, "must be a slug: lower-case letters, digits and single hyphens, such as feature-flags")
		return ""
	}
	return s
}
