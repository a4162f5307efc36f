package agentid

import (
	_ "embed"
	"encoding/json"
)

//go:embed data/sources.json
var sources []byte

// A TableSource is the public list that a table of names was made from. The
// command gen writes it.
type TableSource struct {
	Table   string `json:"table"` // file in data
	Source  string `json:"source"`
	Licence string `json:"licence"`
	Version string `json:"version"`
	Date    string `json:"date"` // when it was fetched or released
	SHA256  string `json:"sha256"`
}

// TableSources returns the public lists that the tables of names were made from,
// ordered by table. It panics on damage, which a test would have found.
func TableSources() []TableSource {
	var all []TableSource
	if err := json.Unmarshal(sources, &all); err != nil {
		panic("data/sources.json: " + err.Error())
	}
	return all
}
