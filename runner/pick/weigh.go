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
	used := map[*target]bool{}
	for i, a := range actions {
		if !strong {
			actions[i].weak = false
		}
		if !a.considered && (!a.weak || !strong) {
			used[a.target] = true
		}
	}
	if len(used) < 2 {
		return actions
	}
	for i, a := range actions {
		for t := range used {
			if t != a.target && !t.outside && x.specific(t.slug, a.target.slug) {
				actions[i].weak = true
			}
		}
	}
	return actions
}

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
