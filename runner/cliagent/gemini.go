package cliagent

import (
	"encoding/json"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// geminiCLI runs Gemini CLI. It always reads the project's GEMINI.md, so it has only
// the default purity.
func geminiCLI(a eval.Agent) (*setup, error) {
	if err := pure(a); err != nil {
		return nil, err
	}
	type object = map[string]any
	settings := object{
		"security":  object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
		"general":   object{"enableAutoUpdate": false},
		"privacy":   object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false},
	}
	if a.CLI.MaxTurns > 0 {
		settings["model"] = object{"maxSessionTurns": a.CLI.MaxTurns}
	}
	if off(a) {
		settings["tools"] = object{"exclude": []string{"google_web_search", "web_fetch"}}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	s := &setup{
		binary: "gemini", install: "npm install -g @google/gemini-cli",
		key:  keyOf(a, "GEMINI_API_KEY"),
		host: "generativelanguage.googleapis.com", vendor: "google", memoryMB: 300,
		files: map[string]string{".gemini/settings.json": string(text)},
	}
	s.add("--yolo", "-m", a.Model, "-o", "stream-json")
	s.add(a.CLI.Args...)
	s.add("--prompt={prompt}")
	s.set("GEMINI_CLI_TRUST_WORKSPACE", "true") // without it --yolo is dropped
	if a.BaseURL != "" {
		s.set("GOOGLE_GEMINI_BASE_URL", strings.TrimSuffix(strings.TrimRight(a.BaseURL, "/"), "/v1beta"))
	}
	return s, nil
}
