package propose

import (
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

func TestQuick(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(c, nil)
	for want, text := range map[string]string{
		"payments": "# Coinflow\n\nThe easiest way to accept payments online. Works with Next.js and Postgres.\n\n## Install\n\nnpm install coinflow",
		"logging":  "# slogger\n\nA blazing fast structured logger for Node.js with JSON output.",
		"": "# resizer\n\nFast image resizing for Node.js using libvips",
		"forms ": "# Tally Ho\n\nBeautiful forms and surveys for your customers. A Typeform alternative.",
	} {
		p := r.Find([]Document{{Name: "README.md", Text: []byte(text)}}, "")
		t.Logf("%s: %+v", want, p)
	}
}
