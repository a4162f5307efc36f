package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/public/tools"
)

// These headers carry the address of the caller and the id of the request through the
// SDK. Values of clients under their names are overwritten.
const (
	clientHeader  = "X-Firstpick-Client"
	requestHeader = "X-Firstpick-Request"
)

// A caller is who calls a tool, and how.
type caller struct {
	tool          string
	arguments     json.RawMessage
	via           string
	ip            netip.Addr
	authorization string
	userAgent     string
	request       string // its id; of calls dispatched by the SDK
}

// callerOf is who makes a call dispatched by the SDK. Programs of the newer
// protocol say in each call who they are; older ones only in the header that every
// program sends.
func callerOf(req *mcp.CallToolRequest) caller {
	c := senderOf(req.Extra)
	name := c.userAgent
	if info := req.ClientInfo(); info != nil && info.Name != "" {
		name = info.Name
	}
	c.tool, c.arguments, c.via = req.Params.Name, req.Params.Arguments, via(name)
	return c
}

// senderOf returns what the headers of a request say about its caller.
func senderOf(extra *mcp.RequestExtra) caller {
	header := http.Header{}
	if extra != nil && extra.Header != nil {
		header = extra.Header
	}
	ip, _ := netip.ParseAddr(header.Get(clientHeader)) // ours
	return caller{ip: ip, authorization: header.Get("Authorization"), userAgent: header.Get("User-Agent"), request: header.Get(requestHeader)}
}

// answer answers a call.
func (h *Handler) answer(ctx context.Context, c caller) tools.Answer {
	if wait, ok := h.allow(c.ip); !ok {
		return wait
	}
	if c.tool == tools.GetChanges && h.Changes != nil {
		return h.Changes(ctx, c.request, c.via, c.arguments)
	}
	if tools.IsOwn(c.tool) {
		return h.Evals.answer(ctx, c)
	}
	if !tools.OfSite(c.tool) {
		if h.Traffic == nil {
			return tools.Fail(tools.Failure{Code: "temporarily_unavailable", Description: "This server does not answer this tool."})
		}
		return h.Traffic(ctx, c.request, c.authorization, c.arguments)
	}
	s := h.Current()
	if s == nil {
		return tools.Fail(tools.Failure{Code: "temporarily_unavailable", Description: "No snapshot is published yet. Try again in a few seconds.", RetryAfter: 5})
	}
	return tools.Call{Tool: c.tool, Arguments: c.arguments, Via: c.via}.Answer(s)
}

// allow counts a call, and answers one that is too much.
func (h *Handler) allow(ip netip.Addr) (tools.Answer, bool) {
	if h.LimitsOff {
		return tools.Answer{}, true
	}
	_, after, ok := h.calls.Allow(ip, h.Now())
	if ok {
		return tools.Answer{}, true
	}
	return tools.Fail(tools.Failure{
		Code: "rate_limited", RetryAfter: after,
		Description: "Too many calls from this address. Wait as many seconds as retry_after says, then continue.",
	}), false
}
