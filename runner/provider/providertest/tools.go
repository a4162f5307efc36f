package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A tool is offered by a request.
type tool struct {
	name string
	// custom means that the argument is text, not JSON (OpenAI Responses).
	custom bool
	args   *schema
}

// A schema is the part of JSON Schema that is needed to fill one in.
type schema struct {
	Type       json.RawMessage    `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Enum       []any              `json:"enum"`
}

func readSchema(raw json.RawMessage) *schema {
	s := &schema{}
	_ = json.Unmarshal(raw, s) // an invalid schema requires nothing
	return s
}

func (s *schema) is(kind string) bool {
	return s != nil && strings.Contains(strings.ToLower(string(s.Type)), `"`+kind+`"`)
}

// fill returns an object with all required fields and known values.
func (s *schema) fill(known map[string]any) map[string]any {
	out := map[string]any{}
	if s == nil {
		return out
	}
	for _, name := range s.Required {
		out[name] = s.Properties[name].example()
	}
	for name, v := range known {
		out[name] = v
	}
	return out
}

func (s *schema) example() any {
	switch {
	case s == nil:
		return "x"
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.is("string"):
		return "x"
	case s.is("boolean"):
		return false
	case s.is("integer"), s.is("number"):
		return 1
	case s.is("array"):
		return []any{}
	case s.is("object"):
		return s.fill(nil)
	default:
		return "x"
	}
}

// first returns the first of some names that the schema has as a property.
func (s *schema) first(names ...string) string {
	if s == nil {
		return ""
	}
	for _, n := range names {
		if s.Properties[n] != nil {
			return n
		}
	}
	return ""
}

// A toolCall is a call in the terms of the program that offers the tool.
type toolCall struct {
	id, name string
	custom   bool
	args     map[string]any
	input    string // of a custom tool
}

func (c toolCall) arguments() string { return string(encode(c.args)) }

// callsOf converts the calls of a step to the tools that a request offers. Calls
// without a matching tool are dropped.
func callsOf(q Request, calls []Call) []toolCall {
	var out []toolCall
	for i, c := range calls {
		if made, ok := q.call(c); ok {
			made.id = fmt.Sprintf("call_%d_%d", q.N, i)
			out = append(out, made)
		}
	}
	return out
}

func (q Request) call(c Call) (toolCall, bool) {
	switch {
	case c.Tool != "":
		t, ok := q.find(c.Tool)
		return toolCall{name: t.name, args: t.args.fill(c.Args)}, ok
	case c.Write != "":
		return q.write(c.Write, c.Content)
	default:
		return q.shell(c.Shell)
	}
}

// find returns the first tool that has one of some names, in any case.
func (q Request) find(names ...string) (tool, bool) {
	for _, n := range names {
		at := slices.IndexFunc(q.tools, func(t tool) bool { return strings.EqualFold(t.name, n) })
		if at >= 0 {
			return q.tools[at], true
		}
	}
	return tool{}, false
}

func (q Request) shell(line string) (toolCall, bool) {
	t, ok := q.find("bash", "shell", "shell_command", "exec_command", "run_shell_command", "developer__shell", "run_terminal_cmd", "local_shell")
	if !ok {
		return toolCall{}, false
	}
	key := t.args.first("command", "cmd", "script")
	if key == "" {
		return toolCall{}, false
	}
	var value any = line
	if t.args.Properties[key].is("array") {
		value = []string{"bash", "-lc", line}
	}
	return toolCall{name: t.name, args: t.args.fill(map[string]any{key: value})}, true
}

// write writes a file by a tool for it, by a patch, or else by the shell.
func (q Request) write(path, content string) (toolCall, bool) {
	if t, ok := q.find("write", "write_file", "create", "create_file", "developer__write", "developer__text_editor", "str_replace_editor"); ok {
		at, what := t.args.first("file_path", "filePath", "path", "filename"), t.args.first("content", "contents", "file_text", "text")
		if at != "" && what != "" {
			known := map[string]any{at: path, what: content}
			if verb := t.args.Properties["command"]; verb != nil {
				known["command"] = "write"
				if slices.Contains(verb.Enum, any("create")) {
					known["command"] = "create"
				}
			}
			return toolCall{name: t.name, args: t.args.fill(known)}, true
		}
	}
	patch := addFile(path, content)
	if t, ok := q.find("apply_patch"); ok {
		if t.custom {
			return toolCall{name: t.name, custom: true, input: patch}, true
		}
		if key := t.args.first("input", "patch"); key != "" {
			return toolCall{name: t.name, args: t.args.fill(map[string]any{key: patch})}, true
		}
	}
	if bytes.Contains(q.Body, []byte("`apply_patch`")) { // Codex takes it as a command
		return q.shell("apply_patch <<'END_OF_PATCH'\n" + patch + "\nEND_OF_PATCH")
	}
	return q.shell("mkdir -p \"$(dirname '" + path + "')\" && cat > '" + path + "' <<'END_OF_FILE'\n" + strings.TrimSuffix(content, "\n") + "\nEND_OF_FILE")
}

// addFile is a patch in the form that Codex applies.
func addFile(path, content string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + path + "\n")
	for line := range strings.Lines(content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch")
	return b.String()
}
