package cliagent

import (
	"strconv"

	"github.com/firstpick/firstpick/runner/eval"
)

// codex runs Codex. Purity clean omits settings, rules and the project's instructions.
// Its own sandbox is off: sandboxes do not nest.
func codex(a eval.Agent) (*setup, error) {
	if err := pure(a, eval.PurityClean); err != nil {
		return nil, err
	}
	if err := effort(a, "none", "minimal", "low", "medium", "high", "xhigh"); err != nil {
		return nil, err
	}
	s := &setup{
		binary: "codex", install: "npm install -g @openai/codex",
		// The name under which it takes a key without signing in.
		key:  keyOf(a, "CODEX_API_KEY"),
		host: "api.openai.com", vendor: "openai", memoryMB: 150, dirs: []string{".codex"},
	}
	s.add("exec", "--json", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox", "-m", a.Model, "-C", "{workdir}")
	set := func(key, value string) { s.add("-c", key+"="+value) }
	set("analytics.enabled", "false")
	set("check_for_update_on_startup", "false")
	if a.CLI.Purity == eval.PurityClean {
		s.add("--ignore-user-config", "--ignore-rules")
		set("project_doc_max_bytes", "0")
	}
	switch {
	case off(a):
		set("web_search", `"disabled"`)
	case on(a):
		set("web_search", `"live"`)
	}
	if a.Effort != "" {
		set("model_reasoning_effort", strconv.Quote(a.Effort))
	}
	if a.BaseURL != "" { // the variable OPENAI_BASE_URL is not read any more
		set("model_provider", `"endpoint"`)
		set("model_providers.endpoint.name", `"endpoint"`)
		set("model_providers.endpoint.base_url", strconv.Quote(a.BaseURL))
		set("model_providers.endpoint.env_key", `"CODEX_API_KEY"`)
		set("model_providers.endpoint.wire_api", `"responses"`)
	}
	s.add(a.CLI.Args...)
	s.add("--", "{prompt}")
	s.set("CODEX_HOME", "{home}/.codex")
	return s, nil
}
