package main

// classOf returns the class of the first tag of a pattern that has one. SEO crawlers
// are unclassified bots, because no agent sends them.
func classOf(tags []string) string {
	for _, c := range []struct{ tag, class string }{
		{"scanner", "scanner_probe"},
		{"social-preview", "link_preview"},
		{"ai-crawler", "training_crawler"},
		{"advertising", "ads_review"},
		{"http-library", "http_library"},
		{"browser-automation", "http_library"},
		{"monitoring", "monitor"},
		{"search-engine", "search_engine"},
	} {
		for _, tag := range tags {
			if tag == c.tag {
				return c.class
			}
		}
	}
	return "unknown_bot"
}

// skippedPattern names patterns that are left out: words that people's browsers
// and phones may have, and robots.txt words. AP3A.240617.008 is the build of
// Android 15 on phones of OPPO, OnePlus and realme.
func skippedPattern(p string) bool {
	switch p {
	case "AP3A.240617.008":
		return true
	case "Viber", "Fluid", "Sonic", "Fever", "Trove", "Devin", "RED/", "Dlc/", "linko", "ds9", "WSM/", "Google-Extended",
		"Code/1.", "s4a/", "BW/", "008/", "Jetty", "Current", "Spider", "Chirp", "Automaton", "Optimizer)", "Rigor)", "Odin;", "dbot)", "Notion/", "WhatsApp", "MetaIAB Facebook":
		return true
	}
	return false
}

// skippedName reports whether to skip a token of ai.robots.txt: tokens shorter than six
// letters, common words, and tokens that our rows match more precisely.
func skippedName(token string) bool {
	if len(token) < 6 {
		return true
	}
	switch token {
	case "openai", "operator", "spider", "cursor", "opencode", "scrapy", "newsai", "notebooklm", "kangaroo bot", "crawlspace":
		return true
	}
	return false
}

// classOfFunction returns the class of a function in ai.robots.txt. Undocumented bots
// count as crawlers of training data, as in the list.
func classOfFunction(function string) string {
	switch function {
	case "AI Coding Agents":
		return "coding_agent"
	case "AI Agents":
		return "agentic_browser"
	case "AI Assistants":
		return "user_fetch"
	case "AI Search Crawlers", "Collects data for AI search":
		return "search_index"
	case "AI Data Providers", "Data is sold.":
		return "data_provider"
	}
	return "training_crawler"
}

// familyOf returns how we write the name that matomo gives an assistant.
func familyOf(name string) string {
	switch name {
	case "Deepseek":
		return "DeepSeek"
	case "You":
		return "You.com"
	}
	return name
}
