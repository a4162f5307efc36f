package agentid

import (
	"context"
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/server/agentid/ranges"
	"github.com/firstpick/firstpick/server/agentid/rdns"
	"github.com/firstpick/firstpick/server/agentid/webbotauth"
)

// A Verdict is how far a visitor's claim is proved. It is stored with events.
type Verdict string

// The verdicts. A name in a User-Agent alone is never verified.
const (
	NoClaim           Verdict = ""                   // the visitor claims to be nobody
	VerifiedSignature Verdict = "verified_signature" // it signed, with a key of its operator
	VerifiedIP        Verdict = "verified_ip"        // its address is one that its operator publishes
	VerifiedDNS       Verdict = "verified_dns"       // the name of its address is its operator's
	IPMismatch        Verdict = "ip_mismatch"        // its operator says where it comes from, and it does not: an impostor
	Unverifiable      Verdict = "unverifiable"       // its operator publishes nothing, or nothing was found out yet
	NoIP              Verdict = "no_ip"              // it could be verified by its address, which was not passed on
	StaleData         Verdict = "stale_data"         // what its operator publishes is not known well enough for that day
	SignedUnknown     Verdict = "signed_unknown"     // it signed, as somebody whom we do not know
)

// A Visit is what a verdict rests on.
type Visit struct {
	UserAgent string
	IP        netip.Addr         // the zero Addr: not passed on
	At        time.Time          // when it came
	Signed    webbotauth.Request // empty: nothing was passed on
}

// An Identity is who came, as far as it can be told.
type Identity struct {
	Agent   Agent
	Verdict Verdict
	// Signature is what became of the signature, whatever the verdict rests on.
	Signature webbotauth.Status
}

// A Verifier tells who came and how far that is proved. Table is needed; without
// one of the others nothing is proved by its means. It is safe for concurrent
// use.
type Verifier struct {
	Table      *Table
	Ranges     *ranges.Set
	Signatures *webbotauth.Verifier
	Names      *rdns.Checker
}

// Verify answers from memory: a name of an address that is not known yet is
// looked up in the background and leaves the visit unverifiable. What is proved
// by a signature or, for a plain browser, by an address, overrules the User-Agent.
func (v *Verifier) Verify(visit Visit) Identity {
	return v.verify(visit, func(ip netip.Addr, suffixes []string) rdns.Result {
		if v.Names == nil {
			return rdns.Failed
		}
		return v.Names.Check(ip, suffixes)
	})
}

// Settle is Verify, but waits for the DNS. It is for background work. A signature
// with a nonce must not be given to both: the second time it is a replay.
func (v *Verifier) Settle(ctx context.Context, visit Visit) Identity {
	return v.verify(visit, func(ip netip.Addr, suffixes []string) rdns.Result {
		if v.Names == nil {
			return rdns.Failed
		}
		return v.Names.Lookup(ctx, ip, suffixes)
	})
}

type lookup func(netip.Addr, []string) rdns.Result

func (v *Verifier) verify(visit Visit, names lookup) Identity {
	visit.IP = visit.IP.WithZone("").Unmap()
	if visit.IP.IsPrivate() || visit.IP.IsLoopback() || visit.IP.IsLinkLocalUnicast() {
		visit.IP = netip.Addr{} // a proxy of the site, whose own address was passed on
	}
	id := Identity{Agent: v.Table.Identify(visit.UserAgent), Signature: webbotauth.Unsigned}
	if v.Signatures != nil {
		res := v.Signatures.Verify(visit.Signed, visit.At)
		id.Signature = res.Status
		if res.Status == webbotauth.Verified {
			id.Agent, id.Verdict = v.signer(id.Agent, res.Agent), VerifiedSignature
			return id
		}
	}
	if id.Agent.Name == "" {
		id.Agent, id.Verdict = v.nameless(id.Agent, visit)
	} else {
		id.Verdict = v.weigh(id.Agent, visit, names)
	}
	if id.Verdict == NoClaim || id.Verdict == Unverifiable {
		switch id.Signature {
		case webbotauth.Unknown:
			id.Verdict = SignedUnknown
			if id.Agent.Class == Browser || id.Agent.Class == None {
				id.Agent.Class = UnknownBot // people do not sign
			}
		case webbotauth.Stale:
			id.Verdict = StaleData
		default: // a signature that proves nothing says nothing either
		}
	}
	return id
}

// signer returns who signed: the agent that the User-Agent names if it is one of
// the signer's, and else the signer.
func (v *Verifier) signer(named Agent, origin string) Agent {
	a, ok := v.Table.Signer(origin)
	if !ok {
		return Agent{Name: origin, Class: UnknownBot, Signer: origin, Source: Shape}
	}
	if named.Operator == a.Operator && named.Operator != "" && !named.Fake {
		return named
	}
	return a
}

// nameless looks whether a plain browser comes from where an agent that hides
// its name is at home.
func (v *Verifier) nameless(a Agent, visit Visit) (Agent, Verdict) {
	if a.Class != Browser || v.Ranges == nil || !visit.IP.IsValid() {
		return a, NoClaim
	}
	for list, hidden := range v.Table.byList {
		if v.Ranges.Check(list, visit.IP, visit.At) == ranges.Inside {
			return *hidden, VerifiedIP
		}
	}
	return a, NoClaim
}

// weigh judges a name by the address. The operator's lists come first; names are
// asked for only where they do not decide.
func (v *Verifier) weigh(a Agent, visit Visit, names lookup) Verdict {
	switch {
	case a.Fake:
		return IPMismatch // nobody sends that name
	case len(a.Lists) == 0 && len(a.DNS) == 0:
		return Unverifiable
	case !visit.IP.IsValid():
		return NoIP
	}
	outside := 0
	for _, list := range a.Lists {
		if v.Ranges == nil {
			break
		}
		switch v.Ranges.Check(list, visit.IP, visit.At) {
		case ranges.Inside:
			return VerifiedIP
		case ranges.Outside:
			outside++
		default: // that list cannot say
		}
	}
	if len(a.Lists) > 0 && outside == len(a.Lists) {
		return IPMismatch
	}
	if len(a.DNS) > 0 {
		switch names(visit.IP, a.DNS) {
		case rdns.Confirmed:
			return VerifiedDNS
		case rdns.Refuted:
			return IPMismatch
		default: // not known yet
		}
	}
	if len(a.Lists) > 0 {
		return StaleData
	}
	return Unverifiable
}
