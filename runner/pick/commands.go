package pick

import (
	"context"
	"slices"

	"github.com/firstpick/firstpick/runner/transcript"
)

// commands finds installs. The manifest has a successful one already; a failed or undone
// one was considered.
func (x *Extractor) commands(ctx context.Context, cmds []transcript.Command, diff []transcript.FileChange) ([]action, error) {
	var out []action
	removed := map[string]bool{}
	manifests := slices.ContainsFunc(diff, func(f transcript.FileChange) bool { return len(f.AddedDeps) > 0 })
	for _, c := range slices.Backward(cmds) { // backwards: a later removal undoes an earlier install
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, in := range slices.Backward(x.tools.installs(c.Cmd)) {
			if in.remove {
				removed[in.name] = c.Worked() || removed[in.name]
				continue
			}
			for _, t := range x.byPackage(in.eco, in.name) {
				undone := !c.Worked() || removed[in.name] || manifests && !in.global && !addsDep(diff, in.name)
				out = append(out, action{t, Evidence{t.slug, LevelCommand, "command", "", 0, clipQuote(c.Cmd)}, false, undone})
			}
		}
	}
	return out, nil
}

func addsDep(diff []transcript.FileChange, name string) bool {
	for _, f := range diff {
		if slices.ContainsFunc(f.AddedDeps, func(d string) bool { return depName(d) == name }) {
			return true
		}
	}
	return false
}
