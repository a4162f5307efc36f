package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// check looks at a body that is valid JSON, before the SDK does, which explains mistakes
// in terms of its own types and rounds numbers of ids. It returns nil for messages of
// the protocol, whether or not their methods exist.
func check(body []byte) *rpcError {
	var messages []json.RawMessage
	if json.Unmarshal(body, &messages) != nil || messages == nil {
		return checkMessage(body)
	}
	if len(messages) == 0 {
		return invalid("the batch is empty")
	}
	if len(messages) > maxBatch {
		return invalid(fmt.Sprintf("a batch has at most %d messages", maxBatch))
	}
	for i, m := range messages {
		if e := checkMessage(m); e != nil {
			e.id, e.Message = nil, fmt.Sprintf("message %d of the batch: %s", i+1, e.Message)
			return e
		}
	}
	return nil
}

// checkMessage checks one message (JSON-RPC 2.0, 4 and 5).
func checkMessage(raw json.RawMessage) *rpcError {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return invalid("a message must be an object; it is " + reqbody.Kind(raw))
	}
	id, hasID := m["id"]
	if hasID && !validID(id) {
		return invalid("id must be a string or an integer from -(2^53 - 1) to 2^53 - 1, written without fraction or exponent")
	}
	fail := func(why string) *rpcError {
		e := invalid(why)
		e.id = id
		return e
	}
	if string(bytes.TrimSpace(m["jsonrpc"])) != `"2.0"` {
		return fail("jsonrpc must be the string 2.0")
	}
	method, isRequest := m["method"]
	_, isResult := m["result"]
	failure, isFailure := m["error"]
	switch {
	case isRequest && reqbody.Kind(method) != "a string":
		return fail("method must be a string; it is " + reqbody.Kind(method))
	case isRequest:
		return checkParams(method, m["params"], id, hasID)
	case !isResult && !isFailure:
		return fail("a message needs a method, or it is a response and needs a result or an error")
	case !hasID || string(id) == "null":
		return fail("a response needs the id of its request")
	case isFailure && reqbody.Kind(failure) != "an object":
		return fail("error must be an object; it is " + reqbody.Kind(failure))
	}
	return nil
}

// validID reports whether an id comes back as it was sent: null is for the SDK, which
// knows what may be without an id.
func validID(raw json.RawMessage) bool {
	switch reqbody.Kind(raw) {
	case "a string", "null":
		return true
	case "a number":
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return err == nil && -1<<53 < n && n < 1<<53 && string(raw) != "-0"
	default:
		return false
	}
}

// checkParams checks the members of params that the protocol has for a method. Nobody
// answers a notification, so those are left to the SDK.
func checkParams(method, params, id json.RawMessage, hasID bool) *rpcError {
	if !hasID || len(params) == 0 || string(params) == "null" {
		return nil
	}
	var name string
	if json.Unmarshal(method, &name) != nil {
		return nil
	}
	known := paramsOf(name)
	if known == nil {
		return nil
	}
	e := &rpcError{Code: invalidParams, id: id}
	if kind := reqbody.Kind(params); kind != "an object" {
		e.Message = "params must be an object; it is " + kind
		return e
	}
	for _, p := range append(known, param{"_meta", "an object"}) {
		for _, m := range find("params", params, strings.Split(p.path, ".")) {
			if kind := reqbody.Kind(m.value); kind != p.kind && kind != "null" {
				e.Message = m.path + " must be " + p.kind + "; it is " + kind
				return e
			}
		}
	}
	return nil
}

// A param is a member of params, by its path; * matches all members.
type param struct{ path, kind string }

// paramsOf returns what a method has in params; nil for one that is not known here.
func paramsOf(method string) []param {
	const text, object = "a string", "an object"
	switch method {
	case "initialize":
		return []param{{"protocolVersion", text}, {"capabilities", object}, {"clientInfo", object}, {"clientInfo.name", text}, {"clientInfo.version", text}}
	case "tools/call": // the arguments are for the tool to check
		return []param{{"name", text}}
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return []param{{"cursor", text}}
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return []param{{"uri", text}}
	case "prompts/get":
		return []param{{"name", text}, {"arguments", object}, {"arguments.*", text}}
	case "completion/complete":
		return []param{
			{"ref", object}, {"ref.type", text}, {"ref.name", text}, {"ref.uri", text}, {"argument", object}, {"argument.name", text}, {"argument.value", text},
			{"context", object}, {"context.arguments", object}, {"context.arguments.*", text},
		}
	case "ping":
		return []param{}
	case "logging/setLevel":
		return []param{{"level", text}}
	}
	return nil
}

// inProtocol reports whether a server knows a method or notification of a client.
func inProtocol(method string) bool {
	switch method {
	case "server/discover", "subscriptions/listen",
		"notifications/cancelled", "notifications/initialized", "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return paramsOf(method) != nil
}

// A member is a value with its path.
type member struct {
	path  string
	value json.RawMessage
}

// find returns the values at a path below a value. Names that the caller chose stand as
// * in their own paths.
func find(at string, value json.RawMessage, path []string) []member {
	if len(path) == 0 {
		return []member{{at, value}}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	var out []member
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == path[0] || path[0] == "*" {
			out = append(out, find(at+"."+path[0], members[name], path[1:])...)
		}
	}
	return out
}

// explained replaces the messages in which the SDK names its own types: a
// member of params has a type that the method does not take.
func explained(body []byte) []byte {
	if !bytes.Contains(body, []byte("unmarshaling ")) {
		return body
	}
	var one map[string]json.RawMessage
	var batch []json.RawMessage
	switch {
	case json.Unmarshal(body, &one) == nil:
		return explainedMessage(body, one)
	case json.Unmarshal(body, &batch) == nil:
		for i, m := range batch {
			batch[i] = explained(m)
		}
		if out, err := json.Marshal(batch); err == nil {
			return out
		}
	}
	return body
}

func explainedMessage(body []byte, message map[string]json.RawMessage) []byte {
	var e rpcError
	if json.Unmarshal(message["error"], &e) != nil || !strings.Contains(e.Message, "unmarshaling ") {
		return body
	}
	data, err := json.Marshal(rpcError{Code: invalidParams, Message: "params are not as the method takes them: a member has the wrong type or an unknown value"})
	if err != nil {
		return body
	}
	message = maps.Clone(message)
	message["error"] = data
	out, err := json.Marshal(message)
	if err != nil {
		return body
	}
	return out
}
