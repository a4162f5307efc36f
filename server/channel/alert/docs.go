package alert

import (
	_ "embed"
	"strings"

	"github.com/firstpick/firstpick/server/channel/change"
)

//go:embed webhooks.md
var webhooks string

// Docs returns the documentation of webhooks and of every type of alert, as Markdown.
func Docs() string { return strings.Replace(webhooks, "{{alerts}}", change.Docs(), 1) }
