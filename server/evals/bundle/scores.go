package bundle

import (
	"encoding/json"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

// ReadScores returns the scores as values. Their URLs begin with base, an address
// without trailing slash: in the bundle they are paths.
func (b *Bundle) ReadScores(base string) (*format.Scores, error) {
	var s format.Scores
	if err := json.Unmarshal(b.scores, &s); err != nil {
		return nil, b.damaged(format.ScoresName, err.Error())
	}
	s.Board = s.Board.WithBase(base)
	for i := range s.Agents {
		s.Agents[i].Board = s.Agents[i].Board.WithBase(base)
	}
	return &s, nil
}
