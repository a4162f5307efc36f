package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
)

func newCatalogCmd(env *Env) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "List the catalogue's categories, look names up, add tools",
		Long: `List the categories of the catalogue with the number of their tools. A category with a study
was made for the recorded answers of that study and is not a general board.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, cat, err := openCatalog(env, cmd)
			if err != nil {
				return err
			}
			n := cat.Counts()
			_, _ = fmt.Fprintf(env.Stderr, "%d categories, %d tools; packages:", n.Categories, n.Tools)
			for _, eco := range catalog.Ecosystems() {
				_, _ = fmt.Fprintf(env.Stderr, " %s %d", eco, n.Packages[eco])
			}
			_, _ = fmt.Fprintln(env.Stderr)
			return a.listCategories(cat, f)
		},
	}
	f.flags(cmd)
	cmd.AddCommand(newCatalogExplainCmd(env), newCatalogCoverageCmd(env), newCatalogAddCmd(env), newCatalogExportCmd(env))
	return cmd
}

func openCatalog(env *Env, cmd *cobra.Command) (*app, *catalog.Catalog, error) {
	a, err := newApp(env, cmd)
	if err != nil {
		return nil, nil, err
	}
	cat, err := a.catalog()
	return a, cat, badInput(err)
}

// maxExplained limits the text of catalog explain, in bytes.
const maxExplained = 1 << 20

func newCatalogExplainCmd(env *Env) *cobra.Command {
	var f format
	var category string
	cmd := &cobra.Command{
		Use:   "explain TEXT...",
		Short: "Show which tools a text or an identifier names",
		Long: `Show the names, packages, hosts and variables of the catalogue in a text, with line and column,
and the condition of a name that does not hold there. A single word is also looked up as an
identifier: slug, domain, package (npm:stripe), name, import, host, variable or config file.
The text is that of the arguments, or standard input for -.`,
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, cat, err := openCatalog(env, cmd)
			if err != nil {
				return err
			}
			if _, ok := cat.Category(category); category != "" && !ok {
				return unknownCategory(cat, category)
			}
			text := strings.Join(args, " ")
			if text == "-" {
				if text, err = readText(env.Stdin); err != nil {
					return err
				}
			}
			return a.explainText(cat, text, category, f)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&category, "category", "", "show this category only")
	return cmd
}

func readText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxExplained+1))
	if err == nil && len(data) > maxExplained {
		err = usageErr("explain a part of it", "the text has more than %d bytes", maxExplained)
	}
	return string(data), err
}

// An explanation is the result of catalog explain.
type explanation struct {
	// Tool is the slug that the text resolves to as an identifier, By its kind; empty if absent.
	Tool        string               `json:"tool,omitempty"`
	By          catalog.Kind         `json:"by,omitempty"`
	Identifiers []catalog.Identifier `json:"identifiers"`
	Findings    []catalog.Finding    `json:"findings"`
}

func (a *app) explainText(cat *catalog.Catalog, text, category string, f format) error {
	e := explanation{Identifiers: []catalog.Identifier{}, Findings: []catalog.Finding{}}
	if trimmed := strings.TrimSpace(text); trimmed != "" && len(trimmed) < 256 && !strings.Contains(trimmed, "\n") {
		if ref, kind, ok := cat.Index().LookupKind(trimmed); ok {
			e.Tool, e.By = ref.Slug, kind
		}
		for _, id := range cat.Identify(trimmed) {
			if category == "" || id.Owner.Category == category {
				e.Identifiers = append(e.Identifiers, id)
			}
		}
	}
	for _, found := range cat.Recognize(text) {
		identified := len(e.Identifiers) > 0 && found.Text == strings.TrimSpace(text) && found.Unmet == ""
		if (category == "" || found.Owner.Category == category) && !identified {
			e.Findings = append(e.Findings, found)
		}
	}
	if f.json {
		return printJSON(a.env, e)
	}
	if e.Tool != "" {
		_, _ = fmt.Fprintf(a.env.Stderr, "%s is the %s of %s\n", printableText(strings.TrimSpace(text)), e.By, e.Tool)
	}
	t := table{header: []string{"where", "kind", "text", "category", "tool", "role", "condition not met"}}
	for _, id := range e.Identifiers {
		t.add("-", string(id.Kind), id.Text, id.Owner.Category, dash(id.Owner.Slug), string(id.Owner.Role), "-")
	}
	for _, x := range e.Findings {
		t.add(fmt.Sprintf("%d:%d", x.Line, x.Column), string(x.Kind), x.Text, x.Owner.Category, dash(x.Owner.Slug), string(x.Owner.Role), dash(x.Unmet))
	}
	if len(t.rows) == 0 {
		_, _ = fmt.Fprintln(a.env.Stderr, "nothing of the catalogue is in the text"+a.nearNames(cat, text))
		return nil
	}
	return t.print(a.env, f)
}

// nearNames suggests slugs for a single word.
func (a *app) nearNames(cat *catalog.Catalog, text string) string {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, " \n\t") || len(text) > 64 {
		return ""
	}
	if near := cat.Index().Suggest(text, 3); len(near) > 0 {
		return "; " + nearest.DidYouMean(near)
	}
	return ""
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func newCatalogExportCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the built-in catalogue into a folder, to change it there",
		Long: `Write the files of the built-in catalogue into a folder. With --catalog DIR, or the key catalog of
the configuration, every command reads that folder instead. A file that exists is an error and
nothing is written.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return exportCatalog(env, args[0]) },
	}
}

func exportCatalog(env *Env, dir string) error {
	names, err := fs.Glob(fixtures.Files(), "catalog/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, filepath.Base(name))
		if _, err := os.Lstat(path); err == nil {
			return usageErr("choose an empty folder", "%s exists; nothing is written", path)
		}
	}
	for _, name := range names {
		data, err := fs.ReadFile(fixtures.Files(), name)
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(dir, filepath.Base(name)), data); err != nil {
			return badInput(err)
		}
	}
	_, err = fmt.Fprintf(env.Stderr, "written %d files into %s\nnext: firstpick catalog add --catalog %s\n", len(names), dir, dir)
	return err
}
