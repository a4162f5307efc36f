package layout

// An Erase is a form that deletes for good, after its reader typed a confirmation. The
// template erase-form shows it.
type Erase struct {
	ID        string // of the form's elements; unique on the page
	Action    string
	FormToken string
	Title     string
	Deletes   []string // what is deleted
	Confirm   string   // the text to type
}

// ConfirmField is the field of the typed confirmation.
const ConfirmField = "confirm"
