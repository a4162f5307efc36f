package cliagent

import (
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// claudeCode runs Claude Code. Purity clean switches all customisation off
// (--safe-mode), bare also hooks, plugins and background work (--bare). The
// fallback model is never set: it would change the subject.
func claudeCode(a eval.Agent) (*setup, error) {
	if err := pure(a, eval.PurityClean, eval.PurityBare); err != nil {
		return nil, err
	}
	if err := effort(a, "low", "medium", "high", "xhigh", "max"); err != nil {
		return nil, err
	}
	s := &setup{
		binary: "claude", install: "npm install -g @anthropic-ai/claude-code",
		key:  keyOf(a, "ANTHROPIC_API_KEY"),
		host: "api.anthropic.com", vendor: "anthropic", memoryMB: 300, commands: "/", caps: true,
	}
	s.add("-p", "--output-format", "stream-json", "--verbose", "--model", a.Model,
		"--permission-mode", "bypassPermissions", "--strict-mcp-config", "--no-session-persistence")
	switch a.CLI.Purity {
	case eval.PurityClean:
		s.add("--safe-mode", "--setting-sources", "")
	case eval.PurityBare:
		s.add("--bare")
	}
	if a.CLI.MaxTurns > 0 {
		s.add("--max-turns", strconv.Itoa(a.CLI.MaxTurns))
	}
	if a.CLI.TrialCostUSD > 0 {
		s.add("--max-budget-usd", dollars(a.CLI.TrialCostUSD))
	}
	if a.Effort != "" {
		s.add("--effort", a.Effort)
	}
	if off(a) {
		s.add("--disallowedTools", "WebSearch,WebFetch")
	}
	s.add(a.CLI.Args...)
	s.add("--", "{prompt}")

	s.set("CLAUDE_CONFIG_DIR", "{home}/.claude")
	s.set("IS_SANDBOX", "1") // or it refuses to run unattended as root
	for _, name := range []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"} {
		s.set(name, "1")
	}
	if a.BaseURL != "" {
		s.set("ANTHROPIC_BASE_URL", strings.TrimSuffix(strings.TrimRight(a.BaseURL, "/"), "/v1"))
		// Its small helper model need not exist there.
		s.set("ANTHROPIC_DEFAULT_HAIKU_MODEL", a.Model)
	}
	return s, nil
}
