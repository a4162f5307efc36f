package alert

import _ "embed"

//go:embed webhooks.md
var webhooks string

// Docs returns what receivers of webhooks need to know, as Markdown.
func Docs() string { return webhooks }
