package render

import "strings"

// MarkdownPath returns the path of the markdown form of a page. A query stays behind it.
func MarkdownPath(path string) string {
	path, query, found := strings.Cut(path, "?")
	if path += ".md"; path == "/.md" {
		path = "/index.md"
	}
	if found {
		path += "?" + query
	}
	return path
}

// PagePath returns the path of the page that a path of either form belongs to.
func PagePath(path string) string {
	if path == "/index.md" {
		return "/"
	}
	return strings.TrimSuffix(path, ".md")
}
