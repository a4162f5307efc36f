package provider

import (
	"encoding/json"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// parameters are the parameters of every request except the prompt.
type parameters struct {
	// values are JSON, by the path of their keys: generationConfig.temperature.
	values map[string]string
	// names are the keys and the names of tools in lower case: a provider that rejects
	// one names it.
	names map[string]bool
}

// parametersOf reads them from an encoded request, so that nothing is sent unrecorded.
func parametersOf(c codec, a eval.Agent) (parameters, error) {
	body, err := json.Marshal(c.encode(a, firstRequest(a, "", "")))
	if err != nil {
		return parameters{}, err
	}
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		return parameters{}, err
	}
	for _, key := range []string{"model", "messages", "input", "contents", "stream"} {
		delete(all, key)
	}
	p := parameters{map[string]string{}, map[string]bool{}}
	return p, p.gather("", all)
}

func (p parameters) gather(prefix string, members map[string]any) error {
	for key, value := range members {
		p.names[strings.ToLower(key)] = true
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 {
			if err := p.gather(prefix+key+".", inner); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		p.values[prefix+key] = string(text)
		if list, ok := value.([]any); ok {
			p.addTools(list)
		}
	}
	return nil
}

// addTools adds the names of tools.
func (p parameters) addTools(list []any) {
	for _, item := range list {
		members, _ := item.(map[string]any)
		for key, value := range members {
			p.names[strings.ToLower(key)] = true
			if name, ok := value.(string); ok {
				p.names[strings.ToLower(name)] = true
			}
		}
	}
	// These words occur in every message.
	delete(p.names, "type")
	delete(p.names, "name")
}
