package tools

// A ChangesQuery has the arguments of getChanges.
type ChangesQuery struct {
	Since    string // a day as YYYY-MM-DD, or the id of a snapshot
	Category string // empty for all
	Limit    int
}

// The rows of getChanges.
const (
	ChangeRows    = 20
	MaxChangeRows = 100
)

// ReadChanges parses the arguments of getChanges, or returns the error response.
func ReadChanges(raw []byte) (ChangesQuery, *Answer) {
	a := read(raw, "since", "category", "limit")
	q := ChangesQuery{a.text("since", true, 20), a.slug("category"), a.number("limit", ChangeRows, MaxChangeRows)}
	if len(a.issues) > 0 {
		wrong := invalid(a.issues)
		return q, &wrong
	}
	return q, nil
}

// Reply is the answer of a value.
func Reply(v any) Answer { return Answer{JSON: encode(v)} }

// Tag marks the address of a page with who led there; see Call.
func Tag(url, via string) string { return Call{Via: via}.tag(url) }
