package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
)

// changes follows the lines that a session adds to files, from the arguments of calls that
// did not fail.
type changes struct {
	cwd      string
	calls    int
	waiting  map[string]stream.Tool // calls without a result, by id
	original map[string]string      // texts of files before the current line
	paths    []string
	added    map[string][]string
	size     int
	notes    []string
}

// maxWaiting limits the calls without a result whose arguments are kept, of up to 64 KiB each.
const maxWaiting = 500

func newChanges() *changes {
	return &changes{waiting: map[string]stream.Tool{}, original: map[string]string{}, added: map[string][]string{}}
}

// line reads what only the line of a file has: the folder of the session, and the text
// that a file had before.
func (c *changes) line(line []byte) {
	if c.cwd == "" {
		if at := bytes.Index(line, []byte(`"cwd":`)); at >= 0 {
			_ = json.NewDecoder(bytes.NewReader(line[at+len(`"cwd":`):])).Decode(&c.cwd) // empty unless it is a string
		}
	}
	clear(c.original)
	if !bytes.Contains(line, []byte(`"originalFile":"`)) {
		return
	}
	var l struct {
		Session, Stream struct {
			Path string `json:"filePath"`
			Text string `json:"originalFile"`
		}
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(line, &raw) == nil {
		_ = json.Unmarshal(raw["toolUseResult"], &l.Session)
		_ = json.Unmarshal(raw["tool_use_result"], &l.Stream)
		c.original[l.Session.Path], c.original[l.Stream.Path] = l.Session.Text, l.Stream.Text
	}
}

func (c *changes) event(e stream.Event) {
	if e.Tool == nil {
		return
	}
	switch {
	case e.Kind == stream.KindToolCall:
		c.calls++
		if len(e.Tool.Args) == 0 && (e.Tool.Name == stream.ToolWrite || e.Tool.Name == stream.ToolEdit) {
			c.note("the text of a file above 64 KiB was left out")
		}
		switch {
		case !writes(e.Tool):
		case len(c.waiting) == maxWaiting:
			c.note(fmt.Sprintf("the texts of calls without a result above %d were left out", maxWaiting))
		default:
			c.waiting[e.Tool.ID] = *e.Tool
		}
	case e.Kind == stream.KindToolResult:
		call, ok := c.waiting[e.Tool.ID]
		delete(c.waiting, e.Tool.ID)
		if ok && !e.Tool.Declined && (e.Tool.OK == nil || *e.Tool.OK) {
			c.apply(&call)
		}
	case e.Kind == stream.KindFileChange && e.Tool.Path != "":
		c.add(e.Tool.Path, nil)
	}
}

func writes(t *stream.Tool) bool {
	return t.Name == stream.ToolWrite || t.Name == stream.ToolEdit || t.Name == stream.ToolShell && strings.Contains(t.Command, "*** Begin Patch")
}

// An edit is the arguments of tools that write files, in all CLIs.
type edit struct {
	Content  *string `json:"content"`
	Contents *string `json:"contents"`
	FileText *string `json:"file_text"`
	FileJS   *string `json:"fileText"`
	Stream   *string `json:"streamContent"`
	Source   *string `json:"new_source"`
	Patch    string  `json:"patch"`
	Input    string  `json:"input"`
	replacement
	Edits []replacement `json:"edits"`
}

type replacement struct {
	Old  string `json:"old_string"`
	Old2 string `json:"old_str"`
	New  string `json:"new_string"`
	New2 string `json:"new_str"`
}

func (c *changes) apply(call *stream.Tool) {
	if call.Name == stream.ToolShell {
		c.patch(call.Command)
		return
	}
	var e edit
	_ = json.Unmarshal(call.Args, &e) // a member of another type stays empty
	for _, whole := range []*string{e.Content, e.Contents, e.FileText, e.FileJS, e.Stream, e.Source} {
		if whole != nil && call.Path != "" {
			c.set(call.Path, nil)
			c.add(call.Path, without(split(*whole), split(c.original[call.Path])))
			return
		}
	}
	for _, one := range append([]replacement{e.replacement}, e.Edits...) {
		old, text := split(one.Old+one.Old2), split(one.New+one.New2)
		if call.Path != "" && len(old)+len(text) > 0 {
			c.add(call.Path, nil)
			c.set(call.Path, without(c.added[call.Path], old))
			c.add(call.Path, without(text, old))
		}
	}
	c.patch(e.Patch)
	c.patch(e.Input)
}

// patch applies a patch in the form of apply_patch.
func (c *changes) patch(text string) {
	_, text, ok := strings.Cut(text, "*** Begin Patch")
	if !ok {
		return
	}
	text, _, _ = strings.Cut(text, "*** End Patch")
	var name string
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "*** Add File: "), strings.HasPrefix(line, "*** Update File: "), strings.HasPrefix(line, "*** Move to: "):
			_, name, _ = strings.Cut(line, ": ")
			name = strings.TrimSpace(name)
			c.add(name, nil)
		case strings.HasPrefix(line, "*** Delete File: "):
			c.remove(strings.TrimSpace(strings.TrimPrefix(line, "*** Delete File: ")))
			name = ""
		case strings.HasPrefix(line, "*** "):
			name = ""
		case name != "" && strings.HasPrefix(line, "+"):
			c.add(name, []string{line[1:]})
		}
	}
}

// set replaces the added lines of a file by some of them.
func (c *changes) set(name string, lines []string) {
	for _, line := range c.added[name] {
		c.size -= len(line) + 1
	}
	for _, line := range lines {
		c.size += len(line) + 1
	}
	if len(c.added[name]) > 0 {
		c.added[name] = lines
	}
}

func (c *changes) remove(name string) {
	c.set(name, nil)
	delete(c.added, name)
	c.paths = slices.DeleteFunc(c.paths, func(p string) bool { return p == name })
}

// add adds lines to a file.
func (c *changes) add(name string, lines []string) {
	if _, ok := c.added[name]; !ok && !slices.Contains(c.paths, name) {
		if len(c.paths) == 10_000 {
			c.note("changed files above 10000 were left out")
			return
		}
		c.paths = append(c.paths, name)
	}
	for _, line := range lines {
		if c.size+len(line)+1 > maxText {
			c.note("added lines above 2 MiB were left out")
			return
		}
		c.size += len(line) + 1
		c.added[name] = append(c.added[name], line)
	}
}

func (c *changes) note(text string) {
	if !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// without returns the lines that are not among old, each as often as it is there more often.
func without(lines, old []string) []string {
	count := map[string]int{}
	for _, line := range old {
		count[line]++
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		if count[line] > 0 {
			count[line]--
			continue
		}
		out = append(out, line)
	}
	return out
}
