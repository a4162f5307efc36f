package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/forecast"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/propose"
)

// A fromOptions is what init is given to propose an eval.
type fromOptions struct {
	*app
	dir, from, category string
	yes                 bool
	// drafter is the model that drafts prompts, as KIND:MODEL or KIND:MODEL@URL; draftCost is
	// the most that it may cost, in US dollars.
	drafter   string
	draftCost float64
}

// initFrom proposes an eval of the product in a folder or at an address, prints it as a diff
// with its plan, and writes it if it is accepted.
func initFrom(cmd *cobra.Command, env *Env, o *fromOptions) (err error) {
	if o.app, err = newApp(env, cmd); err != nil {
		return err
	}
	base, err := o.baseCatalog()
	if err != nil {
		return err
	}
	cat, err := base.files.load()
	if err != nil {
		return badInput(err)
	}
	if _, ok := cat.Category(o.category); !ok && o.category != "" {
		return unknownCategory(cat, o.category)
	}
	docs, err := o.read(cmd.Context())
	if err != nil {
		return err
	}
	reader := propose.NewReader(cat, propose.BuiltIn)
	p := reader.Find(docs, o.category)
	o.report(p)
	if err := missing(p, cat); err != nil {
		return err
	}
	files, ev, category, err := o.propose(cmd.Context(), reader, p, base)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(env.Stdout, diffOf(files)); err != nil {
		return err
	}
	if err := o.plan(ev, category); err != nil {
		return err
	}
	if ok, err := o.accept(); !ok || err != nil {
		return err
	}
	for _, f := range files {
		if err := f.write(env); err != nil {
			return err
		}
	}
	next := "firstpick run evals/" + p.Category + ".yaml"
	if o.dir != "." {
		next = "cd " + o.dir + " && " + next
	}
	if p.Known == "" {
		file := filepath.Join(base.dir, p.Category+".yaml")
		_, _ = fmt.Fprintf(env.Stderr, "on a server, the entry goes into the workspace's own catalogue: firstpick evals catalog push %s\n", file)
	}
	_, _ = fmt.Fprintln(env.Stderr, "next: "+next+" · firstpick rank · firstpick explain "+p.Slug)
	return nil
}

// missing returns an error for a product of which too little was found.
func missing(p propose.Product, cat *catalog.Catalog) error {
	switch {
	case p.Name == "" || p.Slug == "":
		return usageErr("name the product in the first heading of its README, or in its manifest", "no name of a product found")
	case p.Category == "":
		var slugs []string
		for _, c := range p.Candidates {
			slugs = append(slugs, c.Category)
		}
		hint := "firstpick lint --categories lists all; --category SLUG chooses one"
		if len(slugs) > 0 {
			hint += "; the nearest: " + strings.Join(slugs, ", ")
		}
		return usageErr(hint, "no category found for %s; nothing is written", p.Name)
	}
	if _, ok := cat.Category(p.Category); !ok {
		return unknownCategory(cat, p.Category)
	}
	return nil
}

// propose returns the files of a proposal, and its eval with the category that it has then.
func (o *fromOptions) propose(ctx context.Context, reader *propose.Reader, p propose.Product, base baseCatalog) ([]newFile, *eval.Eval, *catalog.Category, error) {
	changed := base.files
	if p.Known == "" {
		var err error
		if changed, err = base.files.with(p.Category, reader.Member(p)); err != nil {
			return nil, nil, nil, err
		}
	}
	cat, err := changed.load()
	if err != nil {
		return nil, nil, nil, badInput(fmt.Errorf("the entry of %s does not fit the catalogue; nothing is written: %w", p.Name, err))
	}
	category, _ := cat.Category(p.Category)
	text, err := o.draft(ctx, p, category)
	if err != nil {
		return nil, nil, nil, err
	}
	path := filepath.Join("evals", p.Category+".yaml")
	ev, err := eval.Parse(path, text)
	if err != nil {
		return nil, nil, nil, err
	}
	files, err := o.files(p, base, changed, newFile{path: filepath.Join(o.dir, path), after: text})
	return files, ev, category, err
}

// draft returns the text of the proposed eval.
func (o *fromOptions) draft(ctx context.Context, p propose.Product, category *catalog.Category) ([]byte, error) {
	library, err := eval.Library(fixtures.Files(), p.Category)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noLibrary(p.Category)
	}
	if err != nil {
		return nil, err
	}
	d, err := newDraft(category, 0)
	if err != nil {
		return nil, err
	}
	var replaced []string
	if o.drafter != "" {
		d.Prompts, err = o.drafted(ctx, p, category, library.Prompts)
	} else {
		d.Prompts, replaced = propose.Prompts(category, library.Prompts)
	}
	if err != nil {
		return nil, err
	}
	if len(replaced) > 0 {
		_, _ = fmt.Fprintf(o.env.Stderr, "prompts: %s left out, for they name a tool\n", counted(len(replaced), "built-in prompt"))
	}
	if len(d.Prompts) < 20 {
		_, _ = fmt.Fprintf(o.env.Stderr, "prompts: only %d; add tasks of your own\n", len(d.Prompts))
	}
	d.Truth = propose.Truth(p.Slug, p.Rivals)
	for _, agent := range propose.Agents(o.env.Getenv) {
		if err := d.addAgent(agent); err != nil {
			return nil, err
		}
	}
	return d.render(category)
}

// plan prints cost, time and detectable difference of the proposed eval.
func (o *fromOptions) plan(ev *eval.Eval, category *catalog.Category) error {
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	plan := &planOptions{app: o.app}
	in := forecast.Input{Eval: ev, MemoryCapMB: memoryCapMB(), Tools: len(category.Entries)}
	var notes []string
	in.Agents, notes = plan.buildForPlan(ev, table)
	_, _ = fmt.Fprintln(o.env.Stdout)
	return plan.print(forecast.Of(in), notes)
}

// accept asks on a terminal whether to write the files. Without one it is --yes only.
func (o *fromOptions) accept() (bool, error) {
	switch {
	case o.yes:
		return true, nil
	case !o.env.StdinIsTTY:
		_, _ = fmt.Fprintln(o.env.Stderr, "nothing is written: --yes writes the files")
		return false, nil
	}
	_, _ = fmt.Fprint(o.env.Stderr, "write these files? [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(o.env.Stdin, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return true, nil
	}
	_, _ = fmt.Fprintln(o.env.Stderr, "nothing is written")
	return false, nil
}

// report prints what was found.
func (o *fromOptions) report(p propose.Product) {
	t := [][2]string{{"read", strings.Join(p.Read, ", ")}, {"name", p.Name}}
	if len(p.Aliases) > 0 {
		t = append(t, [2]string{"also", strings.Join(p.Aliases, ", ")})
	}
	t = append(t, [2]string{"domains", dash(strings.Join(p.Domains, ", "))})
	t = append(t, [2]string{"packages", dash(strings.Join(catalog.PackageNames(p.Packages), ", "))})
	found := "none found"
	if p.Category != "" {
		found = fmt.Sprintf("%s (confidence %.2f)", p.Category, p.Confidence)
	}
	var others []string
	for _, c := range p.Candidates {
		if c.Category != p.Category {
			others = append(others, fmt.Sprintf("%s %.1f", c.Category, c.Score))
		} else {
			found += fmt.Sprintf(", score %.1f", c.Score)
		}
	}
	t = append(t, [2]string{"category", found}, [2]string{"runners-up", dash(strings.Join(others[:min(3, len(others))], ", "))})
	if n := len(p.Rivals); n > 0 {
		shown := p.Rivals[:min(n, max(p.Named, 8))]
		text := strings.Join(shown, ", ")
		if more := n - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		t = append(t, [2]string{"rivals", text})
	}
	if p.Known != "" {
		t = append(t, [2]string{"catalogue", "has it as " + p.Known})
	}
	var b bytes.Buffer
	for _, row := range t {
		fmt.Fprintf(&b, "%-11s %s\n", row[0], row[1])
	}
	_, _ = fmt.Fprintln(o.env.Stdout, strings.TrimRight(printableText(b.String()), "\n"))
}

// read reads the product: from a folder, or from its site.
func (o *fromOptions) read(ctx context.Context) ([]propose.Document, error) {
	if address := o.from; strings.Contains(address, "://") {
		return o.readSite(ctx, address)
	}
	info, err := os.Stat(o.from)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, usageErr("an address begins with https://", "--from %s: no such folder", o.from)
	case err != nil:
		return nil, badInput(err)
	case !info.IsDir():
		return nil, usageErr("name the folder that it is in", "--from %s is a file", o.from)
	}
	root, err := os.OpenRoot(o.from)
	if err != nil {
		return nil, badInput(err)
	}
	docs, err := propose.Folder(root.FS())
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, badInput(err)
	}
	if len(docs) == 0 {
		return nil, usageErr("a README, a package manifest or llms.txt says what the product is", "%s holds no description of a product", o.from)
	}
	return docs, nil
}

// siteTimeout bounds the reading of all pages of a site.
const siteTimeout = 40 * time.Second

// readSite reads a product's site. Private addresses are refused unless call-private is set.
func (o *fromOptions) readSite(ctx context.Context, address string) ([]propose.Document, error) {
	docs, err := o.sites().Read(ctx, address, siteTimeout)
	if err != nil {
		return nil, usageErr("a folder works without a network: --from DIR", "--from: %w", err)
	}
	return docs, nil
}
