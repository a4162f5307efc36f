package pick

import (
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/pick/prose"
	"github.com/firstpick/firstpick/runner/pick/reason"
	"github.com/firstpick/firstpick/runner/transcript"
)

// An Opinion is what the final message of an answer says of the tools of its category.
type Opinion struct {
	// Named are the tools that it names, in order.
	Named []string
	// Against are the sentences that speak against a tool, in order.
	Against []reason.Statement
}

// Opinion reads the final message of an answer. The error is that of ctx.
func (x *Extractor) Opinion(ctx context.Context, t transcript.Transcript) (Opinion, error) {
	reader, err := reason.Embedded()
	if err != nil {
		panic(err) // the lexicons are embedded and tested
	}
	message, _, _ := splitFences(t.FinalText)
	k := &keeper{}
	said, err := x.keep(ctx, message, k)
	if err != nil {
		return Opinion{}, err
	}
	against := map[int][]string{}
	for _, m := range said.remarks {
		if m.stance == rejects && slug(m.target) != "" && !slices.Contains(against[m.sentence], m.target.slug) {
			against[m.sentence] = append(against[m.sentence], m.target.slug)
		}
	}
	var out Opinion
	for _, s := range k.sentences {
		for _, tools := range append(s.Slots, []string{s.Topic}) {
			for _, tool := range tools {
				if tool != "" && !slices.Contains(out.Named, tool) {
					out.Named = append(out.Named, tool)
				}
			}
		}
		s.Against = append(s.Against, against[s.number]...)
		if s.question {
			continue
		}
		for _, st := range reader.Read(s.Sentence) {
			st.Quote = clipQuote(st.Quote)
			if !slices.Contains(out.Against, st) {
				out.Against = append(out.Against, st)
			}
		}
	}
	return out, nil
}

// A keeper keeps the sentences of a reading with their names.
type keeper struct {
	sentences []keptSentence
	// lead is the tool whose section it is, and headed says that a heading began it.
	lead   string
	led    bool
	headed bool
	topic  string // of the sentence before in the unit
}

type keptSentence struct {
	reason.Sentence
	number   int // as in remark
	question bool
}

// sides are labels within the section about a tool.
var sides = lazyregexp.MustCompile(`(?i)^\W*(?:pros?|cons?|advantages?|disadvantages?|drawbacks?|downsides?|upsides?|strengths?|weakness(?:es)?|limitations?|trade-?offs?|pricing|price|costs?|why not|why|best for|good for|caveats?|concerns?|minus|plus|verdict|notes?)\b`)

// unit begins a unit: it notes whose section it is, and keeps the cells of a row.
func (k *keeper) unit(r *reading, u *prose.Unit) {
	k.topic = ""
	if u.Kind == prose.Row {
		k.row(r, u)
		return
	}
	opener := u.Text
	switch {
	case u.Kind == prose.Heading:
	case len(u.Bold) > 0 && u.Bold[0].From == 0:
		opener = u.Text[:u.Bold[0].To]
	case u.Kind == prose.Item && u.Level < 2:
		opener, _, _ = strings.Cut(u.Text, ":")
		if len(opener) > 40 {
			opener = ""
		}
	default:
		return
	}
	found := targetsOf(r.find(opener, prose.Tokens(opener)))
	switch {
	case len(found) == 1 && (!k.led || !k.headed || u.Kind == prose.Heading):
		k.lead, k.led, k.headed = slug(found[0]), true, u.Kind == prose.Heading
	case u.Kind == prose.Heading && !sides.MatchString(opener), !k.headed && !sides.MatchString(opener):
		k.lead, k.led, k.headed = "", false, false
	}
}

// add keeps a sentence after its names are found.
func (k *keeper) add(r *reading, s *sentence) {
	in := reason.Sentence{Text: s.Text, Tokens: s.tokens, Topic: k.topic}
	if in.Topic == "" {
		in.Topic = k.lead
	}
	for _, group := range s.slots {
		in.Slots = append(in.Slots, slugs(group))
	}
	k.sentences = append(k.sentences, keptSentence{in, r.n, s.Question})
	if tools := slices.Compact(slices.Sorted(slices.Values(slices.Concat(in.Slots...)))); len(tools) == 1 {
		k.topic = tools[0]
	} else if len(tools) > 1 {
		k.topic = ""
	}
}

// row keeps the cells of a row. They are about the tool that the row names, or else about the
// tool at the head of their column, and the label is the head of the column or of the row.
func (k *keeper) row(r *reading, u *prose.Unit) {
	owner, at := k.named(r, u.Cells)
	for i, c := range u.Cells {
		topic, label := owner, ""
		switch {
		case i < len(u.Head) && at >= 0:
			label = u.Head[i]
		case i < len(u.Head):
			topic, _ = k.named(r, u.Head[i:i+1])
			label = u.Cells[0]
		}
		if i == at || topic == "" {
			topic, label = "", ""
		}
		text := c
		if label != "" && label != c {
			text = label + ": " + c
		}
		k.text(r, text, topic)
	}
}

// text keeps a text that the reading does not take as a sentence.
func (k *keeper) text(r *reading, text, topic string) *keptSentence {
	s := &sentence{Sentence: prose.Sentence{Text: inert.Truncate(text, maxSentence)}, unit: &prose.Unit{}}
	s.tokens = prose.Tokens(s.Text)
	r.slots(s)
	in := reason.Sentence{Text: s.Text, Tokens: s.tokens, Topic: topic}
	for _, group := range s.slots {
		in.Slots = append(in.Slots, slugs(group))
	}
	k.sentences = append(k.sentences, keptSentence{in, -1, strings.HasSuffix(text, "?")})
	return &k.sentences[len(k.sentences)-1]
}

// label keeps a unit that is read as a label: "I ruled out X on cost" is also a sentence.
func (k *keeper) label(r *reading, u *prose.Unit, c prose.Class) {
	s := k.text(r, u.Text, k.lead)
	if c == prose.LabelRejects {
		s.Against = slices.Concat(s.Slots...)
	}
}

// named returns the only tool that the first of some cells with a name names, and its number.
func (k *keeper) named(r *reading, cells []string) (string, int) {
	for i, c := range cells {
		if found := targetsOf(r.find(c, prose.Tokens(c))); len(found) > 0 {
			return slug(found[0]), i
		}
	}
	return "", -1
}

// slug returns the slug of a rival; empty for other names.
func slug(t *target) string {
	if t.outside || t.unknown {
		return ""
	}
	return t.slug
}

func slugs(group []mention) []string {
	out := make([]string, len(group))
	for i, m := range group {
		out[i] = slug(m.target)
	}
	return out
}
