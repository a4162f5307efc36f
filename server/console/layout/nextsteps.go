package layout

import (
	"context"

	"github.com/firstpick/firstpick/server/store/identity"
)

// A Step is something to do after the first run of an eval.
type Step struct {
	Name, Means, Link string
	Done              bool
}

// Facts are what a page knows of the steps.
type Facts struct {
	// Real says that a model answered, not only simulated agents.
	Real bool
	// Measure and Schedule are the pages where these steps are done.
	Measure, Schedule string
	// Badge is the public page of the tool; empty for a tool on no public board.
	Badge string
}

// NextSteps returns what an editor can do after the first run, with what is done; nil where
// all is.
func (v *Visit) NextSteps(ctx context.Context, f Facts) ([]Step, error) {
	if !v.Role.Includes(identity.Editor) {
		return nil, nil
	}
	tx, id := v.frame.Agents.DB.Read(), v.Workspace.ID
	members, err := tx.Members(ctx, id)
	if err != nil {
		return nil, err
	}
	invited, err := tx.Invitations(ctx, id)
	if err != nil {
		return nil, err
	}
	schedules, err := tx.Schedules(ctx, id)
	if err != nil {
		return nil, err
	}
	webhooks, err := tx.Channels(ctx, id)
	if err != nil {
		return nil, err
	}
	settings := Under("/workspaces", v.Workspace.Slug, "settings")
	trend := "Runs at fixed times show a trend. A monthly budget limits the cost."
	if !f.Real {
		trend = "After the first run with a real model: runs at fixed times show a trend."
	}
	steps := []Step{
		{Name: "Measure with a real model", Means: "A key of one provider is enough. Simulated answers measure nothing.", Link: f.Measure, Done: f.Real},
		{Name: "Schedule a weekly run", Means: trend, Link: f.Schedule, Done: len(schedules) > 0},
		{Name: "Choose where alerts go", Means: "Slack or a webhook, when the pick rate drops or a rival overtakes.", Link: settings + "#alerts", Done: len(webhooks) > 0},
		{Name: "Invite colleagues", Means: "Viewers read, editors run evals.", Link: settings + "/members", Done: len(members)+len(invited) > 1},
	}
	all := true
	for _, s := range steps {
		all = all && s.Done
	}
	if all {
		return nil, nil
	}
	if f.Badge != "" {
		steps = append(steps, Step{Name: "Put the badge on your site", Means: "The page of your tool has it, with its public pick rate.", Link: f.Badge})
	}
	return steps, nil
}
