package pick

import (
	"regexp"
	"strings"
)

// A sentence is the unit of reading.
type sentence struct {
	text      string
	paragraph *paragraph
	item      int  // number of a list item it begins; 0 for none
	bullet    bool // it begins an item of a list without numbers
	heading   bool
	row       []string // cells of a table row
}

// A paragraph is the context of a name's conditions, searched once for all its sentences.
type paragraph struct {
	text string
	seen map[*regexp.Regexp]bool
}

func (p *paragraph) has(re *regexp.Regexp) bool {
	found, known := p.seen[re]
	if !known {
		found = re.MatchString(p.text)
		if p.seen == nil {
			p.seen = map[*regexp.Regexp]bool{}
		}
		p.seen[re] = found
	}
	return found
}

var (
	emphasis  = regexp.MustCompile("\\*\\*|__|`|\\[\\d+\\](?:\\([^)]*\\))?")
	links     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	bareLinks = regexp.MustCompile(`https?://\S+`)
	numbered  = regexp.MustCompile(`^\s*(?:#+\s*)?[^\pL\pN#]*(?:#?(\d{1,2})[.):]|#(\d{1,2})\b)\s*`)
	bulleted  = regexp.MustCompile(`^\s*[-*•]\s+`)
	headed    = regexp.MustCompile(`^\s*#{1,6}\s+`)
	ends      = regexp.MustCompile(`[.!?;](?:["')\]]*)(?:\s+|$)`)
)

// sentences splits a message into sentences without markdown.
func sentences(text string) []sentence {
	var out []sentence
	for _, par := range strings.Split(text, "\n\n") {
		plain := &paragraph{text: strip(par)}
		for line := range strings.Lines(par) {
			out = append(out, splitLine(strings.TrimRight(line, "\n"), plain)...)
		}
	}
	return out
}

// strip removes emphasis and addresses; link texts stay.
func strip(s string) string {
	s = links.ReplaceAllString(s, "$1")
	s = bareLinks.ReplaceAllString(s, "")
	return strings.ReplaceAll(emphasis.ReplaceAllString(s, ""), "’", "'")
}

func splitLine(line string, in *paragraph) []sentence {
	first := sentence{paragraph: in, heading: headed.MatchString(line)}
	if m := numbered.FindStringSubmatch(strip(line)); m != nil {
		first.item = number(m[1] + m[2])
		line = numbered.ReplaceAllString(strip(line), "")
	} else if bulleted.MatchString(line) {
		first.bullet = true
		line = bulleted.ReplaceAllString(line, "")
	}
	line = strip(headed.ReplaceAllString(line, ""))
	if strings.Count(line, "|") >= 2 {
		first.text = line
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			first.row = append(first.row, strings.TrimSpace(cell))
		}
		return []sentence{first}
	}
	var out []sentence
	for _, part := range cut(line) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		s := sentence{text: strings.TrimSpace(part), paragraph: in}
		if len(out) == 0 {
			s.item, s.bullet, s.heading = first.item, first.bullet, first.heading
		}
		out = append(out, s)
	}
	return out
}

// cut splits after a full stop, question or exclamation mark, or semicolon if space
// follows, so that "Fly.io" stays whole.
func cut(line string) []string {
	var out []string
	from := 0
	for _, m := range ends.FindAllStringIndex(line, -1) {
		out = append(out, line[from:m[1]])
		from = m[1]
	}
	return append(out, line[from:])
}

func number(s string) int {
	n := 0
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}
