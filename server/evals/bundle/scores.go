package bundle

import (
	"encoding/json"

	"github.com/firstpick/firstpick/analytics"
)

// Scores are the boards of a run.
type Scores struct {
	Board  analytics.Board `json:"board"` // of all agents
	Agents []AgentScores   `json:"agents"`
}

// AgentScores are those of one agent alone.
type AgentScores struct {
	Agent string `json:"agent"`
	Money
	Board analytics.Board `json:"board"`
}

// ReadScores returns the scores as values. Their URLs begin with base, an address
// without trailing slash: in the bundle they are paths.
func (b *Bundle) ReadScores(base string) (*Scores, error) {
	var s Scores
	if err := json.Unmarshal(b.scores, &s); err != nil {
		return nil, b.damaged(scoresName, err.Error())
	}
	s.Board = s.Board.WithBase(base)
	for i := range s.Agents {
		s.Agents[i].Board = s.Agents[i].Board.WithBase(base)
	}
	return &s, nil
}
