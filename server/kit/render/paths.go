package render

import "strings"

// MarkdownPath returns the path of the markdown form of a page. The path may have a query.
func MarkdownPath(path string) string {
	if path == "/" {
		return "/index.md"
	}
	if page, query, found := strings.Cut(path, "?"); found {
		return page + ".md?" + query
	}
	return path + ".md"
}

// PagePath returns the path of the page that a path of either form belongs to.
func PagePath(path string) string {
	if path == "/index.md" {
		return "/"
	}
	return strings.TrimSuffix(path, ".md")
}
