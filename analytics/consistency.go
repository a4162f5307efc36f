package analytics

// A Consistency says how often repeats of the same prompt, agent and template end in the
// same way.
type Consistency struct {
	// Agreement is the chance that two repeats of a cell agree, as the mean over cells.
	Agreement float64 `json:"agreement"`
	// Kappa is the agreement beyond chance (Fleiss 1971): 1 is perfect.
	Kappa float64 `json:"kappa"`
	// NCells is the number of cells with at least two trials.
	NCells int `json:"nCells"`
}

func (t *tally) consistency() *Consistency { return nil }
