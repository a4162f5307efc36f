package setup

import (
	"embed"
	"path"
	"strings"
	"text/template"
)

//go:embed code guides recipes
var files embed.FS

// Guide returns /setup.md of the service at base, an address without trailing
// slash.
func Guide(base string) string {
	return render("guides/setup.md", base, map[string]any{"Stacks": Stacks()})
}

// Attribution returns /docs/attribution.md.
func Attribution(base string) string { return render("guides/attribution.md", base, nil) }

// Recipe returns /setup/{slug}.md, with all code in it.
func (s *Stack) Recipe(base string) string {
	return render("guides/recipe.md", base, map[string]any{"Stack": s, "Hook": read("recipes/" + s.Slug + ".md")})
}

// Code returns the content of a file.
func (f File) Code(base string) string {
	return strings.ReplaceAll(read("code/"+f.code), Placeholder, base)
}

// Language is the word behind the fence of a block of the file's code.
func (f File) Language() string {
	switch path.Ext(f.Path) {
	case ".mjs", ".js":
		return "js"
	case ".py":
		return "python"
	case ".rb":
		return "ruby"
	case ".php":
		return "php"
	case ".caddyfile":
		return "caddyfile"
	}
	return "nginx" // .conf; near enough for Apache's
}

// String describes the clue.
func (c Clue) String() string {
	switch {
	case c.Dep != "":
		return "`" + c.Name + "` depends on `" + c.Dep + "`"
	case c.Has != "":
		return "`" + c.Name + "` names it"
	}
	return "`" + c.Name + "`"
}

// render fills in a guide. The files are ours, and tests render all of them.
func render(name, base string, data map[string]any) string {
	var b strings.Builder
	guide := template.Must(template.New(name).Parse(read(name)))
	if err := guide.Execute(&b, data); err != nil {
		panic(err)
	}
	return strings.ReplaceAll(b.String(), Placeholder, base)
}

func read(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // a stack without its files; tests read all of them
	}
	return string(data)
}
