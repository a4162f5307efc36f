package pick

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A stance is the attitude of one mention to its target.
type stance int

const (
	rejected    stance = iota // named and turned down
	conditional               // for other circumstances: viable
	neutral                   // named
	used                      // an imperative or a plain report: "use X", "sessions use X"
	praised                   // "X is the best fit", "X won"
	committed                 // first person: "I'd go with X", "Recommendation: X"
)

// A remark is one mention with its stance.
type remark struct {
	target   *target
	stance   stance
	sentence int
	quote    string
}

// statements are the statements of the final message.
type statements struct {
	remarks []remark
	first   *remark // the first item of a ranked list, if it names one rival
	diy     string  // the sentence that commits to building it oneself
	refusal string
	unknown string // a name that the catalogue does not know, committed to
	quote   string // of unknown
}

var (
	negation  = regexp.MustCompile(`(?i)(?:\bnot\b|n't\b|\bnever\b|\bavoid(?:ing)?\b|\binstead of\b|\brather than\b|\bwithout\b|\bunlike\b|\bdrop(?:ping|ped)?\b|\bremov(?:e|ed|ing)\b|\breplac(?:e|ed|ing)\b|\bmigrat\w+ (?:away )?from\b|\bmov(?:e|ed|ing) (?:away )?from\b|\bskip(?:ping|ped)?\b|\bno need for\b|\bsteer clear of\b)[^,:;|]{0,40}$`)
	overB     = regexp.MustCompile(`(?i)\b(?:over|than)\s+(?:\w+\s+){0,1}$`)
	swapped   = regexp.MustCompile(`(?i)\b(?:replac|migrat|mov|switch)\w*\b.{1,60}\b(?:with|to|and (?:now )?us(?:e|ing))\s+(?:the\s+)?$`)
	dismiss   = regexp.MustCompile(`(?i)^(?:'s)?\s*(?:\?\s*(?:overkill|no\b|nope|too\b)|(?:is|are|would be|feels|seems|looks)\s+(?:\w+\s+){0,2}(?:overkill|too (?:expensive|heavy|complex|much|big|slow)|not (?:a good|the right|worth|recommended|needed|ideal)|unnecessary|deprecated)|isn't|is not)`)
	prefix    = regexp.MustCompile(`(?i)(?:\bI(?:'d|'ll|'ve| would| will| have| am|'m)?|\bwe(?:'d|'ll|'ve| would| will| have)?|\blet's|\bmy (?:pick|choice|recommendation|vote|suggestion)(?: is| would be| goes to)?:?|\b(?:final |top )?(?:recommendation|verdict|pick|choice)(?: is)?:?)\s*(?:also |just |really |personally |strongly |highly )*(?:use|used|using|choose|chose|chosen|choosing|pick|picked|picking|go|going|gone|went|recommend|recommended|suggest|default|set up|setup|wired|wire|integrated|integrate|added|add|build on|built|start|stick|deploy|reach for)?(?: up| in| it| this| on)?(?: with| to| for)?(?:\s+(?:the|a|an|our|using|with|to|for))?\s*(?:[\w.]+\s+){0,2}["']?$`)
	verdict   = regexp.MustCompile(`(?i)(?:recommendation|verdict|my pick|top pick|winner|bottom line|best overall|overall best|editor's choice|best choice)\s*(?:\([^)]*\))?\s*[:–—-]\s*(?:the\s+)?$`)
	uses      = regexp.MustCompile(`(?i)(?:\b(?:use|uses|using|choose|pick|try|go with|going with|opt for|default to|set up|wire up|integrate|start with|stick with|deploy(?:s|ed)? (?:it |this )?(?:to|on)|host(?:s|ed)? (?:it |this )?on|goes? (?:out )?through|powered by|handled by|built on|runs? on|backed by)\b)(?:\s+(?:the|a|an|your|our))?\s*(?:[\w.]+\s+){0,1}["'(]?$`)
	praise    = regexp.MustCompile(`(?i)^(?:'s)?\s*(?:[\w.]+\s+){0,4}?(?:(?:is|are|would be|will be|remains|makes|looks like|seems)\s+(?:\w+\s+){0,2}?(?:the|my|your|our|a|an)?\s*(?:\w+\s+){0,2}?(?:best|right|default|recommended|ideal|clear|primary|strongest|safest|obvious|simplest|go-to|winner|solid|great|perfect|top)\b|(?:is|are)\s+(?:\w+\s+)?(?:enough|plenty|all you need|primary|recommended|set up)\b|(?:is|are) (?:where|what|the one|who) (?:I|we)\b|won\b|wins\b|gives you the \w+est\b|fits best|\(recommended\)|[–—-] recommended)`)
	iffy      = regexp.MustCompile(`(?i)^(?:(?:and|but|or)\s+)?(?:if|unless|when|once|should you|in case|for (?:larger|bigger|enterprise|teams))\b`)
	later     = regexp.MustCompile(`(?i)^[^,;.]{0,30}\b(?:if|when|once|unless)\s+(?:you|your|they|it)\b`)
	secondary = regexp.MustCompile(`(?i)^[^,;.]{0,20}\b(?:alternatives?|close seconds?|runner-?ups?|also (?:good|viable|works?|works well|worth)|fallback|backup|secondary|honou?rable|as well|another option|is (?:a )?fine)\b`)
	classic   = regexp.MustCompile(`(?i)\bbut\b`)
	ownWork   = regexp.MustCompile(`(?i)(?:\b(?:I|we)(?:'d|'ll|'ve| would| will| have)?\s+(?:just |simply )?(?:build|built|roll|rolled|write|wrote|implement|implemented|hand-?roll(?:ed)?|created?)\s+(?:out )?(?:a|an|our|my|your|the|it|this)\b|\b(?:build|roll|write|hand-?roll)(?:ing)? (?:it |this )?(?:your|our|my|its|their) own\b|\b(?:your|our|my|a) own (?:implementation|solution|system|service)\b|\byourself\b|\bfrom scratch\b|\bhand-?rolled\b|\bis all you need\b|\bno (?:third[- ]party|external) (?:service|library|dependency|vendor|provider)s?\b)`)
	refuses   = regexp.MustCompile(`(?i)^\W*(?:I'?m sorry,?\s*(?:but )?)?(?:I|we) (?:can't|cannot|can not|won't|will not|am unable to|'m unable to|am not able to|'m not able to)\s+(?:\w+\s+)?(?:help|assist|recommend|provide|comply|choose|discuss|do that|answer|endorse)`)
	stranger  = regexp.MustCompile(`\b(?:I'd|I'll|I would|I will|we'd|we'll|I|we)\s+(?:recommend|go with|went with|chose|picked|would choose|choose|pick)\s+(?:the\s+)?([A-Z][\w.]*[\w](?:\s[A-Z][\w.]*\w)?)`)
	negatives = []string{"no", "✗", "❌", "✘", "not recommended", "skip", "avoid", "rejected"}
	topLine   = regexp.MustCompile(`(?i)\b(?:best overall|overall best|top pick|top choice|editor'?s? choice|our pick|best for most|#1 pick|overall winner)\b`)
)

// Limits of a sentence. Each mention is read with its context: without limits, a message
// that repeats a name would take quadratic time.
const (
	mostWords    = 4096 // bytes
	mostMentions = 64
)

// upTo returns the beginning of a text, at most n bytes.
func upTo(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// read finds the statements of a message on every target.
func (x *Extractor) read(ctx context.Context, prose string) (statements, error) {
	var sp statements
	for i, s := range sentences(prose) {
		if err := ctx.Err(); err != nil {
			return sp, err
		}
		s.text = upTo(s.text, mostWords)
		found := x.mentions(s)
		found = found[:min(len(found), mostMentions)]
		for _, m := range found {
			sp.remarks = append(sp.remarks, remark{m.target, stanceOf(s, m, found), i, clipQuote(s.text)})
		}
		if sp.diy == "" && x.ownWords(s.text) {
			sp.diy = s.text
		}
		if sp.refusal == "" && refuses.MatchString(s.text) {
			sp.refusal = s.text
		}
		if m := stranger.FindStringSubmatch(s.text); m != nil && len(found) == 0 && sp.unknown == "" {
			sp.unknown, sp.quote = slug(m[1]), s.text
		}
		sp.rank(s, found, i)
	}
	return sp, nil
}

func (x *Extractor) ownWords(text string) bool {
	if ownWork.MatchString(text) {
		return true
	}
	for _, re := range x.diy.Phrases {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// rank notes the first item of a list that ranks: number 1, or a line that says
// "best overall". A later such line does not change it.
func (sp *statements) rank(s sentence, found []mention, at int) {
	if sp.first != nil || s.item != 1 && !topLine.MatchString(s.text) {
		return
	}
	for _, m := range found {
		if !m.target.outside && stanceOf(s, m, found) != rejected {
			sp.first = &remark{m.target, praised, at, clipQuote(s.text)}
			return
		}
	}
}

// stanceOf reads the words around a mention.
func stanceOf(s sentence, m mention, all []mention) stance {
	if len(s.row) > 0 {
		return rowStance(s.row)
	}
	left, right := s.text[:m.start], s.text[m.end:]
	joined := mask(left, all)
	switch {
	case swapped.MatchString(left): // "replaced A with B": B is the choice
		return used
	case negation.MatchString(joined) || overB.MatchString(left) || dismiss.MatchString(right):
		return rejected
	case iffy.MatchString(s.text) && !strings.Contains(left, ","):
		return conditional
	case secondary.MatchString(right):
		return conditional
	case verdict.MatchString(left), prefix.MatchString(joined) && left != "" && hasSpeaker(joined):
		return committed
	case later.MatchString(right):
		return conditional
	case praise.MatchString(right) && !classicBut(right):
		return praised
	case uses.MatchString(joined) && !iffy.MatchString(s.text):
		return used
	case iffy.MatchString(s.text):
		return conditional
	default:
		return neutral
	}
}

// classicBut is the concession "X is the classic choice, but ...".
func classicBut(right string) bool {
	i := classic.FindStringIndex(right)
	return i != nil && i[0] < 60
}

var speaker = regexp.MustCompile(`(?i)\b(?:I|I'd|I'll|I've|we|we'd|we'll|we've|let's|my|recommendation|verdict|pick|choice)\b`)

// hasSpeaker keeps the optional parts of prefix from matching nothing at all.
func hasSpeaker(left string) bool {
	tail := left
	if i := strings.LastIndexAny(tail, ",;"); i >= 0 {
		tail = tail[i+1:]
	}
	return speaker.MatchString(tail)
}

// mask removes earlier names and the "and" behind them, so that a statement about the
// first of two names applies to the second too.
func mask(left string, all []mention) string {
	for _, m := range slices.Backward(all) {
		if m.end > len(left) {
			continue
		}
		between := strings.TrimSpace(left[m.end:])
		if between == "and" || between == "or" || between == "," || between == ", and" || between == ", or" || between == "&" {
			left = left[:m.start]
		}
	}
	return left
}

func rowStance(cells []string) stance {
	for _, c := range cells[1:] {
		if slices.Contains(negatives, strings.ToLower(c)) {
			return rejected
		}
	}
	return neutral
}

func slug(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name)), "-")
}
