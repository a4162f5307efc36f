package webbotauth

import (
	"strings"

	"github.com/dunglas/httpsfv"
)

// base returns the signature base (RFC 9421, 2.5): a line for each covered component,
// and one for the parameters.
func (s *signature) base(r Request) (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, item := range s.input.Items {
		id, err := httpsfv.Marshal(item)
		if err != nil || seen[id] {
			return "", errForm
		}
		seen[id] = true
		value, err := s.component(r, item)
		if err != nil {
			return "", err
		}
		if strings.ContainsAny(value, "\r\n") {
			return "", errForm
		}
		b.WriteString(id + ": " + value + "\n")
	}
	params, err := httpsfv.Marshal(s.input)
	if err != nil {
		return "", errForm
	}
	b.WriteString(`"@signature-params": ` + params)
	return b.String(), nil
}

// component returns the value of a covered component. The only supported parameter is
// the key of Signature-Agent, because parameters change the signature base.
func (s *signature) component(r Request, item httpsfv.Item) (string, error) {
	name, ok := item.Value.(string)
	if !ok {
		return "", errForm
	}
	params := item.Params.Names()
	if name == "signature-agent" {
		switch {
		case s.agentRaw == "":
			return "", errCovered
		case len(params) == 0:
			return s.agentRaw, nil
		case len(params) == 1 && params[0] == "key":
			member, err := agentMember(s.agentRaw, text(item.Params, "key"))
			if err != nil {
				return "", err
			}
			return httpsfv.Marshal(member)
		}
	}
	if len(params) > 0 {
		return "", errCovered
	}
	authority := strings.TrimSuffix(strings.ToLower(r.Authority), defaultPort(r.scheme()))
	switch name {
	case "@authority":
		return authority, known(authority)
	case "@method":
		return r.Method, known(r.Method)
	case "@scheme":
		return r.scheme(), nil
	case "@path":
		return r.path(), nil
	case "@query":
		return "?" + r.Query, nil
	case "@request-target":
		return r.target(), nil
	case "@target-uri":
		return r.scheme() + "://" + authority + r.target(), known(authority)
	}
	if value, ok := r.Fields[name]; ok && !strings.HasPrefix(name, "@") {
		return strings.TrimSpace(value), nil
	}
	return "", errCovered
}

// known refuses a part of the request that was not passed on.
func known(value string) error {
	if value == "" {
		return errCovered
	}
	return nil
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return ":80"
	}
	return ":443"
}
