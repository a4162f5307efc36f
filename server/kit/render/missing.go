package render

// Missing is the data of a 404 page.
type Missing struct {
	Text string // the missing page
	Near []Link // pages with similar names
}

// A MissingRenderer renders 404 pages.
type MissingRenderer struct{ layout *Layout }

// NewMissingRenderer parses the templates.
func NewMissingRenderer() *MissingRenderer { return &MissingRenderer{newLayout()} }

// Render renders the page.
func (r *MissingRenderer) Render(m Missing) ([]byte, error) {
	return r.layout.Page("missing", Head{Title: "Not found", Description: "There is no page at this address.", NoIndex: true}, m)
}
