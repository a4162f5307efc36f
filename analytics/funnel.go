package analytics

// A Funnel counts the trials of a category whose agents work in a folder, by how far they came
// with a tool: named, picked, installed, builds. Each step is a part of the one before.
type Funnel struct {
	// Trials is the number of these trials: the denominator of every share.
	Trials int          `json:"trials"`
	Tools  []FunnelTool `json:"tools"`
}

// A FunnelTool is one tool in a Funnel, most picked first.
type FunnelTool struct {
	Slug string `json:"slug"`
	// Named counts the trials that name the tool as an option, Picked those that pick it,
	// Installed those that also add its package, or began with it.
	Named     int `json:"named"`
	Picked    int `json:"picked"`
	Installed int `json:"installed"`
	// Ran counts the trials of Installed in which the eval's command ran, Builds those in
	// which it passed.
	Ran    int `json:"ran"`
	Builds int `json:"builds"`

	NamedShare     float64 `json:"namedShare"`
	PickedShare    float64 `json:"pickedShare"`
	InstalledShare float64 `json:"installedShare"`
	BuildsShare    float64 `json:"buildsShare"`
}
