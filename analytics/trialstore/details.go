package trialstore

import (
	"context"
	"database/sql"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/pick"
)

// Details returns the counts of runs, by category. No runs means the current ones.
func (s *Store) Details(ctx context.Context, runs []string) (map[string]analytics.Details, error) {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return nil, err
	}
	out := map[string]analytics.Details{}
	_, err = collect(ctx, s, "details", func(rows *sql.Rows) (struct{}, error) {
		var category string
		var d analytics.Details
		err := rows.Scan(&category, &d.AskedUser, &d.FollowedIncumbent)
		out[category] = d
		return struct{}{}, err
	}, ids)
	return out, err
}

// detailNames returns the value of column details.
func detailNames(r pick.Result) string {
	var names []string
	for _, d := range r.Details {
		names = append(names, string(d.Name))
	}
	return joinList(names)
}
