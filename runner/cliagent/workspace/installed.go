package workspace

import (
	"maps"
	"slices"

	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Installed returns the manifests of a template that name packages, sorted by path. It is
// empty if the template does not exist.
func (s Source) Installed(template string) (out []transcript.Manifest) {
	files, err := s.files(template)
	if err != nil || files == nil {
		return nil
	}
	all, err := texts(files)
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := transcript.Manifest{Path: name}
		_, deps := manifest.Deps(name, []byte(all[name]))
		for _, d := range deps {
			m.Deps = append(m.Deps, d.Text)
		}
		if len(m.Deps) > 0 {
			out = append(out, m)
		}
	}
	return out
}
