package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// maxDescription limits Describe, in bytes.
const maxDescription = 8 << 10

// Describe describes a template for a model without file access: the names of all
// files, then the manifests and the README, up to a size limit. It is empty if the
// template does not exist.
func (s Source) Describe(template string) string {
	files, err := s.files(template)
	if err != nil || files == nil {
		return ""
	}
	all, err := texts(files)
	if err != nil {
		return ""
	}
	if len(all) == 0 {
		return "The project is an empty git repository."
	}
	var b strings.Builder
	b.WriteString("The project has these files:\n\n")
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		if b.Len()+len(name) > maxDescription/2 {
			b.WriteString("- and more\n")
			break
		}
		fmt.Fprintf(&b, "- %s\n", name)
	}
	for _, name := range names {
		kind, _ := manifest.Deps(name, nil)
		if kind == "" && name != "README.md" {
			continue
		}
		if part := fmt.Sprintf("\n%s:\n\n```\n%s\n```\n", name, strings.TrimSpace(all[name])); b.Len()+len(part) <= maxDescription {
			b.WriteString(part)
		}
	}
	return strings.TrimSpace(b.String())
}
