package provider

import (
	"net/http"
	"net/url"

	"github.com/firstpick/firstpick/fixtures/prices"
)

// openAI holds the common parts of both OpenAI formats.
type openAI struct{}

func (openAI) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }
func (openAI) lookup(model string) string     { return "/models/" + url.PathEscape(model) }
func (openAI) has([]byte, string) bool        { return true }

// openAIDetails are parts of the token totals.
type openAIDetails struct {
	Cached    tokens `json:"cached_tokens"`
	Written   tokens `json:"cache_write_tokens"`
	Reasoning tokens `json:"reasoning_tokens"`
}

func openAIUsage(in, out tokens, inDetails, outDetails openAIDetails) *prices.Usage {
	return &prices.Usage{
		Input: in.less(inDetails.Cached, inDetails.Written), CacheRead: int(inDetails.Cached), CacheWrite: int(inDetails.Written),
		Output: int(out), Reasoning: int(outDetails.Reasoning),
	}
}
