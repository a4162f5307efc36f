package stream

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/runner/transcript"
)

// toolNamed returns the Tool constant of a CLI's tool name.
func toolNamed(native string) string {
	name := strings.TrimSuffix(native, "ToolCall") // cursor: shellToolCall
	if rest, ok := strings.CutPrefix(name, "developer__"); ok {
		name = rest // goose: developer__shell
	} else if strings.HasPrefix(name, "mcp__") || strings.EqualFold(name, "mcp") {
		return ToolMCP
	}
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)) {
	case "bash", "shell", "runshellcommand", "runterminalcmd", "executecommand", "commandexecution", "powershell", "exec", "execcommand":
		return ToolShell
	case "write", "writefile", "create", "createfile":
		return ToolWrite
	case "edit", "multiedit", "notebookedit", "editfile", "replace", "applypatch", "patch", "strreplace", "insert", "delete",
		"strreplaceeditor", "texteditor", "filechange":
		return ToolEdit
	case "read", "readfile", "readmanyfiles", "view", "notebookread", "cat":
		return ToolRead
	case "grep", "glob", "list", "ls", "rg", "search", "searchfilecontent", "grepsearch", "listdirectory", "semsearch", "codebasesearch", "tree":
		return ToolSearch
	case "websearch", "googlewebsearch":
		return ToolWebSearch
	case "webfetch", "fetch", "urlfetch", "fetchurl", "readurl":
		return ToolWebFetch
	case "task", "agent", "subagent", "delegate", "codebaseinvestigator":
		return ToolTask
	}
	if strings.Contains(name, "__") {
		return ToolMCP // goose: extension__tool
	}
	return ToolOther
}

// toolArgs are the argument names of tools in all CLIs.
type toolArgs struct {
	Command      json.RawMessage `json:"command"`
	Cmd          json.RawMessage `json:"cmd"`
	FilePath     string          `json:"file_path"`
	FilePathJS   string          `json:"filePath"`
	Path         string          `json:"path"`
	AbsolutePath string          `json:"absolute_path"`
	NotebookPath string          `json:"notebook_path"`
	URL          string          `json:"url"`
	Query        string          `json:"query"`
}

// describe sets fields of a call from its name and arguments.
func describe(t *Tool) {
	if t.Name == "" {
		t.Name = toolNamed(t.Native)
	}
	var a toolArgs
	if object(t.Args, &a) {
		for _, p := range []string{a.FilePath, a.FilePathJS, a.Path, a.AbsolutePath, a.NotebookPath} {
			if t.Path == "" {
				t.Path = p
			}
		}
		command := stringOrList(a.Command)
		if len(command) == 0 {
			command = stringOrList(a.Cmd)
		}
		switch {
		case t.Name == ToolWebFetch && a.URL != "" && len(t.Sources) == 0:
			t.Sources = []string{a.URL}
		case t.Name == ToolWebSearch && a.Query != "" && len(t.Queries) == 0:
			t.Queries = []string{a.Query}
		case t.Name == ToolShell && t.Command == "":
			t.Command = unwrap(command)
		case t.Name == ToolEdit && len(command) == 1:
			// An editor tool: its command is the operation.
			switch command[0] {
			case "view":
				t.Name = ToolRead
			case "write", "create":
				t.Name = ToolWrite
			}
		}
	}
	if len(t.Args) > MaxOutput {
		t.Args = nil
	}
	t.Queries, t.Sources = within(t.Queries, maxQueries, maxMessage), within(t.Sources, maxSources, maxURL)
}

// within returns at most `most` texts, without empty ones and those above size bytes.
func within(texts []string, most, size int) []string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" || len(s) > size })
	return texts[:min(len(texts), most)]
}

// stringOrList decodes a JSON string or an array of strings.
func stringOrList(raw json.RawMessage) []string {
	var one string
	if len(raw) > 0 && json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var many []string
	if len(raw) > 0 && json.Unmarshal(raw, &many) == nil {
		return many
	}
	return nil
}

// call records a tool call.
func (r *recorder) call(t Tool, by string) {
	r.acted()
	if by == "" {
		r.endMessage()
	}
	describe(&t)
	kind := KindToolCall
	if t.Name == ToolWebSearch || t.Name == ToolWebFetch {
		kind = KindWeb
		for _, url := range t.Sources {
			r.source(url, t.Name == ToolWebFetch)
		}
	}
	called := t
	r.event(Event{Kind: kind, Tool: &called, Agent: by})
	if t.ID == "" {
		return
	}
	r.forget(t.ID)
	t.Args, t.Queries, t.Sources = nil, nil, nil
	if size := sizeOf(t); r.callBytes+size <= 2*MaxCommands {
		r.calls[t.ID] = t
		r.callBytes += size
	} else {
		r.note("calls of tools under way above 4 MiB were forgotten")
	}
}

// done records the result of a call. Paths are the changed files if they are not the path
// in its arguments.
func (r *recorder) done(t Tool, by string, paths ...string) {
	r.acted()
	if by == "" {
		r.endMessage()
	}
	if c, ok := r.calls[t.ID]; ok {
		r.forget(t.ID)
		c.Exit, c.OK, c.Output, c.Declined = t.Exit, t.OK, t.Output, t.Declined
		t = c
	}
	describe(&t)
	t.Args = nil
	t.Output = inert.Truncate(t.Output, MaxOutput)
	if t.Declined = t.Declined || declined(&t); t.Declined {
		t.Exit = nil
	}
	r.event(Event{Kind: KindToolResult, Tool: &t, Agent: by})
	if t.Name == ToolShell && t.Command != "" && !t.Declined {
		r.command(t.ID, transcript.Command{Cmd: t.Command, Exit: status(t)})
	}
	if t.OK != nil && !*t.OK {
		return
	}
	if len(paths) == 0 && t.Path != "" && (t.Name == ToolWrite || t.Name == ToolEdit) {
		paths = []string{t.Path}
	}
	for _, p := range paths {
		r.changed(t.Name, t.Native, p, by)
	}
}

func (r *recorder) changed(name, native, path, by string) {
	r.event(Event{Kind: KindFileChange, Tool: &Tool{Name: name, Native: native, Path: path}, Agent: by})
}

// declined recognises a rejected or cancelled call by its message.
func declined(t *Tool) bool {
	if t.Exit != nil || t.OK == nil || *t.OK {
		return false
	}
	for _, text := range []string{
		"<tool_use_error>",                                             // Claude Code: cancelled with a parallel call, or invalid
		"The user doesn't want to ",                                    // Claude Code
		"Claude requested permissions to ",                             // Claude Code
		"This command requires approval",                               // Claude Code
		"The user rejected ",                                           // OpenCode, Copilot
		"The user has specified a rule which ",                         // OpenCode
		"The user has declined to run this tool",                       // goose
		"Permission denied and could not request permission from user", // Copilot
		"[Operation Cancelled]",                                        // Gemini CLI
	} {
		if strings.HasPrefix(t.Output, text) {
			return true
		}
	}
	return false
}

// status returns the exit status of a finished command; nil if unknown.
func status(t Tool) *int {
	if t.Exit == nil && t.OK != nil && *t.OK {
		return new(0)
	}
	return t.Exit
}

// forget removes a running call.
func (r *recorder) forget(id string) {
	if t, ok := r.calls[id]; ok {
		r.callBytes -= sizeOf(t)
		delete(r.calls, id)
	}
}

// sizeOf estimates the memory of a running call, in bytes.
func sizeOf(t Tool) int { return len(t.ID) + len(t.Native) + len(t.Command) + len(t.Path) + 256 }
