package setup

import "slices"

// Placeholder is the placeholder of the service's address in guides and code.
const Placeholder = "https://firstpick.example"

// A Stack is something that the collector can be installed in.
type Stack struct {
	Slug  string // in /setup/{slug}.md
	Title string
	// Summary describes the recipe in a sentence.
	Summary string
	Way     Way
	// Status is true if touches hold the status of the response.
	Status bool
	Clues  []Clue
	Files  []File
	// Folder describes where the files go; empty where their paths are from the project's root.
	Folder string
	// Remove describes how to undo it.
	Remove string
}

// A Way is how events come from a stack to the service.
type Way string

// The ways.
const (
	ByCode  Way = "code"  // the site's own code sends them
	ByDrain Way = "drain" // a platform sends its logs to an address
	ByLog   Way = "log"   // a program reads access logs and sends them
)

// A File is written into a project.
type File struct {
	Path string // in the project, with slashes
	code string // in code/
}

// A Clue detects a stack by a file of a project's folder. All set fields must match.
type Clue struct {
	Name string // a pattern of path.Match, of one name
	Dep  string // a package.json depends on it
	Has  string // a regular expression that the file holds a match of
}

// Find returns the stack of a slug.
func Find(slug string) (*Stack, bool) {
	all := Stacks()
	i := slices.IndexFunc(all, func(s Stack) bool { return s.Slug == slug })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// Slugs returns those of all stacks, in their order.
func Slugs() []string {
	var all []string
	for _, s := range Stacks() {
		all = append(all, s.Slug)
	}
	return all
}
