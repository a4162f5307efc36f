package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// scaffoldConfig holds the keys that runs need, serverConfig holds all.
var (
	//go:embed scaffold/firstpick.yaml
	scaffoldConfig []byte
	//go:embed scaffold/server.yaml
	serverConfig []byte
)

func newInitCmd(env *Env) *cobra.Command {
	var server bool
	o := &fromOptions{}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a configuration file and an eval: an example, or of your product",
		Long: `Write firstpick.yaml, and an eval of payments with the built-in prompts of that
category. Its agent is simulated, so that it runs without a key. Existing files are kept.

With --from, the eval is for a product: init reads its README, package manifests, llms.txt
and the index of its documentation, from a folder or from its site (at most 8 pages), and
finds names, domains, packages, category and rivals. It proposes a catalogue entry, 20
prompts that name no tool, and agents for the API keys in the environment, or a rehearsal
without any. It prints the files as a diff, with cost and detectable difference, and asks on
a terminal before it writes; --yes accepts. No model is asked, unless --draft names one:
it drafts the prompts with one request that costs at most --draft-cost, and those that lint
refuses are replaced by built-in ones. Categories are scored by the words of
these texts; --category replaces a wrong one.

With --server, firstpick.yaml lists and explains every key, including those of a server.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.from != "" {
				o.dir = firstOr(args, ".")
				return initFrom(cmd, env, o)
			}
			if o.yes || o.category != "" || o.drafter != "" {
				return usageErr("firstpick init --from DIR", "--yes, --category and --draft need --from")
			}
			return initFolder(env, firstOr(args, "."), server)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&server, "server", false, "write every key, with the keys of a server")
	f.StringVar(&o.from, "from", "", "propose an eval of the `product` in this folder, or at this address")
	f.StringVar(&o.category, "category", "", "category of the product (default: the one that fits best)")
	f.BoolVar(&o.yes, "yes", false, "write the proposed files without a question")
	f.StringVar(&o.drafter, "draft", "", "let this `model` draft the prompts: KIND:MODEL, or KIND:MODEL@URL")
	f.Float64Var(&o.draftCost, "draft-cost", 0.25, "the most that --draft may cost, in US `dollars`")
	cmd.MarkFlagsMutuallyExclusive("from", "server")
	return cmd
}

func initFolder(env *Env, dir string, server bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usageErr("firstpick init DIR writes into a folder", "%s is a file, not a folder", dir)
	}
	example, err := exampleEval()
	if err != nil {
		return err
	}
	config := scaffoldConfig
	if server {
		config = serverConfig
		if err := replaceScaffold(filepath.Join(dir, configName)); err != nil {
			return err
		}
	}
	files := []struct {
		path string
		data []byte
	}{
		{configName, config},
		{filepath.Join("evals", exampleCategory+".yaml"), example},
		{filepath.Join("evals", "eval.schema.json"), eval.Schema()},
		{".gitignore", []byte(".firstpick/\n*.pem\n")},
	}
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if _, err := os.Stat(path); err == nil {
			_, _ = fmt.Fprintf(env.Stderr, "kept    %s\n", path)
			continue
		}
		if err := writeNew(path, f.data); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(env.Stderr, "written %s\n", path)
	}
	next := "firstpick run evals/" + exampleCategory + ".yaml"
	if dir != "." {
		next = "cd " + dir + " && " + next
	}
	next += " (a rehearsal: its answers are simulated)"
	if server {
		next = "firstpick server --config " + configName
	}
	_, _ = fmt.Fprintln(env.Stderr, "next: "+next)
	return nil
}

// replaceScaffold removes a configuration that is still as init wrote it.
func replaceScaffold(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(text, serverConfig) {
		return nil
	}
	if err != nil {
		return badInput(err)
	}
	if !bytes.Equal(text, scaffoldConfig) {
		return usageErr("rename it, and copy your values into the new one", "%s was edited: --server would replace it", path)
	}
	return os.Remove(path)
}

// exampleCategory is the category of the eval that init writes.
const exampleCategory = "payments"

// exampleEval returns the eval that init writes.
func exampleEval() ([]byte, error) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		return nil, err
	}
	category, ok := cat.Category(exampleCategory)
	if !ok {
		return nil, unknownCategory(cat, exampleCategory)
	}
	d, err := newDraft(category, 0)
	if err != nil {
		return nil, err
	}
	d.Truth = "{stripe: 0.6, paddle: 0.2, paypal: 0.1, diy: 0.1}"
	return d.render(category)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
