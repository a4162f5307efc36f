package event

import "strings"

// page reports whether a request may be of a page that an agent reads: GET or
// HEAD, and not of a style sheet, script, picture, font or the like. Files for agents
// always count.
func page(method, target string) bool {
	if method != "GET" && method != "HEAD" {
		return false
	}
	p, _, ok := split(target)
	if !ok {
		return false
	}
	path := strings.ToLower(p.path)
	if strings.HasPrefix(path, "/.well-known/") {
		return true
	}
	for _, prefix := range []string{"/_next/", "/_vercel/", "/cdn-cgi/", "/_nuxt/", "/_app/"} {
		if strings.HasPrefix(path, prefix) {
			return false
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot < 0 || strings.HasPrefix(name, "openapi.") || !asset(name[dot+1:])
}

func asset(extension string) bool {
	switch extension {
	case "css", "js", "mjs", "cjs", "map", "wasm", "webmanifest",
		"png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "tif", "tiff", "heic",
		"woff", "woff2", "ttf", "otf", "eot",
		"mp3", "mp4", "m4a", "m4v", "webm", "ogg", "oga", "ogv", "wav", "mov", "avi", "m3u8", "ts",
		"zip", "gz", "tgz", "bz2", "xz", "br", "7z", "rar", "tar", "dmg", "exe", "msi", "deb", "rpm", "pkg", "iso":
		return true
	}
	return false
}
