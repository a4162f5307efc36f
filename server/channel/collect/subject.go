package collect

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Subject identifies a person by exactly one of the fields that sites send.
type Subject struct{ Email, UserRef, VisitorToken string }

// maxVisitors is the maximum number of visitors of one person. For a name with more,
// only events with the name itself are used.
const maxVisitors = 500

// maxAbout bounds the events that one answer about a person holds.
const maxAbout = 100_000

// names are those under which a person's events are stored.
type names struct {
	visitors, identities []string
}

// visitor is the stored name of a visitor token.
func (s *Service) visitor(workspace, token string) string {
	return hex.EncodeToString(s.Vault.MAC("visitor", workspace, token))
}

// names returns the names of a person: the one that is given and, for an
// identity, the visitors that were this person only.
func (s *Service) names(ctx context.Context, workspace string, who Subject) (names, error) {
	given := 0
	for _, text := range []string{who.Email, who.UserRef, who.VisitorToken} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return names{}, apierr.BadBody("invalid_subject", "Name the person by one of email, userRef and visitorToken.")
	}
	if who.VisitorToken != "" {
		return names{visitors: []string{s.visitor(workspace, who.VisitorToken)}}, nil
	}
	identity, err := event.Identity(who.Email, who.UserRef)
	if err != nil {
		return names{}, apierr.BadBody("invalid_subject", sentence(err))
	}
	if identity == "" {
		return names{}, apierr.BadBody("invalid_subject", "The name of the person is empty.")
	}
	out := names{identities: []string{identity}}
	mine := map[string]bool{}
	if err := s.scan(ctx, workspace, out, func(_ state.CollectedEvent, r *event.Record) error {
		if r.Visitor != "" {
			mine[r.Visitor] = true
		}
		return nil
	}); err != nil || len(mine) == 0 {
		return out, err
	}
	if len(mine) > maxVisitors { // a name that a site gives to many
		return out, nil
	}
	all := slices.Sorted(maps.Keys(mine))
	err = s.scan(ctx, workspace, names{visitors: all}, func(_ state.CollectedEvent, r *event.Record) error {
		if r.Identity != "" && r.Identity != identity {
			delete(mine, r.Visitor) // a device that others use too
		}
		return nil
	})
	out.visitors = slices.Sorted(maps.Keys(mine))
	return out, err
}

func sentence(err error) string { return err.Error() + "." }

// namesAtOnce bounds the names that one statement looks for.
const namesAtOnce = 50

// scan calls do for each stored event that carries one of the names, in order.
func (s *Service) scan(ctx context.Context, workspace string, n names, do func(state.CollectedEvent, *event.Record) error) error {
	var texts [][]byte
	for field, list := range map[string][]string{"visitor": n.visitors, "identity": n.identities} {
		for _, name := range list {
			quoted, err := json.Marshal(name)
			if err != nil {
				return err
			}
			texts = append(texts, []byte(`"`+field+`":`+string(quoted)))
		}
	}
	tx := s.DB.Read()
	last, err := tx.LastSeq(ctx)
	if err != nil {
		return s.fail(err)
	}
	for after := int64(0); after < last; after += state.EventSpan {
		var found []state.CollectedEvent
		for some := range slices.Chunk(texts, namesAtOnce) {
			events, err := tx.EventsHolding(ctx, workspace, after, some)
			if err != nil {
				return s.fail(err)
			}
			found = append(found, events...)
		}
		sorting.Func(found, func(a, b state.CollectedEvent) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, e := range slices.CompactFunc(found, func(a, b state.CollectedEvent) bool { return a.Seq == b.Seq }) {
			var r event.Record
			if err := json.Unmarshal(e.Body, &r); err != nil {
				return apierr.Internal(err)
			}
			if r.Visitor != "" && slices.Contains(n.visitors, r.Visitor) || r.Identity != "" && slices.Contains(n.identities, r.Identity) {
				if err := do(e, &r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// About returns the stored events of a person, oldest first; of
// more than 100,000 events the first.
func (s *Service) About(ctx context.Context, workspace string, who Subject) ([]event.Record, error) {
	n, err := s.names(ctx, workspace, who)
	if err != nil {
		return nil, err
	}
	out := []event.Record{}
	err = s.scan(ctx, workspace, n, func(_ state.CollectedEvent, r *event.Record) error {
		if len(out) < maxAbout {
			out = append(out, *r)
		}
		return nil
	})
	return out, err
}

// eraseAtOnce bounds the events of one transaction, behind which others wait.
const eraseAtOnce = 2000

// Erase empties all events of a person, and returns how many. Reports know of it
// within seconds. When it fails, call it again: it goes on where it stopped.
func (s *Service) Erase(ctx context.Context, workspace string, who Subject) (int, error) {
	n, err := s.names(ctx, workspace, who)
	if err != nil {
		return 0, err
	}
	var others, binding []int64
	if err := s.scan(ctx, workspace, n, func(e state.CollectedEvent, r *event.Record) error {
		if r.Visitor != "" && r.Identity != "" {
			binding = append(binding, e.Seq)
		} else {
			others = append(others, e.Seq)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	// The events that bind visitors to the person go last: a second call has to find them.
	erased := 0
	for seqs := range slices.Chunk(append(others, binding...), eraseAtOnce) {
		if err := s.DB.Write(ctx, func(tx *state.Tx) error {
			return tx.EraseEvents(ctx, workspace, s.Secrets.ID("erasure:"), seqs, s.Now())
		}); err != nil {
			return erased, s.fail(err)
		}
		erased += len(seqs)
	}
	return erased, nil
}
