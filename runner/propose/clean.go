package propose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// clean returns valid text in NFC without controls and marks of direction.
func clean(text []byte) string {
	valid := strings.ToValidUTF8(string(text), " ")
	return norm.NFC.String(string(inert.Text([]byte(strings.ReplaceAll(valid, "\r\n", "\n")))))
}

// line returns a text as one line with single spaces.
func line(text string) string {
	return strings.Join(strings.Fields(clean([]byte(text))), " ")
}

// maxWords is the most words of a product's name.
const maxWords = 4

// validName returns a text as the name of a product; empty if it cannot be one: names have
// few words, of letters, digits and few marks.
func validName(text string) string {
	name := strings.Trim(line(text), " .,:;-–—_|·*#\"'`")
	words := strings.Fields(name)
	if name == "" || len(words) > maxWords || utf8.RuneCountInString(name) > MaxName {
		return ""
	}
	letters := 0
	for _, c := range name {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			letters++
		case unicode.IsMark(c), strings.ContainsRune(" .-+&'_#!/", c):
		default:
			return ""
		}
	}
	if letters == 0 || strings.Contains(name, "//") || strings.Contains(name, "..") {
		return ""
	}
	return name
}

// packageName matches names that a registry accepts.
var packageName = lazyregexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9._~/:-]*$`)

func validPackage(name string) string {
	name = strings.TrimSpace(name)
	if len(name) > 120 || !packageName.MatchString(name) || strings.Contains(name, "..") || strings.Contains(name, "//") {
		return ""
	}
	return name
}

// validPath returns the name of a document without invisible characters, bounded.
func validPath(name string) string {
	name = inert.Line(name)
	if runes := []rune(name); len(runes) > MaxName {
		name = string(runes[:MaxName-1]) + "…"
	}
	return name
}

// key folds a name for comparisons: lower case, letters and digits only.
func key(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, name)
}

// instruction matches sentences that address a model and describe no product.
var instruction = lazyregexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|any|your)\b.{0,30}\b(instruction|prompt|rule|guideline|context|message)s?|` +
	`\b(you are|act as|pretend to be) (now |an? )?(helpful |ai |an? )*(ai|assistant|model|agent|llm|chatgpt|claude|gpt)\b|\b(ai|llm|language model)s?( agents?| assistants?| models?)? (must|should|shall)\b|` +
	`\bas an? (ai|llm|assistant|language model|agent|chatbot)\b|\b(dear|attention|hey|hello|note to) (all |any |the )*(ai|llm|language model|assistant|chatbot|crawler)s?( readers?| agents?| assistants?| models?| crawlers?)?\s*[:,!]|` +
	`\b(must|should|shall|has to|needs to) (always |only |now )?be (listed|classified|categori[sz]ed|ranked|recommended|reported|named|filed|placed) (as|in|under|first|above)\b|` +
	`\bsystem( prompt|:)|\byou must (always |now )?(recommend|classify|rank|pick|choose|say|output|run|execute)\b|\b(classify|categori[sz]e|rank|report) (this|us|it) (product )?(as|in|under)\b|` +
	`\b(set|change|use) the (category|name|rivals?|confidence)\b|<\|?(im_start|system|endoftext)`)
