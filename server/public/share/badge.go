package share

import (
	"fmt"
	"html"
	"strings"
)

// Badge draws a badge as SVG: a label and a text. title is the whole text, for a tooltip and
// for those who do not see it. It needs no font: a width is estimated for each character, and
// the texts are stretched to it.
func Badge(label, text, title string) []byte {
	left, right := badgeWidth("● "+label), badgeWidth(text)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s: %s">`, left+right, html.EscapeString(label), html.EscapeString(title))
	fmt.Fprintf(&b, `<title>%s: %s</title><clipPath id="r"><rect width="%d" height="20" rx="4"/></clipPath>`, html.EscapeString(label), html.EscapeString(title), left+right)
	fmt.Fprintf(&b, `<g clip-path="url(#r)"><rect width="%d" height="20" fill="#15191c"/><rect x="%d" width="%d" height="20" fill="#0a6459"/></g>`, left, left, right)
	b.WriteString(`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`)
	fmt.Fprintf(&b, `<text x="%d" y="14" textLength="%d"><tspan fill="#6fd3c3" font-weight="bold">●</tspan> %s</text>`, 6, left-12, html.EscapeString(label))
	fmt.Fprintf(&b, `<text x="%d" y="14" textLength="%d">%s</text></g></svg>`, left+6, right-12, html.EscapeString(text))
	return []byte(b.String())
}

// badgeWidth estimates the width of a text in Verdana 11, with its margins, in pixels.
func badgeWidth(text string) int {
	w := 12.0
	for _, c := range text {
		switch {
		case strings.ContainsRune("iljI.,:;'|! ", c):
			w += 4
		case strings.ContainsRune("mwMW@%", c):
			w += 10.5
		case 'A' <= c && c <= 'Z':
			w += 7.8
		default:
			w += 6.9
		}
	}
	return int(w)
}
