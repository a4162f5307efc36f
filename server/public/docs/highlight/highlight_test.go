package highlight_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/docs/highlight"
)

func TestTokensAreMarked(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"json", `{"rank": 1, "ok": true, "tool": "Flask"}`, `{<span class="ht">&#34;rank&#34;</span>: <span class="hn">1</span>`},
		{"yaml", "category: payments # a slug\n", `<span class="hc"># a slug`},
		{"yaml", "category: payments # a slug\n", `<span class="ht">category</span>`},
		{"sh", "firstpick demo # a study\n", `<span class="hc"># a study`},
		{"js", "const a = 'x';", `<span class="hk">const</span>`},
		{"python", "def f(): pass", `<span class="hk">def</span>`},
		{"ruby", "def f; end", `<span class="hk">def</span>`},
		{"php", "return 1;", `<span class="hk">return</span>`},
		{"nginx", "location / { # x\n}", `<span class="hk">location</span>`},
		{"toml", "a = \"b\"", `<span class="hs">&#34;b&#34;</span>`},
		{"ini", "[Unit]\nA=b\n", `<span class="hk">[Unit]</span>`},
		{"apache", "# x\nListen 80\n", `<span class="hc"># x</span>`},
		{"ts", "const a: string = `x`", `<span class="hk">const</span>`},
		{"text", "<b> & 'c'", "&lt;b&gt; &amp; &#39;c&#39;"},
		{"", "a", "a"},
	} {
		if got := highlight.HTML(c.language, c.code); !strings.Contains(got, c.want) {
			t.Errorf("%s %q gives %s, want %s in it", c.language, c.code, got, c.want)
		}
	}
}

// FuzzHTML: whatever the code, its text is kept and only spans with our classes are added.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{"a: &x [1]\r\n", "</code><script>", "'\"`\\\n", "\x00\xff", "if [ -f x ]; then\n", "<?php ?>\n\n"} {
		for _, l := range []string{"sh", "json", "yaml", "js", "ts", "python", "ruby", "php", "nginx", "toml", "apache", "ini", "text", "../x"} {
			f.Add(l, s)
		}
	}
	span := regexp.MustCompile(`<span class="h[a-z]">|</span>`)
	f.Fuzz(func(t *testing.T, language, code string) {
		got := span.ReplaceAllString(highlight.HTML(language, code), "")
		if strings.ContainsAny(got, "<>") || html.UnescapeString(got) != html.UnescapeString(html.EscapeString(code)) {
			t.Errorf("%s %q becomes %s", language, code, got)
		}
	})
}
