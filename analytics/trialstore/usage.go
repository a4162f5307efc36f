package trialstore

import (
	"context"
	"database/sql"
)

// A Usage is the average cost and time of the valid trials of one agent in one run.
type Usage struct {
	RunID, Agent        string
	Trials              int
	InTokens, OutTokens float64
	Seconds             float64
	// Priced counts trials whose cost is known; CostUSD is their mean, CostVar their
	// sample variance.
	Priced           int
	CostUSD, CostVar float64
}

// Usages returns the usage of trials, by run and agent.
func (s *Store) Usages(ctx context.Context) ([]Usage, error) {
	return collect(ctx, s, "usage", func(rows *sql.Rows) (u Usage, err error) {
		err = rows.Scan(&u.RunID, &u.Agent, &u.Trials, &u.InTokens, &u.OutTokens, &u.Seconds, &u.Priced, &u.CostUSD, &u.CostVar)
		return u, err
	})
}
