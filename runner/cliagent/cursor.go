package cliagent

import (
	"errors"

	"github.com/firstpick/firstpick/runner/eval"
)

// cursor runs Cursor's agent. All of it is below the home.
func cursor(a eval.Agent) (*setup, error) {
	if a.BaseURL != "" {
		return nil, errors.New("base_url: cursor-agent supports only Cursor's servers; remove it")
	}
	s := &setup{
		binary: "cursor-agent", install: "curl https://cursor.com/install -fsS | bash",
		key:  keyOf(a, "CURSOR_API_KEY"),
		host: "api2.cursor.sh", memoryMB: 400, commands: "/",
	}
	model := a.Model
	if a.Effort != "" {
		model += "[effort=" + a.Effort + "]"
	}
	s.add("--yolo", "--print", "--output-format=stream-json", "--model="+model)
	s.add(a.CLI.Args...)
	s.add("--", "{prompt}")
	return s, nil
}
