package stream

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnwrap(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`/bin/bash -lc "npm install stripe"`:       "npm install stripe",
		`bash -c 'echo "a b"'`:                     `echo "a b"`,
		`/usr/bin/zsh -l -c npm\ test`:             "npm test",
		`sh -c "printf '{\"a\":\"b\"}\\n' \$HOME"`: `printf '{"a":"b"}\n' $HOME`,
		`bash -lc "a '"'^17'"' b"`:                 "a '^17' b",
		`bash -lc "it is \x"`:                      `it is \x`,
		"bash -lc 'cat > a <<EOF\nx\nEOF'":         "cat > a <<EOF\nx\nEOF",
		`npm install stripe`:                       `npm install stripe`,
		`bash script.sh`:                           `bash script.sh`,
		`bash -lc 'a' b`:                           `bash -lc 'a' b`,
		`bash --rc x`:                              `bash --rc x`,
		`bash -c 'a' && npm install stripe`:        `bash -c 'a' && npm install stripe`,
		`cd /x; bash -c 'a'`:                       `cd /x; bash -c 'a'`,
		`bash -c 'open`:                            `bash -c 'open`,
		`bash -c a\`:                               `a\`,
		``:                                         ``,
	} {
		if got := unwrap([]string{command}); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	if got := unwrap([]string{"bash", "-lc", "npm test"}); got != "npm test" {
		t.Error(got)
	}
	if got := unwrap([]string{"npm", "test"}); got != "npm test" {
		t.Error(got)
	}
}

// What is quoted by the rules of a shell comes back as it was.
func FuzzUnwrap(f *testing.F) {
	f.Add("npm install 'stripe'")
	f.Add("a\\b\"c\nd")
	f.Fuzz(func(t *testing.T, command string) {
		if !utf8.ValidString(command) || strings.ContainsAny(command, "\x00\r") || len(command) > 4096 {
			return // the text comes out of JSON; the rest is not what the parser reads
		}
		quoted := []byte("bash -lc '")
		for _, c := range []byte(command) {
			if c == '\'' {
				quoted = append(quoted, `'"'"'`...)
			} else {
				quoted = append(quoted, c)
			}
		}
		if got := unwrap([]string{string(quoted) + "'"}); got != command {
			t.Errorf("%q became %q", command, got)
		}
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	for native, want := range map[string]string{
		"Bash": ToolShell, "run_shell_command": ToolShell, "developer__shell": ToolShell, "shellToolCall": ToolShell,
		"Write": ToolWrite, "write_file": ToolWrite, "create": ToolWrite, "MultiEdit": ToolEdit, "replace": ToolEdit, "apply_patch": ToolEdit,
		"Read": ToolRead, "view": ToolRead, "Glob": ToolSearch, "search_file_content": ToolSearch, "lsToolCall": ToolSearch,
		"WebSearch": ToolWebSearch, "google_web_search": ToolWebSearch, "web_fetch": ToolWebFetch, "Task": ToolTask,
		"mcp__github__issues": ToolMCP, "context7__resolve": ToolMCP, "mcpToolCall": ToolMCP, "TodoWrite": ToolOther, "": ToolOther,
	} {
		if got := toolNamed(native); got != want {
			t.Errorf("%q is %s, want %s", native, got, want)
		}
	}
	for _, c := range []struct{ native, args, name, command, path string }{
		{"Bash", `{"command":"npm test"}`, ToolShell, "npm test", ""},
		{"shell", `{"command":["bash","-lc","npm test"]}`, ToolShell, "npm test", ""},
		{"bash", `{"cmd":"npm test"}`, ToolShell, "npm test", ""},
		{"Bash", `{"command":5,"path":"a"}`, ToolShell, "", "a"},
		{"Bash", `"npm test"`, ToolShell, "", ""},
		{"edit", `{"filePath":"a.js"}`, ToolEdit, "", "a.js"},
		{"str_replace_editor", `{"command":"view","path":"a"}`, ToolRead, "", "a"},
		{"str_replace_editor", `{"command":"create","path":"a"}`, ToolWrite, "", "a"},
		{"str_replace_editor", `{"command":"insert","path":"a"}`, ToolEdit, "", "a"},
	} {
		tool := Tool{Native: c.native, Args: json.RawMessage(c.args)}
		describe(&tool)
		if got := []string{tool.Name, tool.Command, tool.Path}; !slices.Equal(got, []string{c.name, c.command, c.path}) {
			t.Errorf("%s %s: %q", c.native, c.args, got)
		}
	}
}

func TestStatusAndWait(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct {
		status int
		wait   string
	}{
		"unexpected status 401 Unauthorized":              {401, "0s"},
		"exceeded retry limit, last status: 429 Too Many": {429, "0s"},
		`{"error":{"code":401,"message":"x"}}`:            {401, "0s"},
		"Authentication failed (HTTP 401).":               {401, "0s"},
		"Last error: 503 x":                               {503, "0s"},
		"statusCode=500, retry-after: 20s":                {500, "20s"},
		"RESOURCE_EXHAUSTED, please retry in 1.5 minutes": {429, "1m30s"},
		"rate limit: try again in 250ms":                  {429, "250ms"},
		"overloaded_error":                                {503, "0s"},
		"Error: 12345 files":                              {0, "0s"},
		"error on line 404 of main.go":                    {0, "0s"},
		"retry after 999999999 days":                      {0, "8784h0m0s"},
		"":                                                {0, "0s"},
	} {
		if got := statusIn(message); got != want.status {
			t.Errorf("%q: status %d, want %d", message, got, want.status)
		}
		if got := waitIn(message); got.String() != want.wait {
			t.Errorf("%q: wait %s, want %s", message, got, want.wait)
		}
	}
}
