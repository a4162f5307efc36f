package agentid_test

import (
	"os"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/agentid"
)

// What agents, bots and people send, in the form in which it was seen.
func TestNames(t *testing.T) {
	const none = ""
	table := agentid.Load()
	for _, tc := range []struct {
		what, ua, name, family, operator string
		class                            agentid.Class
	}{
		// Coding agents.
		{"Codex in a terminal", "codex-tui/0.135.0 (Mac OS 26.3.1; arm64) iTerm.app/3.6.9 (codex-tui; 0.135.0)", "Codex", "Codex", "OpenAI", agentid.CodingAgent},
		{"Codex without a terminal", "codex_exec/0.138.0 (Ubuntu 24.4.0; x86_64) unknown (codex_exec; 0.138.0)", "Codex", "Codex", "OpenAI", agentid.CodingAgent},
		{"Codex in its app", "Codex Desktop/0.138.0 (Mac OS 26.3.1; arm64)", "Codex", "Codex", "OpenAI", agentid.CodingAgent},
		{"Claude Code towards an API", "claude-cli/2.1.220 (external, cli)", "Claude Code", "Claude Code", "Anthropic", agentid.CodingAgent},
		{"Claude Code fetching a page", "Claude-User (claude-code/2.1.85; +https://support.anthropic.com/)", "Claude Code", "Claude Code", "Anthropic", agentid.CodingAgent},
		{"Crush", "crush/1.0", "Crush", "Crush", "Charm", agentid.CodingAgent},
		{"Cline's extension", "Cline/3.50.0", "Cline", "Cline", "Cline", agentid.CodingAgent},
		{"Cline's link previews", "Mozilla/5.0 (compatible; VSCodeExtension/1.0; +https://cline.bot)", "Cline", "Cline", "Cline", agentid.CodingAgent},
		{"Cline's fetch tool", "Mozilla/5.0 (compatible; AgentBot/1.0)", "Cline", "Cline", "Cline", agentid.CodingAgent},
		{"Mistral's CLI fetching a page", "vibe-cli", "Vibe CLI", "Vibe CLI", "Mistral", agentid.CodingAgent},
		{"Mistral's CLI towards an API", "Mistral-Vibe/2.26.1", "Vibe CLI", "Vibe CLI", "Mistral", agentid.CodingAgent},
		{"Moonshot's CLI", "KimiCLI/1.30.0", "Kimi CLI", "Kimi CLI", "Moonshot", agentid.CodingAgent},
		{"OpenCode where it was refused as a browser", "opencode", "OpenCode", "OpenCode", "OpenCode", agentid.CodingAgent},
		{"Kilo Code", "Kilo-Code/4.120.0", "Kilo Code", "Kilo Code", "Kilo", agentid.CodingAgent},
		{"VS Code", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.104.1 Chrome/138.0.7204.235 Electron/37.3.1 Safari/537.36", "VS Code", "VS Code", "Microsoft", agentid.CodingAgent},
		{"VS Code Insiders", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Code-Insiders/1.105.0-insider Chrome/138.0.7204.235 Electron/37.3.1 Safari/537.36", "VS Code", "VS Code", "Microsoft", agentid.CodingAgent},
		// Assistants and what fetches for them.
		{"ChatGPT's app on Windows", "ChatGPT/1.2025.202 (Windows_NT 10.0.22631; x86_64; build ) Electron/37.2.1 Chrome/138.0.7204.97", "ChatGPT app", "ChatGPT", "OpenAI", agentid.UserFetch},
		{"ChatGPT's app on a phone", "ChatGPT/1.2025.098 (Android 14; SM-S918U1; build 2509815)", "ChatGPT app", "ChatGPT", "OpenAI", agentid.UserFetch},
		{"Mistral's assistant, called Vibe by its maker", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MistralAI-User/1.0; +https://docs.mistral.ai/robots)", "MistralAI-User", "Vibe", "Mistral", agentid.UserFetch},
		{"Anthropic's evaluation of search", "AnthropicSearchEval/1.0", "AnthropicSearchEval", "AnthropicSearchEval", "Anthropic", agentid.SearchIndex},
		{"Open WebUI", "Open WebUI (https://github.com/open-webui/open-webui) RAG Bot", "Open WebUI", "Open WebUI", "Open WebUI", agentid.UserFetch},
		{"LangChain by default", "DefaultLangchainUserAgent", "LangChain", "LangChain", "LangChain", agentid.DataProvider},
		{"xAI", "Mozilla/5.0 (compatible; xAI-Bot/1.0; +https://x.ai)", "xAI-Bot", none, "xAI", agentid.UnknownBot},
		{"ProRata", "Mozilla/5.0 (compatible; ProRataInc/1.0; +https://prorata.ai)", "ProRataInc", "ProRataInc", "ProRata.ai", agentid.SearchIndex},
		{"Crawlspace", "Mozilla/5.0 (compatible; Crawlspace/1.0; +https://crawlspace.dev)", "Crawlspace", "Crawlspace", "Crawlspace", agentid.DataProvider},
		{"Spider's library", "spider/2.37.0", "Spider", "Spider", "Spider", agentid.DataProvider},
		{"Spider's cloud", "Spider", "Spider", "Spider", "Spider", agentid.DataProvider},
		{"Kernel's browsers", "KernelSearchBot", "Kernel", "Kernel", "Kernel", agentid.AgenticBrowser},
		{"Genspark's browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Genspark/1.0", "Genspark", "Genspark", "Genspark", agentid.AgenticBrowser},
		{"Cloudflare Browser Run", "Mozilla/5.0 (compatible; CloudflareBrowserRenderingCrawler/1.0)", "Cloudflare Browser Run", "Cloudflare Browser Run", "Cloudflare", agentid.DataProvider},
		{"Exa", "Mozilla/5.0 (compatible; ExaBot/1.0; +https://exa.ai)", "ExaBot (Exa)", "ExaBot", "Exa", agentid.DataProvider},
		// Bots that are no AI agents.
		{"Exalead, not Exa", "Mozilla/5.0 (compatible; Exabot/3.0; +http://www.exabot.com/go/robot)", "Exabot", "Exabot", "Exalead", agentid.SearchEngine},
		{"Exalead by its library", "Mozilla/5.0 (compatible; Exabot PyExalead/3.0; +http://www.exabot.com/go/robot)", "Exabot", "Exabot", "Exalead", agentid.SearchEngine},
		{"Alexa's ranking, not Exa", "Mozilla/5.0 (compatible; Alexabot/1.0; +http://www.alexa.com/help/certifyscan; certifyscan@alexa.com)", "Alexabot", none, "Amazon", agentid.UnknownBot},
		{"Awario", "AwarioSmartBot/1.0 (+https://awario.com/bots.html; bots@awario.com)", "Awario", none, "Awario", agentid.UnknownBot},
		{"Awario's feeds", "AwarioRssBot/1.0 (+https://awario.com/bots.html; bots@awario.com)", "Awario", none, "Awario", agentid.UnknownBot},
		{"Semantic Visions", "Mozilla/5.0 (Linux; CentOS; compatible; semantic-visions-discovery; HTTPClient 4.5)", "Semantic Visions", none, "Semantic Visions", agentid.UnknownBot},
		{"Linguee", "Linguee Bot (http://www.linguee.com/bot; bot@linguee.com)", "Linguee Bot", none, "Linguee", agentid.UnknownBot},
		{"Echobox", "Mozilla/5.0 (compatible; EchoboxBot/1.0; hash/w4mwnpbXf3MFAbxOkJRw; +http://www.echobox.com)", "EchoboxBot", none, "Echobox", agentid.UnknownBot},
		{"ISS", "Mozilla/5.0 (Macintosh; Intel Mac OS X 13_0_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/107.0.0.0 Safari/537.36 ISSCyberRiskCrawler/1.1.4", "ISSCyberRiskCrawler", none, "ISS", agentid.UnknownBot},
		{"FactSet", "Mozilla/5.0(windows NT 10.0; Win64; x64) AppleWebkit/537.36(KHTML, like Gecko)  Chrome/90.0.4430.72  Safari/537.36 factset_spyderbot", "factset_spyderbot", none, "FactSet", agentid.UnknownBot},
		{"Sidetrade", "Sidetrade indexer bot", "Sidetrade indexer bot", none, "Sidetrade", agentid.UnknownBot},
		{"BuddyBot", "BuddyBot", "BuddyBot", none, "BuddyBot", agentid.UnknownBot},
		{"WARDBot", "Mozilla/5.0 (compatible; WARDBot/1.0; http://ward.ai/robot)", "WARDBot", none, "WEBSPARK", agentid.UnknownBot},
		{"AddSearch", "Mozilla/5.0 (compatible; AddSearchBot/0.9; +http://www.addsearch.com/bot; info@addsearch.com)", "AddSearchBot", none, "AddSearch", agentid.UnknownBot},
		{"a chat widget's bot", "wpbot/1.4; (+https://forms.gle/ajBaxygz9jSR8p8G9)", "wpbot", none, "QuantumCloud", agentid.UnknownBot},
		{"SentiBot, not Googlebot", "SentiBot www.sentibot.eu (compatible with Googlebot)", "SentiBot", none, "SentiOne", agentid.UnknownBot},
		// Previews that borrow Meta's name.
		{"iMessage", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0", "iMessage preview", none, "Apple", agentid.LinkPreview},
		{"KakaoTalk", "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984", "KakaoTalk preview", none, "Kakao", agentid.LinkPreview},
		{"LINE", "facebookexternalhit/1.1;line-poker/1.0", "LINE preview", none, "LINE", agentid.LinkPreview},
		{"Telegram", "TelegramBot (like TwitterBot)", "TelegramBot", none, "Telegram", agentid.LinkPreview},
		{"Meta itself", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "facebookexternalhit", none, "Meta", agentid.LinkPreview},
		// Scanners.
		{"ffuf", "Fuzz Faster U Fool v2.1.0-dev", "ffuf", none, none, agentid.ScannerProbe},
		{"Palo Alto Networks", "Hello from Palo Alto Networks, find out more about our scans in https://docs-cortex.paloaltonetworks.com/r/1/Cortex-Xpanse/Scanning-activity", "Expanse", none, "Palo Alto Networks", agentid.ScannerProbe},
		// Names that look alike.
		{"a barcode reader", "QRCode/1.4 CFNetwork/1490.0.4 Darwin/23.2.0", "CFNetwork", none, none, agentid.HTTPLibrary},
		{"Xcode", "Xcode/16.2 CFNetwork/1568.300.101 Darwin/24.2.0", "CFNetwork", none, none, agentid.HTTPLibrary},
	} {
		got := table.Identify(tc.ua)
		if got.Name != tc.name || got.Family != tc.family || got.Operator != tc.operator || got.Class != tc.class {
			t.Errorf("%s: %q is %q of %q by %q (%s), want %q of %q by %q (%s); token %q", tc.what, tc.ua,
				got.Name, got.Family, got.Operator, got.Class, tc.name, tc.family, tc.operator, tc.class, got.Token)
		}
	}
}

// The build of Android 15 that a public list takes for a scanner is that of
// OPPO's, OnePlus's and realme's phones.
func TestPeoplesPhonesAreNoScanners(t *testing.T) {
	table := agentid.Load()
	for _, ua := range []string{
		"Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.7444.142 Mobile Safari/537.36 Instagram 406.0.0.58.159 Android (35/15; 480dpi; 1080x2400; OPPO; CPH2557; OP573DL1; mt6833; en_MY; 822918295; IABMV/1)",
		"Mozilla/5.0 (Linux; Android 15; CPH2665 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 15; CPH2581 Build/AP3A.240617.008; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.7339.207 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/532.0.0.55.71;]",
		"Mozilla/5.0 (Linux; Android 15; RMX3840 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.7444.48 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; U; Android 15; en-in; CPH2467 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/135.0.0.0 Mobile Safari/537.36 HeyTapBrowser/45.13.0.1",
	} {
		if got := table.Identify(ua); got.Class != agentid.Browser {
			t.Errorf("%s is a %s by %s %q", ua, got.Class, got.Source, got.Token)
		}
	}
	raw, err := os.ReadFile("data/patterns.tsv")
	if err != nil || strings.Contains(string(raw), "AP3A.") {
		t.Errorf("the table of patterns has a build of Android: %v", err)
	}
}
