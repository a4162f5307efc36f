package cliagent

import (
	"encoding/json"

	"github.com/firstpick/firstpick/runner/eval"
)

// openCode runs OpenCode. The model is named provider/model. The session title is
// set, because it would call a small model for one.
func openCode(a eval.Agent) (*setup, error) {
	v, model, err := vendorOf(a)
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	provider := object{"models": object{model: object{}}} // also a model unknown to opencode
	if a.BaseURL != "" {
		options := object{"baseURL": a.BaseURL}
		if v.other { // unknown to OpenCode
			provider["npm"], options["apiKey"] = "@ai-sdk/openai-compatible", "{env:"+v.opencodeKey+"}"
		}
		provider["options"] = options
	}
	// A permission prompt would hang.
	permission := object{"*": "allow"}
	if off(a) {
		permission["webfetch"], permission["websearch"] = "deny", "deny"
	}
	config, err := json.Marshal(object{
		"autoupdate": false, "share": "disabled", "permission": permission, "provider": object{v.opencode: provider},
	})
	if err != nil {
		return nil, err
	}
	s := &setup{
		binary: "opencode", install: "npm install -g opencode-ai",
		key: credential{from: []string{v.keyEnv}, as: v.opencodeKey}, host: v.host, vendor: v.name, memoryMB: 700,
	}
	s.add("run", "--format", "json", "--thinking", "--auto", "--title", "task", "-m", v.opencode+"/"+model, "--dir", "{workdir}")
	s.add(a.CLI.Args...)
	s.add("--", "{prompt}")
	s.set("OPENCODE_CONFIG_CONTENT", string(config))
	for _, name := range []string{"OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_DEFAULT_PLUGINS"} {
		s.set(name, "1")
	}
	if on(a) {
		s.set("OPENCODE_ENABLE_EXA", "1") // its search tool is there only then
	}
	return s, nil
}
