package agentid

import (
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/rdns"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

// A Verdict is how far a visitor's claim is proved. It is stored with events.
type Verdict string

// The verdicts. A name in a User-Agent alone is never verified.
const (
	NoClaim           Verdict = ""                   // the visitor names no agent
	VerifiedSignature Verdict = "verified_signature" // it signed, with a key of its operator
	VerifiedIP        Verdict = "verified_ip"        // its address is one that its operator publishes
	VerifiedDNS       Verdict = "verified_dns"       // the name of its address is its operator's
	IPMismatch        Verdict = "ip_mismatch"        // not an address of its operator: spoofed
	Unverifiable      Verdict = "unverifiable"       // its operator publishes nothing or not all, its list was never seen, or nothing was found out yet
	NoIP              Verdict = "no_ip"              // it could be verified by its address, which was not passed on
	StaleData         Verdict = "stale_data"         // not in the last known list, or the list or its signer's keys are too old to decide
	SignedUnknown     Verdict = "signed_unknown"     // it signed, as somebody whom we do not know
)

// A Reason explains a verdict. It is stored with events.
type Reason string

// The reasons.
const (
	NoReason       Reason = ""
	OldList        Reason = "old_list"        // the list that decided was last seen more than 14 days before
	OperatorList   Reason = "operator_list"   // the address is in the list of another agent of the operator
	OutsideList    Reason = "outside_list"    // the address is in no list, and the operator uses others as well
	CDNAddress     Reason = "cdn_address"     // the address is of a CDN's edge: the site must send the client's
	PrivateAddress Reason = "private_address" // the address is of a private network: the site must send the client's
)

// A Visit is the input of a verdict.
type Visit struct {
	UserAgent string
	IP        netip.Addr         // the zero Addr: not passed on
	At        time.Time          // of the visit
	Signed    webbotauth.Request // empty: nothing was passed on
	Markdown  bool               // it prefers text/markdown to text/html
}

// An Identity is the identified visitor with its verdict.
type Identity struct {
	Agent   Agent
	Verdict Verdict
	Proof   Proof
	// Signature is the status of the signature, also when it did not decide the verdict.
	Signature webbotauth.Status
}

// A Proof is the evidence of a verdict by address.
type Proof struct {
	Reason Reason
	List   string    // of package ranges that the address is in
	AsOf   time.Time // when the list that decided was last seen, if it is old
}

// A Verifier identifies visitors and verifies their claims. Table is required; each
// other field adds a method of verification. It is safe for concurrent use.
type Verifier struct {
	Table      *Table
	Ranges     *ranges.Set
	Signatures *webbotauth.Verifier
	Names      *rdns.Checker
}

// Verify uses cached data only: an address without a cached name is looked up in the
// background, and the visit is unverifiable. Proof by a signature or, for a browser, by
// an address overrides the User-Agent.
func (v *Verifier) Verify(visit Visit) Identity {
	visit.IP = visit.IP.WithZone("").Unmap()
	id := Identity{Agent: *v.Table.find(visit.UserAgent), Signature: webbotauth.Unsigned}
	if v.Signatures != nil {
		res := v.Signatures.Verify(visit.Signed, visit.At)
		id.Signature = res.Status
		if res.Status == webbotauth.Verified {
			id.Agent, id.Verdict = v.signer(id.Agent, res.Agent), VerifiedSignature
			return id
		}
	}
	if id.Agent.Name == "" {
		v.nameless(&id, &visit)
	} else {
		v.weigh(&id, &visit)
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
		default: // a signature without proof is ignored
		}
	}
	return id
}

// signer returns who signed: the agent that the User-Agent names if it is one of
// the signer's, and else the signer.
func (v *Verifier) signer(named Agent, origin string) Agent {
	a, ok := v.Table.Signer(origin)
	if !ok {
		return Agent{Name: origin, Class: UnknownBot, Signers: []string{origin}, Source: Shape}
	}
	if named.Operator == a.Operator && named.Operator != "" && !named.Fake {
		return named
	}
	return a
}

// nameFor is how long a list names browsers that come from it. Clouds give
// addresses to others: an old list must not make agents of them.
const nameFor = 90 * 24 * time.Hour

// nameless identifies a browser from an address of an agent that hides its name, or one
// that accepts Markdown.
func (v *Verifier) nameless(id *Identity, visit *Visit) {
	if id.Agent.Class != Browser && id.Agent.Class != None {
		return
	}
	if id.Agent.Class == Browser && v.Ranges != nil && visit.IP.IsValid() {
		for _, h := range v.Table.hidden {
			f := v.Ranges.Check(h.list, visit.IP, visit.At)
			if f.Result == ranges.Inside && visit.At.Sub(f.AsOf).Abs() <= nameFor {
				id.Agent, id.Verdict, id.Proof = *h.agent, VerifiedIP, inside(h.list, f)
				return
			}
		}
	}
	if visit.Markdown {
		id.Agent = unnamed()
	}
}

// UnnamedCodingAgent is the name of coding agents that send a browser's
// User-Agent and prefer text/markdown, which no browser does. OpenCode and Kilo
// Code are among them.
const UnnamedCodingAgent = "Unnamed coding agent"

func unnamed() Agent {
	return Agent{Name: UnnamedCodingAgent, Family: UnnamedCodingAgent, Class: CodingAgent, Source: Shape}
}

// inside is the proof by a list that an address is in.
func inside(list string, f ranges.Finding) Proof {
	p := Proof{List: list}
	if f.Old {
		p.Reason, p.AsOf = OldList, f.AsOf
	}
	return p
}

// weigh judges a name by the address. The operator's lists come first; names are
// asked for only where they do not decide.
func (v *Verifier) weigh(id *Identity, visit *Visit) {
	a := &id.Agent
	private := visit.IP.IsPrivate() || visit.IP.IsLinkLocalUnicast()
	switch {
	case a.Fake:
		id.Verdict = IPMismatch // no agent sends that name
		return
	case private || visit.IP.IsLoopback() || !visit.IP.IsValid():
		if len(a.Lists) == 0 && len(a.DNS) == 0 {
			id.Verdict = Unverifiable
			return
		}
		id.Verdict = NoIP
		if private { // a proxy of the site; loopback is somebody who tries it out
			id.Proof.Reason = PrivateAddress
		}
		return
	}
	outside := v.lists(id, visit)
	if id.Verdict != NoClaim {
		return
	}
	if len(a.DNS) > 0 {
		found := rdns.Failed
		if v.Names != nil {
			found = v.Names.Check(visit.IP, a.DNS)
		}
		switch found {
		case rdns.Confirmed:
			id.Verdict, id.Proof = VerifiedDNS, Proof{}
			return
		case rdns.Refuted:
			if !a.DNSOpen {
				id.Verdict, id.Proof = IPMismatch, Proof{}
				return
			}
		default: // not known yet
		}
	}
	id.Verdict = Unverifiable
	switch {
	case outside:
		id.Proof.Reason = OutsideList
	case !id.Proof.AsOf.IsZero():
		id.Verdict = StaleData
		id.Proof.Reason = OldList
	}
}

// lists judges an address by lists: those of the agent, then those of the other
// agents of its operator, then those of CDNs. It leaves the verdict open where
// they do not decide, and reports whether the address is outside all of the
// agent's.
func (v *Verifier) lists(id *Identity, visit *Visit) (outside bool) {
	a := &id.Agent
	if v.Ranges == nil {
		return false
	}
	n := 0
	for _, list := range a.Lists {
		f := v.Ranges.Check(list, visit.IP, visit.At)
		switch f.Result {
		case ranges.Inside:
			id.Verdict, id.Proof = VerifiedIP, inside(list, f)
			return false
		case ranges.Outside:
			n++
		case ranges.Stale:
			if f.AsOf.After(id.Proof.AsOf) {
				id.Proof.AsOf = f.AsOf
			}
		default: // never seen
		}
	}
	for _, list := range v.Table.byOperator[a.Operator] {
		if f := v.Ranges.Check(list, visit.IP, visit.At); f.Result == ranges.Inside {
			id.Verdict, id.Proof = VerifiedIP, inside(list, f)
			if id.Proof.Reason == NoReason {
				id.Proof.Reason = OperatorList
			}
			return false
		}
	}
	outside = len(a.Lists) > 0 && n == len(a.Lists)
	if len(a.Lists) == 0 && len(a.DNS) == 0 {
		id.Verdict = Unverifiable
		return false
	}
	if cdn, ok := v.Ranges.CDN(visit.IP, visit.At); ok {
		id.Verdict, id.Proof = NoIP, Proof{Reason: CDNAddress, List: cdn}
		return false
	}
	if outside && !a.ListsOpen {
		id.Verdict = IPMismatch
	}
	return outside
}
