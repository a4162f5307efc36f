package agentcollect

import (
	"net/url"
	"strings"
)

// A Visit is the part of a request that indicates an agent.
type Visit struct {
	UserAgent      string
	Accept         string
	Referrer       string // the whole URL, or host and path
	SignatureAgent string // the header of Web Bot Auth
	Tagged         bool   // the address has a link tag: see [Tagged]
}

// MayBeAgent reports whether to send the visit: its User-Agent is not a browser's, it
// accepts markdown, it is signed, or an assistant may have referred it. It errs on the
// side of true, since the service has the better lists. A browser without such a
// referral is a person.
func (v Visit) MayBeAgent() bool {
	return v.Tagged || v.SignatureAgent != "" || !person(v.UserAgent) || asksMarkdown(v.Accept) || fromAssistant(v.Referrer)
}

// person reports whether a User-Agent is a browser's without a sign of automation. An
// empty one is not a browser's.
func person(userAgent string) bool {
	ua := strings.ToLower(userAgent)
	if !strings.HasPrefix(ua, "mozilla/") && !strings.HasPrefix(ua, "opera/") {
		return false
	}
	if _, name, found := strings.Cut(ua, "compatible; "); found && !strings.HasPrefix(name, "msie ") && !strings.HasPrefix(name, "konqueror/") {
		return false
	}
	ua = strings.ReplaceAll(ua, "cubot", "") // makes telephones
	for _, word := range [...]string{
		"bot", "crawl", "spider", "slurp", "scrap", "fetch", "agent", "-user", "preview", "headless", "http://", "https://",
		"gemini", "copilot", "notebooklm", "google-", "meta-external", "facebookexternal",
		"novaact", "buyforme", "manus", "browserbase", "lightpanda", "anchor browser", "tabstack",
		"puppeteer", "playwright", "selenium", "cursor/", "devin", "windsurf", "opencode", "trae/", "chatgpt/", "genspark", ") code/1.", "code-insiders/",
	} {
		if strings.Contains(ua, word) {
			return false
		}
	}
	return true
}

// asksMarkdown reports whether an Accept header names markdown. Coding agents do;
// browsers never.
func asksMarkdown(accept string) bool {
	accept = strings.ToLower(accept)
	return strings.Contains(accept, "text/markdown") || strings.Contains(accept, "text/x-markdown")
}

// Tagged reports whether a query string has a tag that names the referrer: via,
// utm_source or vt.
func Tagged(query string) bool {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "via", "utm_source", "vt":
			if value != "" {
				return true
			}
		}
	}
	return false
}

// fromAssistant reports whether a referrer is a page of an assistant.
func fromAssistant(referrer string) bool {
	if referrer == "" {
		return false
	}
	_, rest, found := strings.Cut(referrer, "://")
	if !found {
		rest = referrer
	}
	host, path := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, path = rest[:end], rest[end:]
	}
	host, _, _ = strings.Cut(host, ":")
	switch strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(host), "."), "www.") {
	case "chatgpt.com", "chat.openai.com", "labs.openai.com", "chat-gpt.org", "chatplus.com", "claude.ai", "perplexity.ai",
		"gemini.google.com", "bard.google.com", "notebooklm.google.com", "aistudio.google.com", "copilot.com", "copilot.microsoft.com",
		"grok.com", "chat.deepseek.com", "chat.mistral.ai", "lechat.mistral.ai", "meta.ai", "l.meta.ai", "you.com", "duck.ai",
		"chat.qwen.ai", "tongyi.aliyun.com", "kimi.com", "kimi.ai", "kimi.moonshot.cn", "ai.baidu.com", "yiyan.baidu.com", "chatglm.cn",
		"doubao.com", "iask.ai", "phind.com", "assistant.kagi.com", "character.ai", "app.writesonic.com", "app.jasper.ai", "poe.com",
		"manus.im", "andisearch.com", "liner.com", "com.openai.chatgpt":
		return true
	case "kagi.com":
		return strings.HasPrefix(path, "/assistant")
	case "search.brave.com":
		return strings.HasPrefix(path, "/ask")
	case "x.com":
		return strings.HasPrefix(path, "/i/grok")
	}
	return false
}

// Page reports whether a request may be for something that an agent reads: GET or HEAD,
// and not a style sheet, script, picture, font or similar asset. Files written for
// agents count under any name. The service applies the same rule.
func Page(method, path string) bool {
	if method != "GET" && method != "HEAD" {
		return false
	}
	path = strings.ToLower(path)
	if strings.HasPrefix(path, "/.well-known/") {
		return true
	}
	for _, prefix := range [...]string{"/_next/", "/_vercel/", "/cdn-cgi/", "/_nuxt/", "/_app/"} {
		if strings.HasPrefix(path, prefix) {
			return false
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot < 0 || strings.HasPrefix(name, "openapi.") || !asset(name[dot+1:])
}

func asset(extension string) bool {
	switch extension {
	case "css", "js", "mjs", "cjs", "map", "wasm", "webmanifest",
		"png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "tif", "tiff", "heic",
		"woff", "woff2", "ttf", "otf", "eot",
		"mp3", "mp4", "m4a", "m4v", "webm", "ogg", "oga", "ogv", "wav", "mov", "avi", "m3u8", "ts",
		"zip", "gz", "tgz", "bz2", "xz", "br", "7z", "rar", "tar", "dmg", "exe", "msi", "deb", "rpm", "pkg", "iso":
		return true
	}
	return false
}

// tags takes the link tags out of a query string, and nothing else of it.
func (s *Signals) tags(query string) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		to := s.tag(name)
		if to == nil || *to != "" {
			continue
		}
		if text, err := url.QueryUnescape(value); err == nil {
			*to = cut(text, maxTag)
		}
	}
}

func (s *Signals) tag(name string) *string {
	switch name {
	case "via":
		return &s.Via
	case "utm_source":
		return &s.UTMSource
	case "utm_medium":
		return &s.UTMMedium
	case "utm_campaign":
		return &s.UTMCampaign
	case "ref":
		return &s.Ref
	case "vt":
		return &s.VT
	}
	return nil
}
