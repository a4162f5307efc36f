package gather

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/pick"
)

var (
	machinePath = lazyregexp.MustCompile(`(^|[:=\s])(~[^/\\\s]*|\.{1,2}|[A-Za-z]:)?[/\\]|[/\\].*\.(gguf|ggml|safetensors|bin|onnx|pth?)$`)
	arnAccount  = lazyregexp.MustCompile(`(\barn:[^:\s]*:[^:\s]*:[^:\s]*:)[0-9]+`)
)

// Name returns a name of a tool or model as it is published: without secrets, of a path or
// an address the last part only, without account numbers in ARNs, at most 200 bytes.
func (p *Policy) Name(s string) string {
	s = arnAccount.ReplaceAllString(p.redact.Text(s), "$1***")
	if machinePath.MatchString(s) {
		s = strings.TrimRight(s, `/\`)
		s = s[strings.LastIndexAny(s, `/\`)+1:]
	}
	return Name(p.redact.Text(Name(s))) // what was too long for an address may be one now
}

// Text returns the first bytes of a text without secrets.
func (p *Policy) Text(s string, most int) string { return cutText(p.redact.Text(s), most) }

// Picked returns the pick and the shortlist of an outcome as they are published. Names of
// the catalogue stay. At level none there are no others, but for a tool that was picked.
func (p *Policy) Picked(outcome, picked string, shortlist []string) (string, []string) {
	public := p.tool(picked)
	if outcome == string(pick.Tool) {
		public = p.Name(picked)
	}
	list := make([]string, 0, len(shortlist))
	for _, s := range shortlist {
		if s == picked {
			s = public
		} else {
			s = p.tool(s)
		}
		list = append(list, s)
	}
	return public, short(list)
}

// tool returns a name as it is published; empty at level none for one that is not in the
// catalogue.
func (p *Policy) tool(s string) string {
	switch {
	case p.known[s]:
		return s
	case p.Level == trialset.None:
		return ""
	}
	return p.Name(s)
}

func (p *Policy) tools(names []string) []string {
	list := make([]string, 0, min(len(names), mostList))
	for _, s := range names[:cap(list)] {
		list = append(list, p.tool(s))
	}
	return short(list)
}

// short sorts names and drops empty and repeated ones, and those after the first 200.
func short(list []string) []string {
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
	return list[:min(len(list), mostList)]
}

// Name is a name as far as it is published: its first 200 bytes.
func Name(s string) string { return cutText(s, mostName) }

// Names are the first 200 of a list.
func Names(list []string) []string {
	out := make([]string, 0, min(len(list), mostList))
	for _, s := range list[:cap(out)] {
		out = append(out, Name(s))
	}
	return out
}
