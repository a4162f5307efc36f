package judge

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A form is a way to address a judge of the answer, in place of the user who asked. A line
// with a match is left out, so that it cannot influence the judge. The cost of a false match
// is an answer that stays unresolved.
type form struct {
	// needs are words separated by spaces, of which a match holds one: most answers hold
	// none, and a search for words is much faster than the pattern.
	needs   string
	pattern *regexp.Regexp
}

const (
	// judges are words for a judge.
	judges = `(judges?|graders?|evaluators?|classifiers?|annotators?|raters?|labell?ers?|assessors?|adjudicators?)`
	// judgeNeeds has a part of each of them.
	judgeNeeds = "judge grader evaluator classifier annotator rater labeler labeller assessor adjudicator"
	// within is text of one sentence.
	within = `[^.!?]{0,40}`
)

// forms returns the forms in the languages that the rules read.
func forms() []form {
	var out []form
	add := func(needs, pattern string) {
		out = append(out, form{needs, regexp.MustCompile(`(?is)` + pattern)})
	}
	// Commands to drop instructions.
	add("instruction prompt direction guideline rules all everything anything text the",
		`\b(ignore|disregard|forget|override|bypass|discard)\b[^.!?]{0,60}\b(instructions?|prompts?|directions|guidelines|rules (above|you)|(all|everything|anything|text|the) (previous|prior|above|before))\b`)
	add("instruction prompt directive", `\b(new|updated|revised|real|actual|hidden|final) (system )?(instructions?|prompt|directive)s?\b`)
	add("system", `\bsystem (prompt|message|override|note|notice|instruction|update)s?\b`)
	add("regardless matter", `\b(regardless of|no matter) (what )?(the |anything )?(text|answer|rest|transcript|above|below|said|content|evidence)`)
	add("not don't never", `\b(do not|don't|never) (read|consider|trust|quote|report|mention|follow) (the (rest|above|following|instructions|text|rules)|any)`)
	// A judge by name.
	add(judgeNeeds, `\b(the|this|dear|hey|hello|any|an?|for|as|llm|ai|all|automated)[ -]+((llm|ai|model|automated|automatic|language|second)[ -]+)*`+judges+`\b`)
	add(judgeNeeds, `(^|[\n\[(<{*#_>"'])\W*`+judges+`\W{0,3}[:,]`)
	add("you", `\byou (are|act as|must act as|will act as)( now)?\b[^.!?]{0,30}\b(judge|grader|evaluator|classifier|annotator|rater|model|assistant|ai|llm|tasked|reading this|in \w+ mode)\b`)
	add("annotat label truth answer", `\bannotat(es?|ing|ors?) (this|the)\b|(^|\n)\W*annotations?\s*[:=]|\bannotation (of|for) (this|the)\b|\b(gold|ground|target)[ -]?(label|truth|answer)s?\b`)
	add("ai llm model bot machine automat",
		`\b(dear|attention|hey|hello|hi|note (to|for)|if you are|as) (an? |any |all |the |language )*(ais?|llms?|models?|bots?|machines?|automated|automatic)\b|\b(automated|automatic|machine|ai|llm) (readers?|parsers?|pipelines?|labell?ing)\b`)
	add("read", `\breaders? of (this|the) (transcript|text|answer)\b|\b(stop|quit) reading\b|\b(whoever|anyone) (reads|reading) this\b`)                                                                       // words:ok
	add("whoever asked asking asks", `\bwhoever (annotates|labels|grades|judges|rates|evaluates)\b|\b(when|if|anyone) [^.!?]{0,12}(asked|asking|asks)\b[^.!?]{0,40}\b(chose|chosen|picked|selected|choice)\b`) // words:ok
	add("your task your job pretend what i say forget override", `\byour (task|job|role) (is|has|changed)\b|\bpretend (that )?this\b|\bdo what i say\b|\bforget what you\b|(^|\n)\W*override\s*:`)
	// The form of a judgement.
	add("answer respond reply", `\b(answer|respond|reply)\b( only| just| exactly| solely| always| simply| instead)* (with|using|in the form|by choosing|as follows)\b`)
	add("choice verdict judg quote", "[\"'`]?\\b(choice|verdict|judge?ment|quote)\\b[\"'`]?\\s*[:=]\\s*[\"'{\\[\\d]")
	add("option choice number label no. #", `(^|[.!?:;\n>*#-])\s*(please )?(pick|choose|select|answer|output|return|print|emit|report|say|write|use)\b[^.\n]{0,24}\b(option|choice|number|label|no\.|#)\s*\d+`)
	add("correct expected required only", `\b(correct|expected|required|only valid|only acceptable) (answer|verdict|label|classification|output|response|judge?ment|choice)\b`)
	add("classify label mark record count score grade rate treat register log interpret",
		`\b(classify|label|mark|record|count|score|grade|rate|treat|register|log|interpret) (this|the|my|our)( entire| whole| above)? (answer|response|transcript|message|conversation|text|reply|trial|document)\b`)
	add("answer response transcript conversation trial document",
		`\b(this|the|my) (answer|response|transcript|conversation|trial|document)\b`+within+`\b(should|must|has to|shall|is to|needs to) be\b[^.!?]{0,30}\b(classified|labell?ed|counted|recorded|read|scored|graded|judged|treated|marked|interpreted|understood)\b`)
	add("your", `\byour (quote|verdict|judge?ment|classification|label|evaluation|final answer|output|json)\b`)
	// Marks of conversations and of the end of data.
	add("<| inst] sys>> system instruct assistant developer user judge transcript data answer",
		`<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(system|instructions?|assistant|developer|user|judge|transcript|data|answer)>|(^|\n)\W*(system|assistant|developer|human|user)\s*:`)
	add("system instruct task", `(^|\n)[ \t]*#{1,4}[ \t]*(system|instructions?|new task|task)\b[^\n]*(\n[^\n]+)*`) // up to an empty line
	add("of", `\b(end|start|begin|beginning) of (the |this )?(transcript|data|answer|message|conversation|document|text|input|untrusted)\b`)
	// Other languages.
	add("ignorier", `ignorier\w* `+within+`(anweisung|vorgabe|regel|obige|vorherige)`)
	add("antwort bewerter gutachter prüfer schiedsrichter juror", `antworte\w* (nur |bitte |ausschließlich |stets )*mit\b|\b(bewerter|gutachter|prüfer|schiedsrichter|juror)(s|n|in|innen)?\b`)
	add("ignor", `\bignor(e|ez|er|a|en|ar|are|ate)\b`+within+`(consignes|règles|instrucciones|instruções|reglas|regras|anteriores|istruzioni|regole|precedenti)`)
	add("repond répond respond rispond", `\b(r[ée]pond(s|ez|re)?|respond(e|a|er|an)|rispond(i|ere|ete))\b[^.!?]{0,20}\b(par|avec|con|com)\b`)
	add("valuateur juge evaluador avaliador juez juiz valutatore giudice", `[ée]valuateur|\b(au|le) juge\b|\b(evaluador|avaliador|juez|juiz)(a|es)?\b|\b(valutatore|giudice)\b`)
	add("無視 忘れ 者 審査員 回答 答え 出力", `(指示|命令|ルール|規則|プロンプト).{0,6}(無視|忘れ)|(評価者|審査員|判定者|採点者)|と(だけ)?(回答|答え|出力)(して|せよ|しろ|てくだ)`)
	add("忽略 无视 忘记 忽視 無視", `(忽略|无视|忘记|忽視|無視).{0,12}(指令|指示|说明|說明|规则|規則|提示|内容)`)
	add("评 裁判 評審 打分 判断者 回答 输出 輸出 选 選", `(评估者|评审|評審|裁判|评委|评判|判断者|打分)|(请|請)?(回答|输出|輸出|选择|選擇)(选项|選項|[:：]|["“「])`)
	add("무시 잊 자 심사위원 답 출력", `(지시|명령|규칙|프롬프트).{0,8}(무시|잊)|(평가자|심사위원|심사자|채점자)|(라고|으로|로)(만)? ?(답|대답|출력)(하|해)`)
	return out
}

// addresses returns the places in a folded text that address a judge, by their start.
func (r *Reader) addresses(folded string) [][]int {
	lower := strings.ToLower(folded)
	var out [][]int
	for _, f := range r.forms {
		if slices.ContainsFunc(strings.Fields(f.needs), func(word string) bool { return strings.Contains(lower, word) }) {
			out = append(out, f.pattern.FindAllStringIndex(folded, -1)...)
		}
	}
	sorting.Func(out, func(a, b []int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return out
}

// addressesJudge reports whether a text, such as a quote, addresses a judge.
func (r *Reader) addressesJudge(text string) bool {
	folded, _ := fold(text)
	return len(r.addresses(folded)) > 0
}

// withoutAddresses returns the fragments of a text between lines that address a judge,
// and the number of lines left out. A match may run over several lines.
func (r *Reader) withoutAddresses(text string) (fragments []string, left int) {
	folded, source := fold(text)
	at := 0
	keep := func(s string) {
		if s = strings.Trim(s, "\r\n"); strings.TrimSpace(s) != "" {
			fragments = append(fragments, s)
		}
	}
	for _, m := range r.addresses(folded) {
		from, to := source[m[0]], source[m[1]]
		lead := to - from - len(strings.TrimLeft(text[from:to], " \t\r\n.!?:;>*#-"))
		if end := strings.LastIndexByte(text[from:from+lead], '\n'); end >= 0 { // the end of the line before
			from += end + 1
		}
		from = strings.LastIndexByte(text[:from], '\n') + 1
		if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
			to += end
		} else {
			to = len(text)
		}
		if to <= at {
			continue // in a line that is out already
		}
		from = max(from, at)
		keep(text[at:from])
		left += 1 + strings.Count(strings.Trim(text[from:to], "\n"), "\n")
		at = to
	}
	keep(text[at:])
	return fragments, left
}

// fold removes invisible characters and compatibility forms, which hide words from a
// pattern. source has the byte of the text for every byte of the result, and its length.
func fold(text string) (folded string, source []int) {
	var b strings.Builder
	source = make([]int, 0, len(text)+1)
	for i, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			source = append(source, i)
			continue
		}
		if unicode.In(r, unicode.Cf, unicode.Mn) {
			continue
		}
		form := norm.NFKC.String(string(r))
		b.WriteString(form)
		for range len(form) {
			source = append(source, i)
		}
	}
	return b.String(), append(source, len(text))
}
