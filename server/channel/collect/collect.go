// Package collect stores the events that sites send: it checks the key, turns every
// event into the record that is stored, and acknowledges it only then. Reports are
// computed elsewhere, from the stored events.
package collect

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Config holds the dependencies of a Service. All fields are required.
type Config struct {
	DB      *state.DB
	Vault   *secret.Vault
	Secrets secret.Source
	Log     *slog.Logger
	Now     func() time.Time
	// Identify fills in who it was: agent, class, verdict, evidence.
	Identify func(in *event.Input, r *event.Record)
}

// A Service authenticates senders and stores their events.
type Service struct {
	Config
	writer *Writer
	keys   keyring
}

// New starts a service; Close ends it.
func New(cfg Config) *Service {
	return &Service{Config: cfg, writer: NewWriter(cfg.DB), keys: keyring{keys: map[string]remembered{}}}
}

// Waiting returns how many events wait to be stored.
func (s *Service) Waiting() int64 { return s.writer.waiting.Load() }

// Close stores queued events and stops the service.
func (s *Service) Close() { s.writer.Close() }

// A Receipt is the outcome of a request.
type Receipt struct {
	Accepted, Duplicates int
	// People is how many touches of a log were discarded: human traffic that no
	// assistant referred.
	People int
	// Reused is how many duplicates differ from the stored event of their id.
	Reused int
	// Edges counts the touches whose address is not the client's, by why (CDNAddress,
	// PrivateAddress).
	Edges      map[agentid.Reason]int
	Records    []event.Record // of a dry run: the events that it would store
	ReceivedAt time.Time
	Left       int64 // events that the workspace may send yet
}

// Take stores the inputs of a batch. When it returns without error they are on
// disk. It fails with a 429 over the quota, and with a 503 while the store
// is down.
func (s *Service) Take(ctx context.Context, key *Key, batch *event.Batch, now time.Time) (*Receipt, error) {
	out := &Receipt{ReceivedAt: now, Left: key.left(), Edges: map[agentid.Reason]int{}}
	records := make([]event.Record, 0, len(batch.Inputs))
	for i := range batch.Inputs {
		in := &batch.Inputs[i]
		r := in.Record(func(token string) string { return s.visitor(key.WorkspaceID, token) })
		s.Identify(in, &r)
		if reason := agentid.Reason(r.VerdictReason); reason == agentid.CDNAddress || reason == agentid.PrivateAddress {
			out.Edges[reason]++
		}
		if batch.Native && ofPerson(&r) {
			out.People++
			continue
		}
		records = append(records, r)
	}
	if batch.DryRun {
		out.Records = records
		return out, nil
	}
	if int64(len(records)) > out.Left {
		return nil, overQuota(key, now)
	}
	events := make([]state.CollectedEvent, len(records))
	for i := range records {
		r := &records[i]
		if r.ID == "" {
			r.ID = s.Secrets.ID("")
		}
		body, err := json.Marshal(r)
		if err != nil {
			return nil, apierr.Internal(err)
		}
		events[i] = state.CollectedEvent{WorkspaceID: key.WorkspaceID, ID: r.ID, ReceivedAt: now, Backfill: r.Backfill, Body: body}
		if r.OrderID != "" {
			events[i].OrderKey = s.orderKey(key.WorkspaceID, r)
		}
	}
	fresh, err := s.writer.Store(ctx, events)
	if err != nil {
		return nil, s.fail(err)
	}
	s.noteUse(ctx, key, now)
	var again []event.Record
	for i, first := range fresh {
		if first {
			out.Accepted++
		} else {
			out.Duplicates++
			again = append(again, records[i])
		}
	}
	out.Reused = s.reused(ctx, key.WorkspaceID, again)
	out.Left = key.Left - key.spent.Add(int64(out.Accepted))
	return out, nil
}

// orderKey names an order for as long as its workspace is there. It outlives the
// event, so it must not reveal whose the order was.
func (s *Service) orderKey(workspace string, r *event.Record) string {
	return hex.EncodeToString(s.Vault.MAC("order", workspace, r.Kind, r.OrderID)[:16])
}

// ofPerson reports whether a touch is of a person whom no assistant referred. A log has
// no names of visitors, so such a touch could never count for anything.
func ofPerson(r *event.Record) bool {
	class := agentid.Class(r.Class)
	return (class == agentid.Browser || class == agentid.None) && r.Evidence == "" && !r.Markdown
}

// maxCompared bounds the duplicates of a request that are looked at.
const maxCompared = 100

// reused counts the duplicates that differ from the stored event with the same id. The
// count is for a warning, so failed look-ups are ignored.
func (s *Service) reused(ctx context.Context, workspace string, again []event.Record) int {
	if len(again) == 0 {
		return 0
	}
	again = again[:min(len(again), maxCompared)]
	ids := make([]string, len(again))
	for i := range again {
		ids[i] = again[i].ID
	}
	stored, err := s.DB.Read().EventBodies(ctx, workspace, ids)
	if err != nil {
		return 0
	}
	n := 0
	for i := range again {
		var before event.Record
		body := stored[again[i].ID]
		if body == nil || json.Unmarshal(body, &before) != nil || before.Type == "erased" {
			continue // a duplicate by its order, or erased
		}
		if !same(&before, &again[i]) {
			n++
		}
	}
	return n
}

// same reports whether two events have the same content; fields that depend on the
// time or on our lists may differ.
func same(a, b *event.Record) bool {
	return a.Type == b.Type && a.Visitor == b.Visitor && a.Identity == b.Identity && a.Host == b.Host && a.Path == b.Path && a.Status == b.Status &&
		a.UserAgent == b.UserAgent && a.Kind == b.Kind && a.Value == b.Value && a.Currency == b.Currency && a.OrderID == b.OrderID
}

func overQuota(key *Key, now time.Time) *apierr.Error {
	e := apierr.RateLimited(int(24*time.Hour/time.Second) - int(now.Unix()%86400))
	e.Description = "The workspace has used its daily quota of events. Send the rest after midnight UTC."
	if !key.Claimed() {
		e.Description = "An unclaimed workspace may send 100,000 events in all. Claim it: POST /api/agent/identity/claim with the claim_token and the user's email."
	}
	return e
}

// Received reports whether a workspace has received an event.
func (s *Service) Received(ctx context.Context, workspace string) (bool, error) {
	c, err := s.DB.Read().Collected(ctx, workspace, s.Now())
	return c.Total > 0, s.fail(err)
}

// First returns the oldest stored event of a workspace; nil before the first one.
func (s *Service) First(ctx context.Context, workspace string) (*event.Record, error) {
	body, err := s.DB.Read().FirstEvent(ctx, workspace)
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	var r event.Record
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return &r, nil
}

// Health is how a workspace's collecting goes.
func (s *Service) Health(ctx context.Context, key *Key) (state.Collected, error) {
	c, err := s.DB.Read().Collected(ctx, key.WorkspaceID, s.Now())
	return c, s.fail(err)
}

func (s *Service) fail(err error) error {
	if errors.Is(err, ErrBusy) {
		return apierr.StoreDown(err)
	}
	return s.DB.APIError(err)
}
