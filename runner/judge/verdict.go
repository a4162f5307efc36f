package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	// maxQuote and minQuote bound a quote, in characters. A shorter one proves too little,
	// unless it is all that the answer says.
	maxQuote, minQuote = 300, 12
	// near is how many bytes around a quote may name the chosen tool.
	near = 200

	maxEvidence   = 300 // bytes of a quote that are kept
	evidenceJudge = "judge"
	invalidPrefix = "invalid: "
	maxReply      = 64 << 10 // bytes of a reply that are parsed
)

// verdict reads a judge's reply. A judgement that decides nothing is Unresolved, and Rule
// says why it is invalid.
func (r *Reader) verdict(p *prompt, a *journal.Answer) pick.Result {
	o, quote, err := r.check(p, &a.Transcript)
	if err != nil {
		return pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: invalidPrefix + err.Error()}
	}
	v := pick.Result{Kind: o.kind, Picked: o.tool, Method: pick.MethodJudge}
	if o.kind == "" {
		v.Kind, v.Unresolved = pick.Ambiguous, true
	}
	if quote != "" {
		v.Evidence = []pick.Evidence{{Tool: o.tool, Level: levelOf(o.kind), Kind: evidenceJudge, Quote: quote}}
	}
	return v
}

// levelOf is the level of evidence of a judged outcome: that of a statement.
func levelOf(k pick.Kind) int {
	if k == pick.Tool || k == pick.DIY || k == pick.Other {
		return pick.LevelStatement
	}
	return 0
}

// check returns the choice and the quote of a valid reply.
func (r *Reader) check(p *prompt, t *transcript.Transcript) (o option, quote string, err error) {
	switch {
	case t.Stop == transcript.StopRefusal:
		return o, "", errors.New("the judge refused")
	case t.Stop.Cut():
		return o, "", errors.New("the reply was cut off: raise max_tokens of the judge")
	}
	choice, quote, err := parse(t.FinalText)
	if err != nil {
		return o, "", err
	}
	if o, err = p.chosen(choice); err != nil {
		return o, "", err
	}
	if o.kind == "" {
		return o, "", nil
	}
	verbatim, err := r.supports(p, o, quote)
	return o, verbatim, err
}

// parse reads the one JSON object of a reply, alone or in a code fence.
func parse(reply string) (choice, quote string, err error) {
	text := strings.TrimSpace(reply)
	if len(text) > maxReply {
		return "", "", fmt.Errorf("a reply of %d bytes", len(text))
	}
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		if text, ok = strings.CutSuffix(strings.TrimSpace(inner), "```"); !ok {
			return "", "", errors.New("text after the JSON object")
		}
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	var v struct {
		Choice json.RawMessage `json:"choice"`
		Quote  *string         `json:"quote"`
	}
	if err := dec.Decode(&v); err != nil {
		return "", "", errors.New("not the JSON object that was asked for")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", "", errors.New("text after the JSON object")
	}
	if v.Choice == nil || v.Quote == nil {
		return "", "", errors.New("choice or quote is missing")
	}
	if json.Unmarshal(v.Choice, &choice) != nil {
		choice = string(v.Choice)
	}
	return strings.TrimSpace(choice), *v.Quote, nil
}

// chosen returns the option with a number or a label of the list.
func (p *prompt) chosen(choice string) (option, error) {
	if n, err := strconv.Atoi(choice); err == nil && n >= 1 && n <= len(p.options) {
		return p.options[n-1], nil
	}
	for _, o := range p.options {
		if choice != "" && (strings.EqualFold(choice, o.label) || choice == o.tool) {
			return o, nil
		}
	}
	return option{}, fmt.Errorf("choice %.40q is not in the list", choice)
}

// supports checks that a quote stands in the answer and bears the choice, and returns it
// as it stands there.
func (r *Reader) supports(p *prompt, o option, quote string) (verbatim string, err error) {
	quote = spaced(quote)
	n := utf8.RuneCountInString(quote)
	if n > maxQuote {
		return "", fmt.Errorf("a quote of %d characters", n)
	}
	verbatim, places := p.excerpt.find(quote, near)
	switch {
	case quote == "":
		return "", errors.New("no quote")
	case r.addressesJudge(quote):
		return "", errors.New("the quote addresses the judge")
	case len(places) == 0:
		return "", errors.New("the quote is not in the answer")
	case n < minQuote && !p.excerpt.is(quote):
		return "", errors.New("the quote is too short")
	case o.kind == pick.Tool && !mentionedIn(append(places, quote), o.names):
		return "", errors.New("neither the quote nor its surroundings name the tool")
	}
	return inert.Truncate(verbatim, maxEvidence), nil
}

func mentionedIn(texts []string, names []name) bool {
	for _, t := range texts {
		if mentions(t, names) {
			return true
		}
	}
	return false
}

// is reports whether a text is a whole fragment.
func (x excerpt) is(text string) bool {
	for _, s := range x.sections {
		for _, f := range s.fragments {
			if spaced(f) == text {
				return true
			}
		}
	}
	return false
}
