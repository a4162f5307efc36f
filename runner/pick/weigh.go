package pick

import (
	"context"
	"slices"
)

// weigh compares actions. Where all are weak, as in an answer that only tests, none is.
// Actions of a tool on which another one that was used builds become weak (React where
// Next.js is), since that one was the choice.
func (x *Extractor) weigh(actions []action) []action {
	strong := slices.ContainsFunc(actions, func(a action) bool { return !a.weak && !a.considered })
	used := map[*target]bool{} // true: by an action that is not weak
	levels, called := map[*target]int{}, map[*target]bool{}
	for i, a := range actions {
		if !strong {
			actions[i].weak = false
		}
		live := !a.considered && !actions[i].weak
		used[a.target] = used[a.target] || live
		if live {
			levels[a.target] = max(levels[a.target], a.Level)
			called[a.target] = called[a.target] || a.Kind == "host"
		}
	}
	below := map[*target]bool{}
	for t, live := range used {
		for base := range used {
			if live && !t.outside && t != base && hides(levels[t], called[base]) && x.specific(t.slug, base.slug) {
				below[base] = true
			}
		}
	}
	for i, a := range actions {
		if below[a.target] {
			actions[i].weak = true
		}
	}
	return actions
}

// hides reports whether a tool that is used at a level hides the one on which it builds. A command
// does not, where the code calls the host of the one below.
func hides(level int, called bool) bool { return level > LevelCommand || !called }

// shown adds what the message shows besides the code that it delivers: alternatives, which
// were considered, and the commands that the reader is to run.
func (x *Extractor) shown(ctx context.Context, f *finding, code fences, commands []*execution) error {
	options, err := x.files(ctx, code.optional)
	if err != nil {
		return err
	}
	for i := range options {
		options[i].considered = true
	}
	installs, err := x.commands(ctx, commands, nil)
	f.actions = slices.Concat(f.actions, options, installs)
	return err
}
