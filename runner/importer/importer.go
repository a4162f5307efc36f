// Package importer imports answers that were recorded elsewhere: JSON, one trial a line.
// It validates the whole file before it returns anything, so that a bad last line stores
// nothing.
//
// The input form is that of labelled extraction cases: either the transcript
// of the answer, from which the pick is extracted like any other, or a ready
// outcome where only the outcome is known.
package importer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	maxLine   = 16 << 20 // bytes of one line
	maxErrors = 20       // bad lines reported before giving up
	batchSize = 512      // records of one write to the journal
)

var evalName = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// ValidName reports whether s can name an eval.
func ValidName(s string) bool { return evalName.MatchString(s) }

// A Line is one trial of the input.
type Line struct {
	Agent    string                 `json:"agent"`
	Category string                 `json:"category"`
	PromptID string                 `json:"prompt_id"`
	Prompt   string                 `json:"prompt"`
	Family   string                 `json:"family,omitempty"`
	Tags     eval.Tags              `json:"tags,omitzero"`
	Template string                 `json:"template"`
	Repeat   int                    `json:"repeat"`
	At       *time.Time             `json:"at"`
	Input    *transcript.Transcript `json:"input"`
	Outcome  *pick.Result           `json:"outcome"`

	line int // of the file
}

// A Part is the part of a file of one category.
type Part struct {
	Category string
	// Digest identifies the answers, independent of their order and times.
	Digest string
	// Eval lists the prompts and agents that occur; its name is left to the caller.
	Eval   eval.Eval
	Trials []Line
}

// A Batch is a whole file, its categories sorted by slug.
type Batch struct {
	Trials     int
	Categories []Part
}

// Read reads and validates a whole input. Lines without `at` get now. The error lists
// up to 20 bad lines by number.
func Read(r io.Reader, cat *catalog.Catalog, now time.Time) (Batch, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	parts := map[string]*part{}
	var errs []error
	trials := 0
	for n := 1; len(errs) < maxErrors; n++ {
		text, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Batch{}, fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := take(parts, n, text, cat, now); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
		}
		trials++
	}
	if len(errs) == 0 && trials == 0 {
		errs = append(errs, errors.New("the file has no trials"))
	}
	if err := errors.Join(errs...); err != nil {
		return Batch{}, err
	}
	return collect(parts, trials), nil
}

// Collect validates trials that were made of other files, as Read does with lines.
func Collect(lines []Line, cat *catalog.Catalog, now time.Time) (Batch, error) {
	parts := map[string]*part{}
	var errs []error
	for i, l := range lines {
		l.line = i + 1
		if err := takeLine(parts, l, cat, now); err != nil {
			if errs = append(errs, fmt.Errorf("trial %d: %w", i+1, err)); len(errs) == maxErrors {
				break
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Batch{}, err
	}
	return collect(parts, len(lines)), nil
}

func collect(parts map[string]*part, trials int) Batch {
	b := Batch{Trials: trials}
	for _, p := range parts {
		b.Categories = append(b.Categories, p.finish())
	}
	sorting.Func(b.Categories, func(x, y Part) int { return strings.Compare(x.Category, y.Category) })
	return b
}

// readLine returns one line without its newline, and io.EOF after the last.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		chunk, err := in.ReadSlice('\n')
		line = append(line, chunk...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d MiB", maxLine>>20)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		default:
			return bytes.TrimRight(line, "\r\n"), nil
		}
	}
}

func take(parts map[string]*part, n int, text []byte, cat *catalog.Catalog, now time.Time) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	l := Line{line: n}
	if err := dec.Decode(&l); err != nil {
		return malformed(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return takeLine(parts, l, cat, now)
}

// malformed says what is wrong with a line that is not a trial.
func malformed(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("malformed trial: want a JSON object, got %s", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("malformed trial: %s has the wrong type (got %s)", wrong.Field, wrong.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("malformed trial: the JSON object does not end on its line")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // the error has no type
		known := map[string]string{}
		addFields(known, reflect.TypeFor[Line](), "")
		return fmt.Errorf("malformed trial: unknown field %s%s", name, meant(strings.ToLower(strings.Trim(name, `"`)), known))
	}
	return fmt.Errorf("malformed trial: not JSON: %w", err)
}

// addFields adds the fields of a JSON object, by name, with their paths.
func addFields(known map[string]string, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		if _, ok := known[name]; !ok {
			known[name] = path + name
		}
		addFields(known, f.Type, path+name+".")
	}
}

// meant asks for the value with the nearest name; it is empty where none is near.
func meant(name string, values map[string]string) string {
	near := nearest.Names(name, values, 1)
	if len(near) == 0 {
		return ""
	}
	return "; " + nearest.DidYouMean(near)
}

func takeLine(parts map[string]*part, l Line, cat *catalog.Catalog, now time.Time) error {
	c, ok := cat.Category(l.Category)
	if !ok {
		known := make([]string, len(cat.Categories))
		for i, c := range cat.Categories {
			known[i] = c.Slug
		}
		return fmt.Errorf("unknown category %q; %s", l.Category, nearest.Hint(l.Category, known))
	}
	if err := l.check(c); err != nil {
		return err
	}
	if l.At == nil {
		l.At = &now
	}
	p := parts[l.Category]
	if p == nil {
		p = newPart(l.Category)
		parts[l.Category] = p
	}
	return p.add(l)
}

// agentPattern is a name of an agent elsewhere, which may have spaces and letters of any
// script.
var agentPattern = lazyregexp.MustCompile(`^[\pL\pN]([\pL\pN\pM .,_/:+()@-]{0,98}[\pL\pN\pM.+)])?$`)

func (l *Line) check(c *catalog.Category) error {
	if l.Agent == "" {
		return errors.New("agent is missing")
	}
	if !agentPattern.MatchString(l.Agent) {
		return fmt.Errorf("agent %.100q is not a valid name: want letters, digits, spaces and . , _ / : + ( ) @ -, at most 100", l.Agent)
	}
	for _, f := range []struct {
		key, value string
		optional   bool
	}{{"prompt_id", l.PromptID, false}, {"family", l.Family, true}, {"template", l.Template, true}} {
		switch {
		case f.value == "" && f.optional:
		case f.value == "":
			return fmt.Errorf("%s is missing", f.key)
		case !eval.ValidName(f.value):
			return fmt.Errorf("%s %.100q is not a valid name: want letters, digits and . _ / : -, at most 100", f.key, f.value)
		}
	}
	switch {
	case l.Repeat < 0:
		return fmt.Errorf("repeat %d is negative", l.Repeat)
	case (l.Input == nil) == (l.Outcome == nil):
		return errors.New("needs either input or outcome")
	case l.Outcome != nil:
		return errors.Join(l.Tags.Check(), checkOutcome(l.Outcome, c))
	default:
		return l.Tags.Check()
	}
}

func checkOutcome(r *pick.Result, c *catalog.Category) error {
	if !slices.Contains(pick.Kinds(), r.Kind) {
		return fmt.Errorf("unknown outcome kind %q", r.Kind)
	}
	if (r.Picked != "") != (r.Kind == pick.Tool || r.Kind == pick.Other) {
		return fmt.Errorf("outcome %s with picked %.100q", r.Kind, r.Picked)
	}
	if _, ok := c.Entry(r.Picked); r.Kind == pick.Tool && !ok {
		return fmt.Errorf("unknown tool %.100q in category %s%s", r.Picked, c.Slug, meant(strings.ToLower(r.Picked), slugs(c)))
	}
	for _, s := range r.Shortlist {
		if _, ok := c.Entry(s); !ok && s != r.Picked {
			return fmt.Errorf("unknown tool %.100q in the shortlist, category %s%s", s, c.Slug, meant(strings.ToLower(s), slugs(c)))
		}
	}
	for _, s := range slices.Concat([]string{r.Picked, r.Say, r.FirstNamed}, r.Rejected) {
		if s != "" && !pick.ValidName(s) {
			return fmt.Errorf("name %.100q in the outcome is not valid: want a letter or digit, at most 200 bytes, and no comma, control or invisible character", s)
		}
	}
	if r.Picked != "" {
		r.Shortlist = append(r.Shortlist, r.Picked)
	}
	slices.Sort(r.Shortlist)
	r.Shortlist = slices.Compact(r.Shortlist)
	r.Method = pick.MethodGiven
	return nil
}

// slugs returns the slugs of a category's tools by slug and by name.
func slugs(c *catalog.Category) map[string]string {
	out := map[string]string{}
	for _, e := range c.Entries {
		out[e.Tool.Slug], out[strings.ToLower(e.Tool.Name)] = e.Tool.Slug, e.Tool.Slug
	}
	return out
}

// Write hands the trials to a journal as results, extracting the picks.
func (p *Part) Write(ctx context.Context, evalName string, j *journal.Journal, x *pick.Extractor) error {
	prompts := map[string]eval.Prompt{}
	for _, prompt := range p.Eval.Prompts {
		prompts[prompt.ID] = prompt
	}
	for lines := range slices.Chunk(p.Trials, batchSize) {
		records := make([]journal.Record, 0, len(lines))
		for _, l := range lines {
			records = append(records, l.record(evalName, prompts[l.PromptID], x))
		}
		if err := j.Append(ctx, records...); err != nil {
			return err
		}
	}
	return nil
}

func (l *Line) record(evalName string, prompt eval.Prompt, x *pick.Extractor) journal.Record {
	rec := journal.Record{
		Kind: journal.KindResult, At: l.At.UTC(), Attempt: 1,
		Trial: plan.Trial{
			ID:   plan.TrialID(evalName, l.PromptID, prompt.Text, l.Agent, l.Template, l.Repeat),
			Eval: evalName, Category: l.Category, PromptID: l.PromptID, Family: prompt.FamilyName(), Tags: prompt.Tags,
			Agent: l.Agent, Template: l.Template, Repeat: l.Repeat,
		},
		Answer: &journal.Answer{}, Result: l.Outcome,
	}
	if l.Input != nil {
		rec.Answer.Transcript = *l.Input
		result := x.Extract(*l.Input)
		rec.Result = &result
	}
	return rec
}
