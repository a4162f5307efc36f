package pick

import (
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A role is what the prose before a fence says of its code.
type role int

const (
	roleDelivered role = iota
	roleOptional       // of an alternative
	roleDismissed      // the rejected or the old way
)

// A lead is the prose before a fence: the line before it, and the headings that it is
// under. Lines are kept as they are and judged only where a fence begins.
type lead struct {
	line     string
	headings []heading
}

// A heading is a line that may be one; its level is 0 until it is judged.
type heading struct {
	text  string
	level int // 1 to 6; 7: a bold line, or a label of its own
	role  role
}

// maxLead is the length in bytes of the longest line that says what a fence is,
// maxHeadings the number of headings that are kept of a message without a fence.
const (
	maxLead     = 400
	maxHeadings = 1000
)

// next reads the next line of prose.
func (l *lead) next(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	l.line = line[max(0, len(line)-maxLead):]
	if len(line) <= maxLead && mayHead(line) {
		if len(l.headings) == maxHeadings {
			l.headings = l.headings[maxHeadings/2:]
		}
		l.headings = append(l.headings, heading{text: line})
	}
}

// mayHead reports whether a line begins like a heading.
func mayHead(line string) bool {
	if strings.IndexByte("#*_-+>", line[0]) >= 0 || line[0] >= '0' && line[0] <= '9' || line[0] >= utf8.RuneSelf {
		return true
	}
	switch lowerASCII(line[0]) {
	case 'o', 'a', 'v', 'p', 'c': // see optionHead
		return len(line) <= 120
	}
	return false
}

// settle judges the headings so far, and keeps those that hold here.
func (l *lead) settle() {
	var kept []heading
	for _, h := range l.headings {
		if h.level == 0 {
			if h.level = headingLevel(h.text); h.level == 0 {
				continue
			}
			h.role = headingRole(h.text)
		}
		for len(kept) > 0 && kept[len(kept)-1].level >= h.level {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, h)
	}
	l.headings = kept
}

// headingLevel returns the level of a heading; 0 for other lines.
func headingLevel(line string) int {
	text := strings.TrimLeft(line, "#")
	if n := len(line) - len(text); n > 0 && n <= 6 && strings.HasPrefix(text, " ") {
		return n
	}
	if len(line) > 120 {
		return 0
	}
	if bold := strings.TrimRight(line, ": "); len(bold) > 4 && (strings.HasPrefix(bold, "**") && strings.HasSuffix(bold, "**") || strings.HasPrefix(bold, "__") && strings.HasSuffix(bold, "__")) {
		return 7
	}
	if optionHead.MatchString(plainLead(line)) {
		return 7
	}
	return 0
}

// optionWords name one of several ways.
const optionWords = "option|alternative|variant|variante|alternativa|opción|opção|opzione|approach|choice|plan|方案|选项|オプション|案|옵션|대안"

var (
	leadMarks = lazyregexp.MustCompile(`[#*_>~]+|^\s*(?:[-+]|\d+[.)])\s+`)
	// numberedOption begins that of one with a number or letter: "Option A: X".
	numberedOption = lazyregexp.MustCompile(`(?i)^\W*(?:` + optionWords + `)\s*(?:[a-h]|#?\d|one|two|three|[一二三])\s*(?:[:：.)(–—-]|$)`)
	// optionHead begins the heading of one of several ways.
	optionHead = lazyregexp.MustCompile(`(?i)^(?:` + optionWords + `)\s*(?:[a-h]|\d|#\d|one|two|three|[一二三])?\b?\s*(?:[:：.)(–—-]|$)`)
	// chosenHead says that the way of a heading is the choice.
	chosenHead = lazyregexp.MustCompile(`(?i)recommend|preferred|my pick|my choice|chosen|empfohlen|recommandé|recomendad|consigliat|推荐|推奨|おすすめ|추천|✅|⭐|🏆`)
	optionLead = lazyregexp.MustCompile(`(?i)\b(?:alternatives?|alternatively|other options?|another (?:option|way|approach)|for comparison|considered|for later|in the future|down the road|(?:if|when|once) you (?:ever )?(?:outgrow|grow|exceed|hit|reach|scale)|if you(?:'d| would)? (?:prefer|rather|want|need|like|ever|already|must|insist)|if you(?:'re| are) (?:already )?(?:on|using)|if (?:you|we|i)(?:'d| had)? (?:went|gone|chose|chosen|picked|used|were|wanted|ended up)|you(?:'d| would) (?:be writing|write|have written)|you could also|could also|or(?:,)? (?:with|using) |(?:would|could|might) look (?:something )?like|alternativ|falls (?:du|sie)|sinon|si vous préférez|alternativa|si prefieres|se preferir|se preferisci|in alternativa)\b|\bcompare (?:it|that|this) (?:with|to)\b|\bthe same (?:thing |code )?(?:in|with) [^,:]{1,40} would\b|zum vergleich|pour comparer|à titre de comparaison|para comparar|a modo de comparación|per confronto|代替案|或者|如果你|もし|대안`)
	// badLead says that code is wrong; oldLead that it is what there was, unless the line
	// leads to what replaces it.
	badLead      = lazyregexp.MustCompile(`(?i)\b(?:(?:do not|don't|avoid|never) (?:do|write|use|run|install|try)|not like this|the wrong way|the hard way|anti-?pattern|bad (?:example|code)|rejected|ruled out|discarded|why not|not chosen|would have (?:been|looked)|no longer need)\b|❌|🚫`)
	oldLead      = lazyregexp.MustCompile(`(?i)\b(?:old (?:code|way|version|implementation|setup)|legacy (?:code|version|client)|(?:current|existing) (?:code|setup|implementation|client)|what you have (?:now|today)|(?:remove|delete|uninstall|replace|drop) (?:this|these|the)|alter code|ancien code|código antiguo|código antigo|vecchio codice)\b|\b(?:my|our|your) (?:[^,:]{1,30} )?(?:code|schema|setup|config|configuration|implementation|client|models?|handlers?|queries|tests?|store) (?:today|currently|at the moment)\b|旧代码|古いコード`)
	beforeLead   = lazyregexp.MustCompile(`(?i)^(?:before|vorher|avant|antes|prima|previously|old|wrong|bad|之前|以前|before:|変更前|이전)(?:\s*[(（–—-][^,]*)?\s*[:：]?$`)
	insteadLead  = lazyregexp.MustCompile(`(?i)\b(?:instead of|rather than)\b[^,]*[:：]$`)
	deliverLead  = lazyregexp.MustCompile(`(?i)\b(?:add|put|paste|use|install|change|update|switch|extend|into|becomes|write|run|do|with|to)\b[^.]*[:：]$`)
	deliverStart = lazyregexp.MustCompile(`(?i)^(?:and |then |so )?(?:add|put|paste|use|install|change|update|switch|extend|write|run|do)\b`)
	butLead      = lazyregexp.MustCompile(`(?i)(?:would|could|might) look\b.*\bbut\b`)
)

// plainLead returns a line without its markup.
func plainLead(line string) string {
	return strings.TrimSpace(leadMarks.ReplaceAllString(line, ""))
}

// headingRole returns what a heading says of the code below it.
func headingRole(line string) role {
	text := plainLead(line)
	switch {
	case chosenHead.MatchString(text):
		return roleDelivered
	case beforeLead.MatchString(text), badLead.MatchString(text), oldLead.MatchString(text) && !deliverLead.MatchString(text+":"):
		return roleDismissed
	case optionHead.MatchString(text), optionLead.MatchString(text):
		return roleOptional
	}
	return roleDelivered
}

// role returns what the prose says of the fence behind it. The last clause leads to it.
func (l *lead) role() role {
	l.settle()
	out := roleDelivered
	for _, h := range l.headings {
		out = max(out, h.role)
	}
	if n := len(l.headings); n > 0 && l.headings[n-1].text == l.line {
		return out
	}
	text := plainLead(l.line)
	for _, end := range []string{". ", "; ", "。"} {
		if i := strings.LastIndex(text, end); i >= 0 && strings.TrimSpace(text[i+len(end):]) != "" {
			text = strings.TrimSpace(text[i+len(end):])
		}
	}
	switch {
	case text == "" || deliverStart.MatchString(afterComma(text)) && !badLead.MatchString(afterComma(text)) && !optionLead.MatchString(text):
	case butLead.MatchString(text), beforeLead.MatchString(text), badLead.MatchString(text),
		insteadLead.MatchString(text) && !deliverLead.MatchString(afterInstead(text)),
		oldLead.MatchString(text) && !deliverLead.MatchString(text):
		return roleDismissed
	case optionLead.MatchString(text):
		return roleOptional
	}
	return out
}

// afterComma returns the part of a line behind its last comma.
func afterComma(text string) string {
	return strings.TrimSpace(text[strings.LastIndexByte(text, ',')+1:])
}

// afterInstead returns what follows "instead of X".
func afterInstead(text string) string {
	_, rest, _ := strings.Cut(strings.ToLower(text), "instead of")
	return rest
}
