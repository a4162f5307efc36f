package agentid_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/agentid"
)

func TestEveryRowOfOursIsFoundByItsSample(t *testing.T) {
	table := agentid.Load()
	for _, want := range table.All() {
		if want.Source != agentid.Ours {
			continue
		}
		if want.Sample == "" {
			t.Errorf("%s has no sample", want.Token)
		}
		got := table.Identify(want.Sample)
		if got.Name != want.Name || got.Class != want.Class || got.Fake != want.Fake {
			t.Errorf("%s is %s (%s), want %s (%s)", want.Sample, got.Name, got.Class, want.Name, want.Class)
		}
		if !slices.Contains([]agentid.Blocking{"", agentid.LosesAnswers, agentid.LosesTraining, agentid.MayBeIgnored, agentid.LosesPreviews, agentid.LosesAds}, want.Blocking) {
			t.Errorf("%s: blocking %q", want.Name, want.Blocking)
		}
		if want.Class.Headline() && want.Family == "" {
			t.Errorf("%s has no family", want.Name)
		}
		if want.Token != strings.ToLower(want.Token) {
			t.Errorf("%s is not lower-cased", want.Token)
		}
	}
}

func TestNoTokenStandsTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range agentid.Load().All() {
		if seen[a.Token] {
			t.Errorf("%s stands twice", a.Token)
		}
		seen[a.Token] = true
	}
}

func TestBrowsersAreNoAgents(t *testing.T) {
	raw, err := os.ReadFile("testdata/browsers.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := agentid.Load()
	n := 0
	for ua := range strings.Lines(string(raw)) {
		n++
		got := table.Identify(strings.TrimSpace(ua))
		if got.Class != agentid.Browser || got.Name != "" || got.Family != "" {
			t.Errorf("%s is %s (%s) by %s %q", strings.TrimSpace(ua), got.Name, got.Class, got.Source, got.Token)
		}
	}
	if n < 200 {
		t.Errorf("%d browsers, want 200", n)
	}
}

func TestIdentify(t *testing.T) {
	for _, tc := range []struct {
		ua, name, family string
		class            agentid.Class
	}{
		{"", "", "", agentid.None},
		{"-", "", "", agentid.None},
		{"Mozilla/5.0 (compatible; SomethingBot/1.0; +https://example.com/bot)", "", "", agentid.UnknownBot},
		{"my-fetcher/1.0", "", "", agentid.HTTPLibrary},
		{"glab/v1.80.0 (linux, amd64) Coding-Agent/claude-code", "Claude Code", "Claude Code", agentid.CodingAgent},
		{"databricks-sdk-py/0.70 python/3.12 agent/cursor", "Cursor", "Cursor", agentid.CodingAgent},
		{"databricks-sdk-py/0.70 python/3.12 agent/brand-new", "brand-new", "brand-new", agentid.CodingAgent},
		{"python-requests/2.32 agent/cursor", "Cursor", "Cursor", agentid.CodingAgent},
		{"Mozilla/5.0 (Linux; Android 14) Agent/AmazonBuyForMe", "Amazon Buy For Me", "Amazon Buy For Me", agentid.AgenticBrowser},
		{"Mozilla/5.0 useragent/5", "", "", agentid.Browser},
		{"something agent/5.0", "", "", agentid.HTTPLibrary},
		{"GoogleOther-Image/1.0", "GoogleOther", "GoogleOther", agentid.TrainingCrawler},
		{"Googlebot-Image/1.0", "Googlebot", "Googlebot", agentid.SearchEngine},
		{"Google Chrome is here", "", "", agentid.HTTPLibrary},
		{"Claude-User (claude-code/2.1.4; +https://support.anthropic.com/)", "Claude Code", "Claude Code", agentid.CodingAgent},
		{"XGPTBot/1.0", "GPTBot", "GPTBot", agentid.TrainingCrawler},
		{"Mozilla/5.0 (compatible; Screaming Frog SEO Spider/19.0)", "Screaming Frog SEO Spider", "", agentid.UnknownBot},
		{"nuclei agent/" + strings.Repeat("x", 100), "Nuclei", "", agentid.ScannerProbe},
		{"İİİİ agent/cursor", "Cursor", "Cursor", agentid.CodingAgent},
	} {
		got := agentid.Load().Identify(tc.ua)
		if got.Name != tc.name || got.Family != tc.family || got.Class != tc.class {
			t.Errorf("%q is %q of family %q (%s), want %q of %q (%s); token %q", tc.ua, got.Name, got.Family, got.Class, tc.name, tc.family, tc.class, got.Token)
		}
	}
}

func TestFamilies(t *testing.T) {
	table := agentid.Load()
	for _, tc := range []struct{ name, family string }{
		{"ChatGPT-User", "ChatGPT"}, {"ChatGPT agent", "ChatGPT"}, {"Claude-User", "Claude"},
		{"ClaudeBot", "ClaudeBot"}, {"GPTBot", "GPTBot"}, {"Perplexity-User", "Perplexity"},
	} {
		if a, ok := table.Named(tc.name); !ok || a.Family != tc.family {
			t.Errorf("%s is of family %q, want %q", tc.name, a.Family, tc.family)
		}
	}
}

func TestPolicyWordsAreFake(t *testing.T) {
	table := agentid.Load()
	for _, name := range []string{"Google-Extended", "Applebot-Extended", "Webzio-Extended"} {
		if a := table.Identify("Mozilla/5.0 (compatible; " + name + "/1.0)"); !a.Fake || a.Name != name {
			t.Errorf("%s is %+v", name, a)
		}
	}
}

func TestReferrer(t *testing.T) {
	table := agentid.Load()
	for _, tc := range []struct{ host, path, family string }{
		{"chatgpt.com", "/", "ChatGPT"}, {"CHATGPT.com", "", "ChatGPT"}, {"www.perplexity.ai", "/search/x", "Perplexity"},
		{"claude.ai", "", "Claude"}, {"gemini.google.com", "/app", "Gemini"}, {"x.com", "/i/grok", "Grok"}, {"x.com", "/someone", ""},
		{"x.com", "/i/grokking", ""}, {"kagi.com", "/search", ""}, {"kagi.com", "/assistant/1", "Kagi"}, {"www.google.com", "/", ""},
		{"evil-chatgpt.com", "/", ""}, {"chatgpt.com:443", "/", "ChatGPT"}, {"duck.ai", "/", "Duck.ai"}, {"", "", ""},
	} {
		got, ok := table.Referrer(tc.host, tc.path)
		if got != tc.family || ok != (tc.family != "") {
			t.Errorf("%s%s is of %q, want %q", tc.host, tc.path, got, tc.family)
		}
	}
}

func TestUTMSource(t *testing.T) {
	table := agentid.Load()
	for source, family := range map[string]string{
		"chatgpt.com": "ChatGPT", "ChatGPT.com ": "ChatGPT", "openai": "ChatGPT", "perplexity": "Perplexity", "copilot.com": "Copilot",
		"claude.ai": "Claude", "gemini": "Gemini", "chat.deepseek.com": "DeepSeek", "newsletter": "", "": "", "google": "",
	} {
		if got, ok := table.UTMSource(source); got != family || ok != (family != "") {
			t.Errorf("%q is of %q, want %q", source, got, family)
		}
	}
}

// A referrer and a tag name a family that an agent has too, wherever the
// assistant has an agent of its own.
func TestReferrersNameFamilies(t *testing.T) {
	table := agentid.Load()
	families := map[string]bool{}
	for _, a := range table.All() {
		families[a.Family] = true
	}
	for _, host := range []string{"chatgpt.com", "claude.ai", "perplexity.ai", "gemini.google.com", "chat.mistral.ai", "duck.ai", "meta.ai", "kimi.com", "yiyan.baidu.com", "chat.qwen.ai", "notebooklm.google.com"} {
		if family, _ := table.Referrer(host, "/"); !families[family] {
			t.Errorf("%s is of %q, a family without an agent", host, family)
		}
	}
}

func TestMCPClient(t *testing.T) {
	table := agentid.Load()
	for _, tc := range []struct {
		name, agent string
		class       agentid.Class
	}{
		{"claude-code", "Claude Code", agentid.CodingAgent}, {"Claude-AI", "Claude", agentid.UserFetch},
		{"cursor-vscode", "Cursor", agentid.CodingAgent}, {"cursor (via mcp-remote 0.1.16)", "Cursor", agentid.CodingAgent},
		{"Visual Studio Code", "GitHub Copilot", agentid.CodingAgent}, {"codex-mcp-client", "Codex", agentid.CodingAgent},
		{"my own client", "my own client", agentid.UnknownBot}, {"", "", agentid.None}, {"Trae", "Trae", agentid.CodingAgent},
	} {
		if got := table.MCPClient(tc.name); got.Name != tc.agent || got.Class != tc.class {
			t.Errorf("%q is %q (%s), want %q (%s)", tc.name, got.Name, got.Class, tc.agent, tc.class)
		}
	}
}

func TestProbe(t *testing.T) {
	table := agentid.Load()
	for path, want := range map[string]bool{
		"/wp-login.php": true, "/.env": true, "/.env.local": true, "/api/.env": true, "/.git/config": true, "/PHPMyAdmin/index.php": true,
		"/blog/wp-login.php?x=1": true, "/a/../../etc/passwd": true, "/cgi-bin/luci": true, "/vendor/phpunit/x": true,
		"/": false, "/docs": false, "/environment": false, "/docs/.environment": false, "/index.php": false, "/login": false, "/.well-known/jwks.json": false,
		"/llms.txt": false, "/robots.txt": false, "": false, "/blog/how-to-read-a-.env-file": false,
	} {
		if got := table.Probe(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestClasses(t *testing.T) {
	headline := 0
	for _, c := range agentid.Classes() {
		if !c.Valid() {
			t.Errorf("%s is no class", c)
		}
		if c.Headline() {
			headline++
		}
	}
	if headline != 6 || len(agentid.Classes()) != 15 {
		t.Errorf("%d classes, %d of the headline", len(agentid.Classes()), headline)
	}
}

func TestCacheForgets(t *testing.T) {
	table := agentid.Load()
	for i := range 20_000 {
		if a := table.Identify("GPTBot/" + strings.Repeat("x", i%900) + string(rune('a'+i%26))); a.Name != "GPTBot" {
			t.Fatal(a)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	table := agentid.Load()
	for _, a := range table.All()[:60] {
		f.Add(a.Sample)
	}
	f.Add("x Coding-Agent/İ agent/")
	f.Fuzz(func(t *testing.T, ua string) {
		a := table.Identify(ua)
		if !a.Class.Valid() {
			t.Errorf("class %q", a.Class)
		}
		if again := table.Identify(ua); again.Name != a.Name || again.Class != a.Class {
			t.Errorf("%q is %s, then %s", ua, a.Name, again.Name)
		}
		if a.Class.Headline() && a.Family == "" {
			t.Errorf("%q is %s without family", ua, a.Class)
		}
		table.Probe(ua)
		table.Referrer(ua, ua)
		table.UTMSource(ua)
		table.MCPClient(ua)
	})
}

func BenchmarkIdentify(b *testing.B) {
	raw, err := os.ReadFile("testdata/browsers.txt")
	if err != nil {
		b.Fatal(err)
	}
	table := agentid.Load()
	mixed := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, a := range table.All() {
		if a.Sample != "" {
			mixed = append(mixed, a.Sample)
		}
	}
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			table.Identify(mixed[i%len(mixed)])
		}
	})
	b.Run("uncached", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			agentid.Fresh(table, mixed[i%len(mixed)])
		}
	})
	b.Run("load", func(b *testing.B) {
		for range b.N {
			agentid.Load()
		}
	})
}
