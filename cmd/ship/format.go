package ship

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Format is how the lines of a log are written.
type Format string

// The formats. Combined, apache and nginx are one: lines of the common or combined
// log format, or JSON objects of an nginx log_format.
const (
	Auto     Format = "auto" // detected from the first line
	Combined Format = "combined"
	Apache   Format = "apache"
	Nginx    Format = "nginx"
	Caddy    Format = "caddy" // its JSON access log
	JSON     Format = "json"  // events as POST /api/collect takes them, one per line
)

// ParseFormat returns the format of a name; the empty name is Auto.
func ParseFormat(name string) (Format, error) {
	all := []Format{Auto, Combined, Apache, Nginx, Caddy, JSON}
	f := Format(name)
	switch {
	case name == "":
		return Auto, nil
	case !slices.Contains(all, f):
		return "", fmt.Errorf("the format %q is not known; there are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
	case f == Apache, f == Nginx:
		return Combined, nil
	}
	return f, nil
}

// A detector recognizes formats by a log's first line, or the beginning of it.
type detector struct{ caddy, event *regexp.Regexp }

func newDetector() detector {
	return detector{
		caddy: regexp.MustCompile(`"request"\s*:\s*\{|"logger"\s*:\s*"|"level"\s*:\s*".*"msg"\s*:`),
		event: regexp.MustCompile(`"type"\s*:\s*"(touch|identify|convert)"`),
	}
}

func (d detector) of(head []byte) Format {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t")
	switch {
	case !bytes.HasPrefix(head, []byte("{")):
		return Combined
	case d.event.Match(head):
		return JSON
	case d.caddy.Match(head):
		return Caddy
	}
	return Combined
}
