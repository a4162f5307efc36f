package trialset

import "strings"

// Root is the folder of a snapshot that holds the folders of its evals.
const Root = "trials"

// Folder returns the folder of the trial files of an eval in a snapshot. A slash in the name
// of an eval becomes "~" and a colon "=", which names of evals cannot have.
func Folder(category, eval string) string {
	return Root + "/" + category + "/" + strings.NewReplacer("/", "~", ":", "=").Replace(eval)
}

// ParseFolder returns the category and the eval of a Folder; ok is false for other paths.
func ParseFolder(folder string) (category, eval string, ok bool) {
	parts := strings.Split(folder, "/")
	if len(parts) != 3 || parts[0] != Root || parts[1] == "" || parts[2] == "" {
		return "", "", false
	}
	return parts[1], strings.NewReplacer("~", "/", "=", ":").Replace(parts[2]), true
}

// Outcomes returns those that trials may have, as pick.Kinds of the runner, and the two that
// only lists and filters have.
func Outcomes() []string {
	return []string{"tool", "diy", "other", "none", "ambiguous", "refused", "truncated", Excluded, Unresolved}
}
