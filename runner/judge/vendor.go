package judge

import (
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider"
)

// families returns the beginnings of model names by vendor.
func families() map[string]string {
	return map[string]string{
		"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "codex": "openai", "openai": "openai",
		"claude": "anthropic", "anthropic": "anthropic",
		"gemini": "google", "gemma": "google", "google": "google",
		"llama": "meta", "meta": "meta", "muse": "meta",
		"mistral": "mistral", "mixtral": "mistral", "codestral": "mistral", "devstral": "mistral", "ministral": "mistral", "magistral": "mistral", "mistralai": "mistral",
		"qwen": "alibaba", "qwq": "alibaba", "alibaba": "alibaba",
		"deepseek": "deepseek", "grok": "xai", "xai": "xai", "x": "xai", "command": "cohere", "cohere": "cohere", "phi": "microsoft", "microsoft": "microsoft",
		"glm": "zhipu", "zai": "zhipu", "z": "zhipu", "kimi": "moonshot", "moonshot": "moonshot", "moonshotai": "moonshot",
		"nova": "amazon", "amazon": "amazon", "granite": "ibm", "ibm": "ibm", "nemotron": "nvidia", "nvidia": "nvidia", "minimax": "minimax", "olmo": "allenai", "allenai": "allenai",
	}
}

// VendorOf returns the maker of an agent's model, not its seller: by the name of the model,
// by that before its slash, or else the host that serves it.
func VendorOf(a eval.Agent) string {
	known := families()
	for _, part := range strings.FieldsFunc(strings.ToLower(a.Model), func(r rune) bool { return r == '/' || r == '.' || r == ':' }) {
		word, _, _ := strings.Cut(part, "-")
		if v := known[word]; v != "" {
			return v
		}
		if v := known[strings.TrimRight(word, "0123456789")]; v != "" {
			return v
		}
	}
	if u, err := url.Parse(provider.BaseURL(a)); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return a.Kind
}
