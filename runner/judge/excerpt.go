package judge

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	// Bytes of each part of an answer that a judge reads. The message decides most: what is
	// unresolved has no action that decides.
	messageBytes, commandBytes, filesBytes, structuredBytes = 12 << 10, 2 << 10, 6 << 10, 2 << 10
	// around is how many bytes on either side of a mention are kept of a longer text.
	around = 300
	// perName limits the mentions of one name that are looked at, from the end.
	perName = 32
	// maxFiles limits the files that are shown.
	maxFiles = 20
	gap      = "[...]"
)

// An excerpt is what a judge reads of an answer.
type excerpt struct {
	sections []section
	left     int // lines left out because they address a judge
}

// A section is one part of an answer as verbatim fragments, in order.
type section struct {
	title     string
	fragments []string
}

// excerpt selects the parts of an answer that a judge reads: all of a short answer; of a
// long one its beginning, its end and the surroundings of mentions.
func (r *Reader) excerpt(t transcript.Transcript) excerpt {
	var x excerpt
	r.add(&x, "final message", t.FinalText, messageBytes)
	var ran, failed []string
	for _, c := range t.Commands {
		if c.Exit != nil && *c.Exit != 0 {
			failed = append(failed, c.Cmd)
		} else {
			ran = append(ran, c.Cmd)
		}
	}
	r.add(&x, "commands that it ran", strings.Join(ran, "\n"), commandBytes)
	r.add(&x, "commands that failed", strings.Join(failed, "\n"), commandBytes)
	files := t.Diff[:min(len(t.Diff), maxFiles)]
	for _, f := range files {
		text := strings.Join(f.Added, "\n")
		if text == "" {
			text = strings.Join(f.AddedDeps, "\n")
		}
		r.add(&x, "lines added to a file: "+r.shortPath(f.Path), text, filesBytes/len(files))
	}
	r.add(&x, "structured answer", string(t.Structured), structuredBytes)
	if t.Listing != nil {
		r.add(&x, "imported libraries", strings.Join(t.Listing.Imports, "\n"), commandBytes)
	}
	return x
}

// shortPath returns a path to show; a path is data too.
func (r *Reader) shortPath(path string) string {
	if len(path) > 100 || strings.ContainsAny(path, "\r\n") || r.addressesJudge(path) {
		return "(a long name)"
	}
	return path
}

func (r *Reader) add(x *excerpt, title, text string, limit int) {
	s := section{title: title}
	for _, part := range r.windows(text, limit) {
		kept, left := r.withoutAddresses(part)
		x.left += left
		s.fragments = append(s.fragments, kept...)
	}
	if len(s.fragments) > 0 {
		x.sections = append(x.sections, s)
	}
}

// windows cuts a text to at most limit bytes: its first eighth, its last quarter, and the
// surroundings of mentions, the last mention first, because answers conclude at their end.
func (r *Reader) windows(text string, limit int) []string {
	if len(text) <= limit {
		return []string{text}
	}
	type span struct{ from, to int }
	spans := []span{{0, limit / 8}, {len(text) - limit/4, len(text)}}
	room := limit - limit/8 - limit/4
	for _, at := range r.lastMentions(text) {
		if room < 2*around {
			break
		}
		covered := slices.ContainsFunc(spans, func(s span) bool { return at >= s.from && at < s.to })
		if !covered {
			spans = append(spans, span{max(0, at-around), min(len(text), at+around)})
			room -= 2 * around
		}
	}
	sorting.Func(spans, func(a, b span) int { return a.from - b.from })
	var out []string
	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].from <= s.to; i++ {
			s.to = max(s.to, spans[i].to)
		}
		out = append(out, text[runeStart(text, s.from):runeStart(text, s.to)])
	}
	return out
}

// lastMentions returns the places of mentions of any tool in the last window of a text, the
// last first.
func (r *Reader) lastMentions(text string) []int {
	if first := len(text) - pick.Window; first > 0 { // no rule reads more of its end
		first = runeStart(text, first)
		out := r.lastMentions(text[first:])
		for i := range out {
			out[i] += first
		}
		return out
	}
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // folding moved bytes
		lower = text
	}
	var out []int
	for _, n := range r.names {
		in, want := lower, strings.ToLower(n.text)
		if n.exact {
			in, want = text, n.text
		}
		end := len(in)
		for range perName {
			i := strings.LastIndex(in[:end], want)
			if i < 0 {
				break
			}
			if whole(in, i, i+len(want)) {
				out = append(out, i)
			}
			end = i
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// empty reports whether there is nothing to read.
func (x excerpt) empty() bool { return len(x.sections) == 0 }

// String returns the excerpt as a judge sees it.
func (x excerpt) String() string {
	var b strings.Builder
	for _, s := range x.sections {
		b.WriteString("[" + s.title + "]\n" + strings.Join(s.fragments, "\n"+gap+"\n") + "\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// find returns a quote as it stands in the excerpt, but for white space, and the
// surroundings of each place: near bytes on either side. Both are empty if no fragment
// holds it.
func (x excerpt) find(quote string, near int) (verbatim string, places []string) {
	words := strings.Fields(quote)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	pattern, err := regexp.Compile(strings.Join(words, `[\s\pZ]+`))
	if err != nil || len(words) == 0 {
		return "", nil // not UTF-8
	}
	for _, s := range x.sections {
		for _, f := range s.fragments {
			for _, at := range pattern.FindAllStringIndex(f, -1) {
				if verbatim == "" {
					verbatim = f[at[0]:at[1]]
				}
				places = append(places, f[runeStart(f, max(0, at[0]-near)):runeStart(f, min(len(f), at[1]+near))])
			}
		}
	}
	return verbatim, places
}

// spaced normalises white space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
