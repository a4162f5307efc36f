package eval

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Pin returns the source text of an eval in which each own template has its digest: the text
// then says which files a run was of. digests are by the name of the template; a template
// that has one already keeps it. Comments and form of the text stay.
func Pin(source []byte, digests map[string]string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil || len(doc.Content) == 0 {
		return source, err
	}
	lines := bytes.SplitAfter(source, []byte("\n"))
	list := valueOf(doc.Content[0], "templates")
	for i := len(list.Content) - 1; i >= 0; i-- { // from the end, so that places before it stay
		n := list.Content[i]
		digest, ok := digests[valueOf(n, "name").Value]
		if n.Kind != yaml.MappingNode || !ok || valueOf(n, "digest").Value != "" {
			continue
		}
		at, text := n.Column-1, "digest: "+digest+", "
		if n.Style&yaml.FlowStyle != 0 {
			at++ // behind the brace
		} else {
			text = "digest: " + digest + "\n" + string(bytes.Repeat([]byte(" "), at))
		}
		line := []rune(string(lines[n.Line-1]))
		if at > len(line) || n.Style&yaml.FlowStyle != 0 && line[at-1] != '{' {
			return nil, fmt.Errorf("line %d: cannot add the digest of a template here: write it as {name: NAME, dir: PATH}", n.Line)
		}
		lines[n.Line-1] = []byte(string(line[:at]) + text + string(line[at:]))
	}
	return bytes.Join(lines, nil), nil
}

// valueOf returns the value of a key of a mapping; an empty node without it.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}
