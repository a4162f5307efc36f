package attribution

import (
	"strings"
	"testing"
)

func TestPossible(t *testing.T) {
	end := "\npaid 0 v1 1 USD o1"
	work(t, map[string]worked{
		"a fetch, then a person on that page": {story: `
			fetch -40m ChatGPT /docs/start
			view -12m v1 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"its Markdown form was fetched": {story: `
			fetch -40m ChatGPT /docs/start.md
			view -12m v1 /docs/start/` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"thirty minutes": {story: `
			fetch -40m ChatGPT /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"longer": {story: `
			fetch -40m1u ChatGPT /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"the person came first": {story: `
			fetch -9m ChatGPT /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"another page": {story: `
			fetch -20m ChatGPT /docs/end
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"a page that people know by heart": {story: `
			fetch -20m ChatGPT /pricing
			view -10m v1 /pricing` + end,
			want: `o1: nobody 1 1`},
		"with a referrer": {story: `
			fetch -20m ChatGPT /docs/start
			view -10m v1 /docs/start news.example` + end,
			want: `o1: nobody 1 1`},
		"somebody else before": {story: `
			fetch -20m ChatGPT /docs/start
			view -39m v2 /docs/start news.example
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"somebody else after": {story: `
			fetch -40m ChatGPT /docs/start
			view -30m v1 /docs/start
			view -10m - /docs/start` + end,
			want: `o1: nobody 1 1`},
		"somebody else long after": {story: `
			fetch -40m ChatGPT /docs/start
			view -30m v1 /docs/start
			view -9m v2 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"the same person again": {story: `
			fetch -40m ChatGPT /docs/start
			view -30m v1 /docs/start
			view -20m v1 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"the person knew the page already": {story: `
			fetch -20m ChatGPT /docs/start
			view -30m v1 /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"two assistants": {story: `
			fetch -20m ChatGPT /docs/start
			fetch -30m Claude /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1`},
		"two assistants, one of them earlier": {story: `
			fetch -20m ChatGPT /docs/start
			fetch -21m ChatGPT /docs/start
			fetch -41m Claude /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"not where there is evidence": {story: `
			fetch -20m ChatGPT /docs/start
			view -10m v1 /docs/start
			touch -5m v1 Claude declared` + end,
			want: `o1: Claude 1 1 declared`},
		"on another device": {story: `
			fetch -20m ChatGPT /docs/start
			view -10m v2 /docs/start
			bind -9m v2/ann
			paid 0 ann 1 USD o1`,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"the first of two": {story: `
			fetch -20m ChatGPT /docs/start
			view -10m v1 /docs/start
			fetch -9m Claude /docs/end
			view -8m v1 /docs/end` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
		"or the last": {options: Options{Model: Last}, story: `
			fetch -20m ChatGPT /docs/start
			view -10m v1 /docs/start
			fetch -9m Claude /docs/end
			view -8m v1 /docs/end` + end,
			want: `o1: nobody 1 1 possible Claude`},
		"beside people, if they compete": {options: Options{IncludeNonAgent: true}, story: `
			fetch -20m ChatGPT /docs/start
			view -10m v1 /docs/start` + end,
			want: `o1: nobody 1 1 possible ChatGPT`},
	})
}

func TestDeepPath(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/": "", "/pricing": "", "/pricing/": "", "//": "", "/index.md": "", "//pricing": "",
		"/docs/start": "/docs/start", "/docs/start/": "/docs/start", "/docs/start.md": "/docs/start", "/a/b/c": "/a/b/c",
	} {
		got, deep := deepPath(path)
		if deep != (want != "") || deep && got != want {
			t.Errorf("%s: %s, %v", path, got, deep)
		}
	}
}

// Inferring does not slow down where one visitor, or everybody, is on one page.
func TestInferOnACrowdedPage(t *testing.T) {
	var b strings.Builder
	for range 20000 {
		b.WriteString("view -10m v1 /docs/start\nfetch -10m ChatGPT /docs/start\n")
	}
	if n := len(infer(tell(t, b.String()).touches)); n != 1 {
		t.Errorf("%d inferences", n)
	}
}
