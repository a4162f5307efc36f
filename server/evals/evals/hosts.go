package evals

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const maxHosts = 20 // of a provider key

// DefaultHosts returns the hosts to which a provider key is bound by its name: those
// of the name's provider; none for other names. The migration of provider keys sets
// the same hosts for older keys.
func DefaultHosts(name string) []string {
	switch name {
	case "OPENAI_API_KEY", "CODEX_API_KEY":
		return []string{"api.openai.com"}
	case "ANTHROPIC_API_KEY":
		return []string{"api.anthropic.com"}
	case "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY":
		return []string{"generativelanguage.googleapis.com"}
	case "OPENROUTER_API_KEY":
		return []string{"openrouter.ai"}
	case "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN":
		return []string{"api.githubcopilot.com"}
	case "CURSOR_API_KEY":
		return []string{"api2.cursor.sh"}
	case "MISTRAL_API_KEY":
		return []string{"api.mistral.ai"}
	case "GROQ_API_KEY":
		return []string{"api.groq.com"}
	case "DEEPSEEK_API_KEY":
		return []string{"api.deepseek.com"}
	case "XAI_API_KEY":
		return []string{"api.x.ai"}
	}
	return nil
}

// KeyHost returns the host of an address as provider keys are bound to it: in lower
// case, with the port unless it is that of https.
func KeyHost(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not an http or https address", address)
	}
	return hostOf(u), nil
}

// hostOf is KeyHost of a parsed address.
func hostOf(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	switch port := u.Port(); {
	case u.Scheme == "http" && port == "":
		return host + ":80"
	case port == "" || u.Scheme == "https" && port == "443":
		return host
	default:
		return host + ":" + port
	}
}

// parseHosts returns hosts in their normal form, sorted, each once.
func parseHosts(hosts []string) ([]string, error) {
	if len(hosts) > maxHosts {
		return nil, fmt.Errorf("a provider key has at most %d hosts (got %d)", maxHosts, len(hosts))
	}
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		u, err := url.Parse("https://" + h)
		if err != nil || len(h) > 255 || u.Host != h || !isHost(u.Hostname()) {
			return nil, fmt.Errorf("%.100q is not a host: want a name such as api.example.com or api.example.com:8443, without scheme and path", h)
		}
		out = append(out, hostOf(u))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// isHost reports whether a text is an address or a host name in ASCII.
func isHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	for _, label := range strings.Split(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// boundElsewhere returns an error text for the first key, by name, that an eval sends
// to a host to which it is not bound; else "". It ignores keys that are not set.
func boundElsewhere(sends map[string][]string, set []*ProviderKey) string {
	for _, k := range set {
		for _, host := range sends[k.Name] {
			if !slices.Contains(k.Hosts, host) {
				return NotBound(k.Name, host, k.Hosts)
			}
		}
	}
	return ""
}

// NotBound returns the error text for a key that may not be sent to a host.
func NotBound(name, host string, bound []string) string {
	to := "no host"
	if len(bound) > 0 {
		to = list(bound)
	}
	if host == "" {
		host = "an unknown host"
	}
	return fmt.Sprintf("The provider key %s may not be sent to %s: it is bound to %s. An owner of the workspace can bind it to more hosts in its settings.", name, host, to)
}
