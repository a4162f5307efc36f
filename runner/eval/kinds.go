package eval

import (
	"slices"
	"strings"
)

// The kinds of agent.
const (
	KindRecorded  = "recorded"
	KindSimulated = "simulated"

	KindOpenAIChat      = "openai-chat"
	KindOpenAIResponses = "openai-responses"
	KindAnthropic       = "anthropic"
	KindGemini          = "gemini"
	KindOllama          = "ollama"

	KindClaudeCode = "claude-code"
	KindCodex      = "codex"
	KindGeminiCLI  = "gemini-cli"
	KindOpenCode   = "opencode"
	KindCopilot    = "copilot"
	KindCursor     = "cursor"
	KindGoose      = "goose"
	KindAider      = "aider"
	KindCommand    = "command"
)

// A Class groups the kinds that are built alike.
type Class string

// The classes.
const (
	ClassModel   Class = "model"   // a model behind an API
	ClassProgram Class = "program" // an agent CLI on this machine
	ClassCommand Class = "command" // any other program on this machine
	ClassOffline Class = "offline" // answers without an agent
)

// A Kind is a row of Kinds: everything about an agent kind that is not code. Lists are
// separated by spaces.
type Kind struct {
	Name    string
	Class   Class
	Summary string // for the JSON schema and the documentation
	// Fields are the fields that the kind accepts in addition to name and kind. Each
	// needs a definition key_FIELD in eval.schema.json. Other fields are rejected:
	// ignoring one would change the subject.
	Fields string
	// Requires are the fields that must be set. OneOf are alternatives: exactly one of them.
	Requires, OneOf string
	// KeyEnv are the variables that hold the API key unless api_key_env names another, in
	// order of preference; empty if the model decides, or no key is needed.
	KeyEnv string
	// BaseURL is the default of base_url.
	BaseURL string
	// Imitable means that the field format of kind command accepts the kind's stream.
	Imitable bool
}

const (
	modelFields   = "model api_key_env base_url price max_tokens timeout_s max_cost_usd max_concurrency temperature "
	commandFields = "binary version args env network trial_cost_usd wall_s stall_s grace_s memory_mb disk_mb max_processes " +
		"price max_cost_usd max_concurrency api_key_env "
	programFields = "model base_url " + commandFields
)

// Kinds returns the table of agent kinds, in the order of the documentation. The code of a
// kind is registered under its name in package provider or package cliagent.
func Kinds() []Kind {
	return []Kind{
		{Name: KindRecorded, Class: ClassOffline, Summary: "Answers recorded earlier.", Fields: "study file", OneOf: "study file"},
		{Name: KindSimulated, Class: ClassOffline, Summary: "Answers invented from a known truth; marked synthetic everywhere.",
			Fields: "truth seed latency_ms fail_rate prompt_spread reasons max_concurrency", Requires: "truth"},

		{Name: KindOpenAIChat, Class: ClassModel, Summary: "Any endpoint that speaks the OpenAI chat completions protocol.",
			Fields: modelFields + "effort seed", Requires: "model base_url", KeyEnv: "OPENAI_API_KEY", BaseURL: "https://api.openai.com/v1"},
		{Name: KindOpenAIResponses, Class: ClassModel, Summary: "A model behind the OpenAI Responses API.",
			Fields: modelFields + "effort web_search", Requires: "model", KeyEnv: "OPENAI_API_KEY", BaseURL: "https://api.openai.com/v1"},
		{Name: KindAnthropic, Class: ClassModel, Summary: "A model behind the Anthropic Messages API.",
			Fields: modelFields + "web_search effort", Requires: "model", KeyEnv: "ANTHROPIC_API_KEY", BaseURL: "https://api.anthropic.com"},
		{Name: KindGemini, Class: ClassModel, Summary: "A model behind the Gemini API.",
			Fields: modelFields + "seed web_search", Requires: "model", KeyEnv: "GEMINI_API_KEY", BaseURL: "https://generativelanguage.googleapis.com"},
		{Name: KindOllama, Class: ClassModel, Summary: "A model on an Ollama server.",
			Fields: modelFields + "seed", Requires: "model", BaseURL: "http://localhost:11434"},

		{Name: KindClaudeCode, Class: ClassProgram, Summary: "Claude Code.",
			Fields: programFields + "purity max_turns web_search effort", Requires: "model", KeyEnv: "ANTHROPIC_API_KEY", Imitable: true},
		{Name: KindCodex, Class: ClassProgram, Summary: "Codex CLI.",
			Fields: programFields + "purity web_search effort", Requires: "model", KeyEnv: "OPENAI_API_KEY CODEX_API_KEY", Imitable: true},
		{Name: KindGeminiCLI, Class: ClassProgram, Summary: "Gemini CLI.",
			Fields: programFields + "purity max_turns web_search", Requires: "model", KeyEnv: "GEMINI_API_KEY", Imitable: true},
		{Name: KindOpenCode, Class: ClassProgram, Summary: "OpenCode; the model is named provider/model.",
			Fields: programFields + "web_search", Requires: "model", Imitable: true},
		{Name: KindCopilot, Class: ClassProgram, Summary: "GitHub Copilot CLI.",
			Fields: programFields + "purity", Requires: "model", KeyEnv: "COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN", Imitable: true},
		{Name: KindCursor, Class: ClassProgram, Summary: "Cursor's CLI agent.",
			Fields: programFields + "effort", Requires: "model", KeyEnv: "CURSOR_API_KEY", Imitable: true},
		{Name: KindGoose, Class: ClassProgram, Summary: "goose; the model is named provider/model.",
			Fields: programFields + "max_turns", Requires: "model", Imitable: true},
		{Name: KindAider, Class: ClassProgram, Summary: "aider; the model is named as LiteLLM names it.",
			Fields: programFields, Requires: "model"},

		{Name: KindCommand, Class: ClassCommand, Summary: "Any other program, by its command line.",
			Fields: commandFields + "command format model", Requires: "command"},
	}
}

// KindNamed returns a row of Kinds.
func KindNamed(name string) (Kind, bool) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// HasField reports whether the kind accepts a field in addition to name and kind.
func (k Kind) HasField(field string) bool { return slices.Contains(strings.Fields(k.Fields), field) }

// class returns the class of the agent's kind; empty for an unknown kind.
func (a *Agent) class() Class {
	k, _ := KindNamed(a.Kind)
	return k.Class
}

// IsModel reports whether an agent is a model behind an API.
func (a *Agent) IsModel() bool { return a.class() == ClassModel }

// IsProgram reports whether an agent is a program on this machine.
func (a *Agent) IsProgram() bool { c := a.class(); return c == ClassProgram || c == ClassCommand }

// kindNames returns the names of the kinds that satisfy a condition.
func kindNames(condition func(Kind) bool) []string {
	var names []string
	for _, k := range Kinds() {
		if condition(k) {
			names = append(names, k.Name)
		}
	}
	return names
}
