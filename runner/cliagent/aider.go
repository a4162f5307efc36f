package cliagent

import (
	"fmt"

	"github.com/firstpick/firstpick/runner/eval"
)

// aider runs aider. It edits files and writes text. It asks before each command, so its
// answers have none. A separate file reports its usage. The model is named as LiteLLM
// names it: anthropic/..., gpt-....
func aider(a eval.Agent) (*setup, error) {
	v, _, err := vendorOf(a)
	if err != nil {
		return nil, err
	}
	s := &setup{
		binary: "aider", install: "pip install aider-chat",
		key: credential{from: []string{v.keyEnv}, as: v.keyEnv}, host: v.host, vendor: v.name, memoryMB: 400,
		report: "{home}/analytics.jsonl", commands: "/!", text: true,
	}
	s.add("--yes-always", "--no-auto-commits", "--no-git", "--no-check-update", "--no-show-model-warnings", "--no-show-release-notes",
		"--no-pretty", "--no-stream", "--no-suggest-shell-commands", "--no-detect-urls", "--map-tokens", "0",
		"--chat-history-file", "{home}/chat.md", "--input-history-file", "{home}/input", "--llm-history-file", "{home}/llm.txt",
		"--analytics-log", "{home}/analytics.jsonl", "--model", a.Model)
	switch {
	case a.BaseURL == "":
	case v.name == "openai":
		s.set("OPENAI_API_BASE", a.BaseURL)
	case v.name == "anthropic":
		s.set("ANTHROPIC_API_BASE", a.BaseURL)
	default:
		return nil, fmt.Errorf("base_url: aider supports it for models of openai and anthropic, not of %s", v.name)
	}
	s.add(a.CLI.Args...)
	s.add("--message={prompt}")
	return s, nil
}
