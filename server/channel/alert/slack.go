package alert

import (
	"encoding/json"
	"strings"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// The formats of a webhook.
const (
	FormatStandard = "" // Standard Webhooks
	FormatSlack    = state.FormatSlack
)

func checkFormat(format string) error {
	if format == FormatStandard || format == FormatSlack {
		return nil
	}
	return apierr.BadBody("invalid_format", "The format of a webhook must be slack or empty.")
}

// slackBody returns a message as incoming webhooks of Slack take it, and those of Mattermost,
// Rocket.Chat and Discord's /slack addresses. Text from outside can make no link and mention
// nobody: Slack has three control characters.
func slackBody(lines ...string) ([]byte, error) {
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(lines, "\n"))
	return json.Marshal(struct {
		Text string `json:"text"`
	}{text})
}

// body returns an alert in the format of a webhook.
func (u *unit) body(w *state.Workspace, h *state.AlertChannel, f item) ([]byte, error) {
	if h.Format != FormatSlack {
		return f.alert.Body, nil
	}
	return slackBody(append(append([]string{label(w) + f.alert.Summary}, f.details...), u.page(w))...)
}

// label begins a message about a workspace.
func label(w *state.Workspace) string { return "[" + change.Clean(w.Title()) + "] " }

func (s *Service) page(w *state.Workspace) string { return s.BaseURL + "/workspaces/" + w.Slug }
