package identity

// A Role is what a member may do in a workspace. Each role includes those below it.
type Role string

// The roles, lowest first. A viewer reads the dashboard and results; an editor also changes
// evals, settings and keys; an owner also members, the plan, and what cannot be undone.
const (
	Viewer Role = "viewer"
	Editor Role = "editor"
	Owner  Role = "owner"
)

// Roles returns the roles, lowest first.
func Roles() []Role { return []Role{Viewer, Editor, Owner} }

// Valid reports whether r is a role.
func (r Role) Valid() bool { return r.rank() > 0 }

// Includes reports whether r may do what needs a role. No role includes an unknown one.
func (r Role) Includes(need Role) bool { return need.Valid() && r.rank() >= need.rank() }

func (r Role) rank() int {
	for i, known := range Roles() {
		if r == known {
			return i + 1
		}
	}
	return 0
}
