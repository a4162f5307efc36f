package render

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// An Asset is a static file of pages. Its path has a digest of its content, so it may be
// cached for ever.
type Asset struct {
	Path, ContentType string
	Body              []byte
}

// Assets returns the style sheets of all pages, of documents, of a workspace and of its
// evals, the script of those that belong to one person, that of evals, and that of
// leaderboards and tools.
func Assets() []Asset {
	return []Asset{style(), docStyle(), dashboard(), evalStyle(), script(), evalScript(), offer()}
}

func style() Asset { return asset("style.css", "text/css; charset=utf-8") }

func docStyle() Asset { return asset("docs.css", "text/css; charset=utf-8") }

func dashboard() Asset { return asset("dashboard.css", "text/css; charset=utf-8") }

func evalStyle() Asset { return asset("evals.css", "text/css; charset=utf-8") }

func evalScript() Asset { return asset("evals.js", "text/javascript; charset=utf-8") }

func script() Asset { return asset("private.js", "text/javascript; charset=utf-8") }

// offer is the script that offers our tools to an agent in the browser.
func offer() Asset { return asset("webmcp.js", "text/javascript; charset=utf-8") }

func asset(name, contentType string) Asset {
	body, err := static.ReadFile(path.Join("static", name))
	if err != nil {
		panic(err) // the file is embedded
	}
	sum := sha256.Sum256(body)
	stem, ext, _ := strings.Cut(name, ".")
	return Asset{Path: "/assets/" + stem + "-" + hex.EncodeToString(sum[:6]) + "." + ext, ContentType: contentType, Body: body}
}
