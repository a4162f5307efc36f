package resource

import "github.com/firstpick/firstpick/analytics/explain"

// An Explanation is why answers of a run did not pick a tool.
type Explanation = explain.Report
