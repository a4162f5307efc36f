package webbotauth

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

const (
	tag        = "web-bot-auth"
	algorithm  = "ed25519"
	maxHeader  = 8 << 10 // bytes of one of the three fields
	maxCovered = 32      // components
	maxText    = 512     // bytes of a key id or nonce
)

var (
	errForm    = errors.New("the signature fields cannot be read")
	errTagged  = errors.New("no signature is tagged web-bot-auth")
	errParams  = errors.New("a parameter of the signature is missing or of the wrong type")
	errCovered = errors.New("a component is covered that is not known here")
	errAgent   = errors.New("Signature-Agent is not covered by the signature")
)

// A signature is one that is tagged for us, read and not yet verified.
type signature struct {
	label    string
	input    httpsfv.InnerList
	bytes    []byte
	keyID    string
	nonce    string
	alg      string
	created  time.Time
	expires  time.Time
	agent    string // origin that Signature-Agent names; optional
	agentRaw string // the field
}

// parse reads the three fields and picks the first signature with our tag.
func parse(r Request) (*signature, error) {
	for _, field := range []string{r.Signature, r.SignatureInput, r.SignatureAgent} {
		if len(field) > maxHeader {
			return nil, errForm
		}
	}
	inputs, err := httpsfv.UnmarshalDictionary([]string{r.SignatureInput})
	if err != nil {
		return nil, errForm
	}
	values, err := httpsfv.UnmarshalDictionary([]string{r.Signature})
	if err != nil {
		return nil, errForm
	}
	for _, label := range inputs.Names() {
		member, _ := inputs.Get(label)
		input, ok := member.(httpsfv.InnerList)
		if !ok || text(input.Params, "tag") != tag {
			continue
		}
		s := &signature{label: label, input: input, agentRaw: strings.TrimSpace(r.SignatureAgent)}
		value, _ := values.Get(label)
		item, ok := value.(httpsfv.Item)
		if !ok {
			return nil, errForm
		}
		if s.bytes, ok = item.Value.([]byte); !ok {
			return nil, errForm
		}
		return s, s.read()
	}
	return nil, errTagged
}

// read takes the parameters and the agent out of the signature.
func (s *signature) read() error {
	p := s.input.Params
	s.keyID, s.nonce, s.alg = text(p, "keyid"), text(p, "nonce"), text(p, "alg")
	created, ok1 := seconds(p, "created")
	expires, ok2 := seconds(p, "expires")
	if !ok1 || !ok2 || s.keyID == "" || len(s.keyID) > maxText || len(s.nonce) > maxText {
		return errParams
	}
	s.created, s.expires = created, expires
	if len(s.input.Items) > maxCovered {
		return errCovered
	}
	return s.readAgent()
}

// readAgent finds the agent that the signature names. A Signature-Agent that is
// not signed could be anybody's word.
func (s *signature) readAgent() error {
	if s.agentRaw == "" {
		return nil
	}
	for _, item := range s.input.Items {
		if item.Value != "signature-agent" {
			continue
		}
		member := ""
		if key, ok := item.Params.Get("key"); ok {
			if member, ok = key.(string); !ok {
				return errCovered
			}
		}
		name, err := agentName(s.agentRaw, member, s.label)
		if err != nil {
			return err
		}
		s.agent = origin(name)
		return nil
	}
	return errAgent
}

// agentName reads Signature-Agent: a string, or the member of a dictionary that
// is covered, or else the one labelled like the signature.
func agentName(raw, member, label string) (string, error) {
	if member == "" {
		if item, err := httpsfv.UnmarshalItem([]string{raw}); err == nil {
			if name, ok := item.Value.(string); ok {
				return name, nil
			}
			return "", errForm
		}
		member = label
	}
	item, err := agentMember(raw, member)
	if err != nil {
		return "", err
	}
	name, ok := item.Value.(string)
	if !ok {
		return "", errForm
	}
	return name, nil
}

// agentMember returns a member of Signature-Agent as a dictionary.
func agentMember(raw, key string) (httpsfv.Item, error) {
	dict, err := httpsfv.UnmarshalDictionary([]string{raw})
	if err != nil {
		return httpsfv.Item{}, errForm
	}
	value, _ := dict.Get(key)
	item, ok := value.(httpsfv.Item)
	if !ok {
		return item, errForm
	}
	return item, nil
}

// origin returns the origin of an https URL, lower-cased and without the port
// 443; empty for anything else.
func origin(name string) string {
	u, err := url.Parse(name)
	if err != nil || !strings.EqualFold(u.Scheme, "https") || u.Host == "" || u.User != nil {
		return ""
	}
	return "https://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

func text(p *httpsfv.Params, name string) string {
	if p == nil {
		return ""
	}
	value, _ := p.Get(name)
	s, _ := value.(string)
	return s
}

func seconds(p *httpsfv.Params, name string) (time.Time, bool) {
	value, _ := p.Get(name)
	n, ok := value.(int64)
	return time.Unix(n, 0), ok && n > 0
}
