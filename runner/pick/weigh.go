package pick

import "context"

// weigh makes actions weak that prove less than others: those of a tool on which another
// one that was used builds (React where Next.js is), since that one was the choice.
func (x *Extractor) weigh(actions []action) []action {
	used := map[*target]bool{}
	for _, a := range actions {
		if !a.considered && !a.weak {
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
// were considered, and without commands that ran those that the reader is to run.
func (x *Extractor) shown(ctx context.Context, f *finding, code fences, commands bool) error {
	options, err := x.files(ctx, code.optional)
	if err != nil {
		return err
	}
	for i := range options {
		options[i].considered = true
	}
	f.actions = append(f.actions, options...)
	if commands {
		installs, err := x.commands(ctx, code.commands, nil)
		if err != nil {
			return err
		}
		f.actions = append(f.actions, installs...)
	}
	return nil
}
