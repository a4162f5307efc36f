package docs

import (
	"net/url"
	"strings"
)

// curl writes the command that calls an operation with its examples.
func (f *filler) curl(op *operation) string {
	path, query := op.Path, url.Values{}
	var words, headers []string
	if op.Method != "GET" {
		words = append(words, "-X "+op.Method)
	}
	for _, p := range op.parameters {
		name, example := word(p["name"]), word(p["example"])
		switch {
		case p["in"] == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(example))
		case p["in"] == "query" && example != "":
			query.Set(name, example)
		case p["in"] == "header" && example != "":
			headers = append(headers, name+": "+example)
		}
	}
	for begin, variable := range map[string]string{"an access": "ACCESS_TOKEN", "an eval": "FIRSTPICK_EVAL_KEY", "a collector": "FIRSTPICK_KEY"} {
		if strings.HasPrefix(f.credential(op), begin) {
			words = append(words, `-H "Authorization: Bearer $`+variable+`"`)
		}
	}
	body := ""
	content := object(f.api.resolve(op.raw["requestBody"])["content"])
	for _, media := range keys(content) {
		if all := f.examples(object(content[media])); len(all) > 0 {
			headers = append(headers, "Content-Type: "+media)
			body = asBody(media, all[0])
			break
		}
	}
	for _, h := range headers {
		words = append(words, "-H "+quoted(h))
	}
	if body != "" {
		words = append(words, "--data-binary "+quoted(body))
	}
	address := f.config.BaseURL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	words = append(words, quoted(address))
	if line := "curl " + strings.Join(words, " "); len(line) < 72 {
		return line
	}
	return "curl " + strings.Join(words, " \\\n  ")
}

// asBody writes an example as it is sent.
func asBody(media string, e any) string {
	if text, ok := e.(string); ok {
		return text
	}
	if media == "application/x-www-form-urlencoded" {
		form := url.Values{}
		for _, name := range keys(object(e)) {
			form.Set(name, word(object(e)[name]))
		}
		return form.Encode()
	}
	if line := asJSON(e); len(line) < 60 {
		return line
	}
	return strings.TrimSpace(pretty(e))
}

// quoted puts a word between single quotes for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
