package cliagent

import (
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// A vendor sells a model. Programs that support many have their own names for it.
type vendor struct {
	name   string // in the price table
	keyEnv string // variable of the key
	host   string // empty if unknown
	other  bool   // not supported by every program
	// The names of the vendor and of its key in OpenCode and goose.
	opencode, opencodeKey string
	goose, gooseKey       string
}

// vendorOf splits a model named vendor/model. A vendor whose key is unknown here needs
// api_key_env.
func vendorOf(a eval.Agent) (v vendor, model string, err error) {
	name, model, ok := strings.Cut(a.Model, "/")
	if !ok {
		if a.Kind != eval.KindAider {
			return v, "", fmt.Errorf("model %q: %s needs the form provider/model, such as anthropic/claude-sonnet-4-5", a.Model, a.Kind)
		}
		name, model = guess(a.Model), a.Model
	}
	switch name {
	case "anthropic":
		return simple("anthropic", "ANTHROPIC_API_KEY", "api.anthropic.com"), model, nil
	case "openai":
		return simple("openai", "OPENAI_API_KEY", "api.openai.com"), model, nil
	case "google", "gemini":
		v = simple("google", "GEMINI_API_KEY", "generativelanguage.googleapis.com")
		v.opencodeKey, v.gooseKey = "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"
		return v, model, nil
	case "openrouter":
		return simple("openrouter", "OPENROUTER_API_KEY", "openrouter.ai"), model, nil
	}
	if a.APIKeyEnv == "" {
		return v, "", fmt.Errorf("model %q: provider %q is unknown; name the variable that holds its key in api_key_env", a.Model, name)
	}
	v = simple(name, a.APIKeyEnv, hostOf(name))
	v.other = true
	return v, model, nil
}

// hostOf returns the host of a vendor by its names in the programs; empty if unknown: a
// name is not an address for a key.
func hostOf(vendor string) string {
	switch vendor {
	case "mistral":
		return "api.mistral.ai"
	case "groq":
		return "api.groq.com"
	case "deepseek":
		return "api.deepseek.com"
	case "xai":
		return "api.x.ai"
	case "cerebras":
		return "api.cerebras.ai"
	case "together", "togetherai", "together_ai":
		return "api.together.xyz"
	case "fireworks", "fireworks-ai", "fireworks_ai":
		return "api.fireworks.ai"
	}
	return ""
}

func simple(name, keyEnv, host string) vendor {
	return vendor{name: name, keyEnv: keyEnv, host: host, opencode: name, opencodeKey: keyEnv, goose: name, gooseKey: keyEnv}
}

// guess returns the vendor of a model's bare name, as aider does.
func guess(model string) string {
	switch {
	case strings.HasPrefix(model, "claude"), model == "sonnet", model == "opus", model == "haiku":
		return "anthropic"
	case strings.HasPrefix(model, "gemini"):
		return "google"
	case strings.HasPrefix(model, "gpt"), strings.HasPrefix(model, "o1"), strings.HasPrefix(model, "o3"), strings.HasPrefix(model, "o4"):
		return "openai"
	}
	return model
}
