package docs

import (
	"fmt"
	"slices"
	"strings"
)

// lines are those of a page that is being written.
type lines struct{ strings.Builder }

func (l *lines) line(format string, args ...any) { fmt.Fprintf(&l.Builder, format+"\n", args...) }

// reference writes the page of a group of operations.
func (f *filler) reference(g *group) string {
	w := &lines{}
	w.line("# API: %s\n", g.Title)
	w.line("%s What all answers share is on [HTTP API](%s/docs/api.md). This page is made from [openapi.yaml](%[2]s/openapi.yaml).", g.Description, f.config.BaseURL)
	w.line("\n| Operation | Purpose |\n| --- | --- |")
	for _, op := range g.Operations {
		w.line("| [`%s %s`](#%s) | %s |", op.Method, op.Path, op.ID, cell(op.Summary))
	}
	named := map[string]bool{}
	for _, op := range g.Operations {
		f.operation(w, op, named)
	}
	f.types(w, named)
	return w.String()
}

func (f *filler) operation(w *lines, op *operation, named map[string]bool) {
	w.line("\n<a id=\"%s\"></a>\n## %s %s\n", op.ID, op.Method, op.Path)
	w.line("%s.", strings.TrimSuffix(op.Summary, "."))
	if op.Description != "" {
		w.line("\n%s", op.Description)
	}
	w.line("\nCredential: %s.", f.credential(op))
	w.line("\n```sh\n%s\n```", f.curl(op))
	if status, media, e := f.firstAnswer(op); e != nil {
		f.example(w, media, e)
		w.line("\nThe example has the status %s.", status)
	}
	if len(op.parameters) > 0 {
		w.line("\n| Parameter | In | Type | Meaning |\n| --- | --- | --- | --- |")
		for _, p := range op.parameters {
			meaning := word(p["description"])
			if p["required"] == true {
				meaning = strings.TrimSpace("Required. " + meaning)
			}
			w.line("| `%s` | %s | %s | %s |", word(p["name"]), word(p["in"]), f.kind(p["schema"], named), cell(meaning))
		}
	}
	f.body(w, op, named)
	f.answers(w, op, named)
}

// credential describes the credential of an operation.
func (f *filler) credential(op *operation) string {
	security := list(op.raw["security"])
	if len(security) == 0 {
		return "none"
	}
	first := object(security[0]) // no operation takes two
	schemes := keys(first)
	if len(schemes) == 0 {
		return "none"
	}
	what := map[string]string{"bearer": "an access token", "evalKey": "an eval key", "collectorKey": "a collector key"}[schemes[0]]
	var names []string
	for _, s := range list(first[schemes[0]]) {
		names = append(names, "`"+word(s)+"`")
	}
	if len(names) > 0 {
		what += " with " + strings.Join(names, " and ")
	}
	return what + ", as `Authorization: Bearer`"
}

func (f *filler) body(w *lines, op *operation, named map[string]bool) {
	body := f.api.resolve(op.raw["requestBody"])
	content := object(body["content"])
	for _, media := range keys(content) {
		m := object(content[media])
		w.line("\nRequest body, `%s`: %s.", media, f.kind(m["schema"], named))
		f.fields(w, m["schema"], named)
		if all := f.examples(m); len(all) > 1 { // the first is in the command
			for _, e := range all[1:] {
				f.example(w, media, e)
			}
		}
	}
}

// firstAnswer returns the first example of a good answer. It stands beside the command.
func (f *filler) firstAnswer(op *operation) (status, media string, example any) {
	responses := object(op.raw["responses"])
	for _, status := range slices.Sorted(slices.Values(keys(responses))) {
		content := object(f.api.resolve(responses[status])["content"])
		for _, media := range keys(content) {
			if all := f.examples(object(content[media])); len(all) > 0 && status < "400" {
				return status, media, all[0]
			}
		}
	}
	return "", "", nil
}

// answers lists the good answers with their fields, and the others in a table.
func (f *filler) answers(w *lines, op *operation, named map[string]bool) {
	responses := object(op.raw["responses"])
	shownStatus, shownMedia, _ := f.firstAnswer(op)
	var failures []string
	for _, status := range slices.Sorted(slices.Values(keys(responses))) {
		r := f.api.resolve(responses[status])
		content := object(r["content"])
		if status >= "400" {
			failures = append(failures, fmt.Sprintf("| %s | %s | %s |", status, f.code(content), cell(word(r["description"]))))
			continue
		}
		w.line("\n**%s** %s", status, word(r["description"]))
		for _, media := range keys(content) {
			m := object(content[media])
			w.line("\n`%s`: %s.", media, f.kind(m["schema"], named))
			f.fields(w, m["schema"], named)
			if all := f.examples(m); len(all) > 0 && (status != shownStatus || media != shownMedia) {
				f.example(w, media, all[0])
			}
		}
	}
	if len(failures) > 0 {
		w.line("\n| Status | For example | When |\n| --- | --- | --- |\n%s", strings.Join(failures, "\n"))
	}
}

// code returns the error code of the example of a failure.
func (f *filler) code(content map[string]any) string {
	for _, media := range keys(content) {
		for _, e := range f.examples(object(content[media])) {
			if code, ok := object(e)["error"].(string); ok { // in JSON-RPC it is an object
				return fmt.Sprintf("[`%s`](%s/docs/errors.md#%s)", code, f.config.BaseURL, code)
			}
		}
	}
	return ""
}

// examples returns those of a media type, or that of its schema.
func (f *filler) examples(media map[string]any) []any {
	if e, ok := media["example"]; ok {
		return []any{e}
	}
	var out []any
	all := object(media["examples"])
	for _, name := range keys(all) {
		out = append(out, f.api.resolve(all[name])["value"])
	}
	if e, ok := f.api.resolve(media["schema"])["example"]; ok && len(out) == 0 {
		out = append(out, e)
	}
	return out
}

func (f *filler) example(w *lines, media string, e any) {
	switch text, isText := e.(string); {
	case isText && strings.Contains(media, "yaml"):
		w.line("\n```yaml\n%s\n```", strings.TrimRight(text, "\n"))
	case isText:
		w.line("\n```text\n%s\n```", strings.TrimRight(text, "\n"))
	default:
		w.line("\n```json\n%s```", pretty(e))
	}
}
