package cliagent

import "github.com/firstpick/firstpick/runner/eval"

// copilot runs GitHub Copilot CLI, with a GitHub token or, if base_url is set, with a
// custom model. Purity clean omits custom instructions and built-in MCP servers.
func copilot(a eval.Agent) (*setup, error) {
	if err := pure(a, eval.PurityClean); err != nil {
		return nil, err
	}
	s := &setup{
		binary: "copilot", install: "npm install -g @github/copilot",
		key:  keyOf(a, "COPILOT_GITHUB_TOKEN"),
		host: "api.githubcopilot.com", memoryMB: 330,
		report: "{home}/usage.json",
		caches: []string{".cache/copilot/pkg"}, // the program unpacked, 235 MB
	}
	s.add("--yolo", "--output-format", "json", "--no-auto-update", "--no-ask-user", "--disable-client-telemetry", "--usage-output-file", "{home}/usage.json")
	if a.CLI.Purity == eval.PurityClean {
		s.add("--no-custom-instructions", "--disable-builtin-mcps")
	}
	s.set("COPILOT_HOME", "{home}/.copilot")
	s.set("COPILOT_AUTO_UPDATE", "false")
	if a.BaseURL != "" {
		s.key = credential{from: []string{"COPILOT_PROVIDER_API_KEY"}, as: "COPILOT_PROVIDER_API_KEY"}
		s.set("COPILOT_PROVIDER_BASE_URL", a.BaseURL)
		s.set("COPILOT_MODEL", a.Model)
		s.set("COPILOT_OFFLINE", "true") // it never asks GitHub
	} else {
		s.add("--model", a.Model)
	}
	s.add(a.CLI.Args...)
	s.add("--prompt={prompt}")
	return s, nil
}
