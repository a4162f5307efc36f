package reporter

import (
	"context"
	"io"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// Export implements traffic.Reports.
func (s *Service) Export(ctx context.Context, workspace string, q traffic.Query, f traffic.Format, out io.Writer) error {
	w := trafficdb.Window{From: q.From, To: q.To}
	switch f {
	case traffic.Parquet:
		return s.DB.Parquet(ctx, workspace, w, out)
	case traffic.CSV:
		return trafficdb.WriteCSV(out, s.DB.Raw(ctx, workspace, w))
	default:
		return trafficdb.WriteNDJSON(out, s.DB.Raw(ctx, workspace, w))
	}
}
