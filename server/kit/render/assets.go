package render

import (
	"bytes"
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

// assets are the paths of the assets.
type assets struct {
	Style, Home, Docs, Dashboard, Evals, Trace string // style sheets
	Private, EvalScript, Offer, Page           string // scripts
	Icon, IconPNG, Font, FontLicence           string
}

// Assets returns the style sheets, the scripts, the icons and the font of all pages.
func Assets() []Asset {
	font := asset("inter.woff2", "font/woff2")
	style := asset("style.css", cssType)
	style.Body = bytes.ReplaceAll(style.Body, []byte(`"inter.woff2"`), []byte(`"`+path.Base(font.Path)+`"`))
	style.Path = assetPath("style.css", style.Body)
	return []Asset{
		style, asset("home.css", cssType), asset("docs.css", cssType), asset("dashboard.css", cssType), asset("evals.css", cssType), asset("trace.css", cssType),
		asset("private.js", jsType), asset("evals.js", jsType), asset("webmcp.js", jsType), asset("page.js", jsType),
		asset("icon.svg", "image/svg+xml"), asset("icon.png", "image/png"), font, asset("inter-licence.txt", "text/plain; charset=utf-8"),
	}
}

const (
	cssType = "text/css; charset=utf-8"
	jsType  = "text/javascript; charset=utf-8"
)

func newAssets() (a assets) {
	all := Assets()
	for i, to := range []*string{&a.Style, &a.Home, &a.Docs, &a.Dashboard, &a.Evals, &a.Trace, &a.Private, &a.EvalScript, &a.Offer, &a.Page, &a.Icon, &a.IconPNG, &a.Font, &a.FontLicence} {
		*to = all[i].Path
	}
	return a
}

func asset(name, contentType string) Asset {
	body, err := static.ReadFile(path.Join("static", name))
	if err != nil {
		panic(err) // the file is embedded
	}
	if contentType == cssType {
		body = spaceless(withoutComments(body))
	}
	return Asset{assetPath(name, body), contentType, body}
}

// withoutComments drops the comments of a style sheet, which no reader of a page needs. No string in one
// has the marks of a comment.
func withoutComments(css []byte) (out []byte) {
	for {
		before, rest, found := bytes.Cut(css, []byte("/*"))
		out = append(out, before...)
		if !found {
			return out
		}
		_, css, _ = bytes.Cut(rest, []byte("*/"))
	}
}

// spaceless drops the white space of a style sheet that says nothing. No string in one has a mark with a
// space after it.
func spaceless(css []byte) []byte {
	lines := strings.Split(string(css), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	text := strings.Join(lines, "\n")
	return []byte(strings.NewReplacer(" {", "{", " }", "}", "{ ", "{", "; }", "}", "} ", "}", ";\n", ";", "{\n", "{", "}\n", "}", "; ", ";", ": ", ":", ", ", ",", ",\n", ",").Replace(text))
}

func assetPath(name string, body []byte) string {
	sum := sha256.Sum256(body)
	stem, ext, _ := strings.Cut(name, ".")
	return "/assets/" + stem + "-" + hex.EncodeToString(sum[:6]) + "." + ext
}
