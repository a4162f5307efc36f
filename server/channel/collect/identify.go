package collect

import (
	"cmp"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/event"
)

// An Identifier identifies the visitor of an event, and the evidence for crediting an
// assistant. It uses only data in memory.
type Identifier struct {
	Who *agentid.Verifier
}

// Identify fills in the agent, the verdict and the evidence of a touch. The address and
// the signature are used here and stored nowhere.
func (i *Identifier) Identify(in *event.Input, r *event.Record) {
	if in.Type != event.Touch {
		return
	}
	id := i.Who.Verify(agentid.Visit{
		UserAgent: in.UserAgent, IP: in.IP, At: in.At,
		Signed: webbotauth.Request{
			Signature: in.Signature, SignatureInput: in.SignatureInput, SignatureAgent: in.SignatureAgent,
			Method: in.Method, Authority: in.Host, Path: in.Path,
		},
		Markdown: in.PrefersMarkdown(),
	})
	agent := id.Agent
	if in.MCPClient != "" && id.Verdict != agentid.VerifiedSignature && !agent.Class.Headline() {
		agent = i.Who.Table.MCPClient(in.MCPClient) // the client's own name is more specific than its library's
	}
	if !agent.Class.Headline() && i.Who.Table.Probe(in.Path) {
		agent.Class = agentid.ScannerProbe
	}
	r.Agent, r.Family, r.Operator, r.Class, r.Verdict = agent.Name, agent.Family, agent.Operator, string(agent.Class), string(id.Verdict)
	r.VerdictReason, r.VerdictList = string(id.Proof.Reason), id.Proof.List
	if !id.Proof.AsOf.IsZero() {
		r.VerdictListDate = id.Proof.AsOf.Format(time.DateOnly)
	}
	if evidence, family := i.evidence(in, &agent, id.Verdict); evidence != "" {
		r.Evidence, r.Family = evidence, cmp.Or(family, r.Family)
	}
}

// evidence returns the strongest that there is for crediting an assistant, and
// which.
func (i *Identifier) evidence(in *event.Input, agent *agentid.Agent, verdict agentid.Verdict) (evidence, family string) {
	t := i.Who.Table
	tagged, isTag := t.UTMSource(in.UTMSource)
	if via, ok := t.UTMSource(in.Via); !isTag && ok {
		tagged, isTag = via, true
	}
	if !isTag && ourTag(in.Via) {
		isTag = true
	}
	acts := agent.Class == agentid.UserFetch || agent.Class == agentid.AgenticBrowser || agent.Class == agentid.CodingAgent
	switch referred, isReferred := t.Referrer(in.ReferrerHost, in.ReferrerPath); {
	case verdict == agentid.VerifiedSignature && acts:
		return attribution.Signature, agent.Family
	case isTag:
		return attribution.Tag, cmp.Or(tagged, referred)
	case isReferred:
		return attribution.Referrer, referred
	case in.Claimed != "":
		if named, ok := t.Named(in.Claimed); ok {
			return attribution.Declared, named.Family
		}
		return attribution.Declared, ""
	case acts && in.VisitorToken != "": // the site saw this agent act for a visitor; its name is a claim
		return attribution.Declared, agent.Family
	default:
		return "", ""
	}
}

// ourTag reports whether a value of via is one that our guides have sites write: on
// links for agents, and of MCP tools (mcp, mcp-claude ...).
func ourTag(via string) bool {
	switch via {
	case "mcp", "webmcp", "llms-txt", "md", "openapi":
		return true
	}
	return strings.HasPrefix(via, "mcp-") || strings.HasSuffix(via, "-mcp")
}
