package attribution

import (
	"net/url"
	"strings"
	"testing"
)

func TestDecorate(t *testing.T) {
	s := signer(t)
	marks := Marks{Via: "firstpick-mcp", Source: "firstpick", Medium: "ai_agent", Campaign: "mcp"}
	const all = "utm_source=firstpick&utm_medium=ai_agent&utm_campaign=mcp"
	const via = "via=firstpick-mcp"
	examples := map[string]string{
		"https://acme.dev":                          "https://acme.dev?" + all + "&" + via + "&vt=*",
		"http://acme.dev/docs?":                     "http://acme.dev/docs?" + all + "&" + via + "&vt=*",
		"https://acme.dev/docs?a=1&b=%20x&a=2#part": "https://acme.dev/docs?a=1&b=%20x&a=2&" + all + "&" + via + "&vt=*#part",
		"https://acme.dev/?a=1&#/route?x=1":         "https://acme.dev/?a=1&" + all + "&" + via + "&vt=*#/route?x=1",
		"https://acme.dev/?utm_source=news":         "https://acme.dev/?utm_source=news&" + via + "&vt=*",
		"https://acme.dev/?UTM%5Fterm=x":            "https://acme.dev/?UTM%5Fterm=x&" + via + "&vt=*",
		"https://acme.dev/?via=llms-txt":            "https://acme.dev/?via=llms-txt&" + all + "&vt=*",
		"https://acme.dev/watch?vt=90":              "https://acme.dev/watch?vt=90&" + all + "&" + via,
		"https://acme.dev:8443/%7Ea/ü?q":            "https://acme.dev:8443/%7Ea/ü?q&" + all + "&" + via + "&vt=*",
		"https://acme.dev/?via=x&vt=1&utm_x=1":      "https://acme.dev/?via=x&vt=1&utm_x=1",
	}
	var catalogue []string
	for raw := range examples {
		catalogue = append(catalogue, raw)
	}
	links, err := NewLinks(s, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range examples {
		got, ours := links.Decorate(raw, marks, 5, t0)
		before, after, _ := strings.Cut(want, "*")
		if !ours || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Errorf("%s: %s, not %s", raw, got, want)
			continue
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if !strings.Contains(want, "*") {
			continue
		}
		if l, err := s.Check(u.Query().Get("vt"), u.Host, u.EscapedPath(), t0); err != nil || l.ID != 5 {
			t.Errorf("%s: %+v, %v", got, l, err)
		}
	}
	for _, raw := range []string{"https://evil.example/", "https://acme.dev/other", "javascript:alert(1)", ""} {
		if got, ours := links.Decorate(raw, marks, 5, t0); ours || got != raw {
			t.Errorf("%s became %s", raw, got)
		}
	}
	bare, _ := links.Decorate("https://acme.dev", Marks{}, 5, t0)
	if strings.Contains(bare, "utm") || strings.Contains(bare, "via") {
		t.Error(bare)
	}
	odd, _ := links.Decorate("https://acme.dev", Marks{Via: "a&b=c #"}, 5, t0)
	if !strings.Contains(odd, "?via=a%26b%3Dc+%23&vt=") {
		t.Error(odd)
	}
}

func TestCatalogueLinks(t *testing.T) {
	for _, raw := range []string{"ftp://acme.dev/", "javascript:alert(1)", "/docs", "//acme.dev/", "https:///x", "https://u:p@acme.dev/", "https://a b/", ""} {
		_, err := NewLinks(signer(t), []string{raw})
		if err == nil {
			t.Errorf("%q is taken", raw)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Errorf("a password is told: %v", err)
		}
	}
}
