package cliagent

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// goose runs goose. The model is named provider/model.
func goose(a eval.Agent) (*setup, error) {
	v, model, err := vendorOf(a)
	if err != nil {
		return nil, err
	}
	s := &setup{
		binary: "goose", install: "https://block.github.io/goose/docs/getting-started/installation",
		key: credential{from: []string{v.keyEnv}, as: v.gooseKey}, host: v.host, vendor: v.name, memoryMB: 250,
	}
	s.add("run", "--no-session", "--output-format", "stream-json")
	if a.CLI.MaxTurns > 0 {
		s.add("--max-turns", strconv.Itoa(a.CLI.MaxTurns))
	}
	s.add(a.CLI.Args...)
	s.add("--text={prompt}")
	s.set("GOOSE_PROVIDER", v.goose)
	s.set("GOOSE_MODEL", model)
	s.set("GOOSE_MODE", "auto")
	s.set("GOOSE_PATH_ROOT", "{home}/.goose")
	s.set("GOOSE_DISABLE_KEYRING", "1")
	s.set("GOOSE_DISABLE_SESSION_NAMING", "true") // it would call the model for a name
	s.set("GOOSE_TELEMETRY_ENABLED", "false")
	if a.BaseURL == "" {
		return s, nil
	}
	u, err := url.Parse(a.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	switch v.goose {
	case "openai":
		s.set("OPENAI_HOST", u.Scheme+"://"+u.Host)
		s.set("OPENAI_BASE_PATH", strings.Trim(u.Path, "/")+"/chat/completions")
	case "anthropic":
		s.set("ANTHROPIC_HOST", strings.TrimSuffix(strings.TrimRight(a.BaseURL, "/"), "/v1"))
	default:
		return nil, fmt.Errorf("base_url: goose supports it for the providers openai and anthropic, not for %s", v.goose)
	}
	return s, nil
}
