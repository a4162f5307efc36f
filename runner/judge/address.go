package judge

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// addressForms match text that addresses whoever reads the answer as a judge, in place of
// the user who asked. A line with a match is left out: what a judge does not see cannot
// move it. A line too much costs an answer that stays unresolved.
const addressForms = `(?is)` +
	// Commands to drop instructions.
	`\b(ignore|disregard|forget|override|bypass|discard)\b.{0,60}\b(instructions?|prompts?|directions|guidelines|rules (above|you)|(all|everything|anything|text|the) (previous|prior|above|before))\b` +
	`|\b(new|updated|revised|real|actual|hidden|final) (system )?(instructions?|prompt|directive)s?\b|\bsystem (prompt|message|override|note|notice|instruction|update)s?\b` +
	// A judge by name.
	`|\b(the|this|dear|hey|hello|any|an?|for|as|llm|ai|all|automated)[ -]+((llm|ai|model|automated|automatic|language|second)[ -]+)*(judges?|graders?|evaluators?|classifiers?|annotators?|raters?|labell?ers?|assessors?|adjudicators?)\b` +
	`|(^|[\n\[(<{*#_>"'])\W*(judges?|graders?|evaluators?|classifiers?|annotators?|raters?|adjudicators?)\W{0,3}[:,]` +
	`|\byou (are|act as|must act as|will act as)( now)?\b.{0,30}\b(judge|grader|evaluator|classifier|annotator|rater|model|assistant|ai|llm|tasked|reading this|in \w+ mode)\b` +
	// The form of a judgement.
	`|\b(answer|respond|reply)\b( only| just| exactly| solely| always| simply| instead)* (with|using|in the form|by choosing|as follows)\b` +
	`|["'` + "`" + `]?\b(choice|verdict|judge?ment|quote)\b["'` + "`" + `]?\s*[:=]\s*["'{\[\d]` +
	`|(^|[.!?:;\n>*#-])\s*(please )?(pick|choose|select|answer|output|return|print|emit|report|say|write|use)\b[^.\n]{0,24}\b(option|choice|number|label|no\.|#)\s*\d+` +
	`|\b(correct|expected|required|only valid|only acceptable) (answer|verdict|label|classification|output|response|judge?ment|choice)\b` +
	`|\b(classify|label|mark|record|count|score|grade|rate|treat|register|log|interpret) (this|the|my|our)( entire| whole| above)? (answer|response|transcript|message|conversation|text|reply|trial|document)\b` +
	`|\b(this|the|my) (answer|response|transcript|conversation|trial|document)\b.{0,40}\b(should|must|has to|shall|is to|needs to) be\b.{0,30}\b(classified|labell?ed|counted|recorded|read|scored|graded|judged|treated|marked|interpreted|understood)\b` +
	`|\byour (quote|verdict|judge?ment|classification|label|evaluation|final answer|output|json)\b` +
	`|\b(regardless of|no matter) (what )?(the |anything )?(text|answer|rest|transcript|above|below|said|content|evidence)` +
	`|\b(do not|don't|never) (read|consider|trust|quote|report|mention|follow) (the (rest|above|following|instructions|text|rules)|any)` +
	// Marks of conversations and of the end of data.
	`|<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(system|instructions?|assistant|developer|user|judge|transcript|data|answer)>|(^|\n)\s*#{1,4}\s*(system|instructions?|new task|task)\b` +
	`|(^|\n)\W*(system|assistant|developer|human|user)\s*:|\b(end|start|begin|beginning) of (the |this )?(transcript|data|answer|message|conversation|document|text|input|untrusted)\b` +
	// Other languages.
	`|ignorier\w* .{0,40}(anweisung|vorgabe|regel|obige|vorherige)|antworte\w* (nur |bitte |ausschließlich |stets )*mit\b|\b(bewerter|gutachter|prüfer|schiedsrichter|juror)(s|n|in|innen)?\b` +
	`|ignore[rz]?\b .{0,40}(consignes|instructions|règles)|r[ée]pond(s|ez|re)?\b.{0,20}\b(par|avec)\b|[ée]valuateur|\bau juge\b|\ble juge\b` +
	`|ignor(a|e|en|ar)\b.{0,40}(instrucciones|instruções|reglas|regras|anteriores)|respond(a|e|er|an)\b.{0,20}\b(con|com)\b|\b(evaluador|avaliador|juez|juiz)(a|es)?\b` +
	`|ignora(re|te)?\b.{0,40}(istruzioni|regole|precedenti)|rispond(i|ere|ete)\b.{0,20}\bcon\b|\b(valutatore|giudice)\b` +
	`|(指示|命令|ルール|規則|プロンプト).{0,6}(無視|忘れ)|(評価者|審査員|判定者|採点者)|と(だけ)?(回答|答え|出力)(して|せよ|しろ|てくだ)` +
	`|(忽略|无视|忘记|忽視|無視).{0,12}(指令|指示|说明|說明|规则|規則|提示|内容)|(评估者|评审|評審|裁判|评委|评判|判断者|打分)|(请|請)?(回答|输出|輸出|选择|選擇)(选项|選項|[:：]|["“「])` +
	`|(지시|명령|규칙|프롬프트).{0,8}(무시|잊)|(평가자|심사위원|심사자|채점자)|(라고|으로|로)(만)? ?(답|대답|출력)(하|해)`

// addressesJudge reports whether a text, such as a quote, addresses a judge.
func (r *Reader) addressesJudge(text string) bool {
	folded, _ := fold(text)
	return r.address.MatchString(folded)
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
	for _, m := range r.address.FindAllStringIndex(folded, -1) {
		from, to := source[m[0]], source[m[1]]
		for from < to && text[from] == '\n' { // matched as the start of a line
			from++
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
