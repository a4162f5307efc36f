package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/inert"
)

// A format is how a list is printed.
type format struct{ json, csv, md bool }

func (f *format) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.csv, "csv", false, "print CSV")
	cmd.Flags().BoolVar(&f.md, "md", false, "print a markdown table")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "md")
}

// A table is a list for people and for pipes.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table: aligned on a terminal, tab-separated in a pipe.
func (t *table) print(env *Env, f format) error {
	// Others wrote some of the cells: each stays in its line and column.
	for _, row := range t.rows {
		for i, cell := range row {
			if f.csv {
				row[i] = inert.Cell(cell)
			} else {
				row[i] = inert.Line(strings.NewReplacer("\n", " ", "\t", " ").Replace(cell))
			}
		}
	}
	switch {
	case f.csv:
		return csv.NewWriter(env.Stdout).WriteAll(append([][]string{t.header}, t.rows...))
	case f.md:
		return t.markdown(env.Stdout)
	case env.StdoutIsTTY:
		return t.aligned(env.Stdout)
	default:
		return t.tabs(env.Stdout)
	}
}

func (t *table) tabs(w io.Writer) error {
	var b strings.Builder
	for _, row := range append([][]string{t.header}, t.rows...) {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) markdown(w io.Writer) error {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.header)
	b.WriteString(strings.Repeat("| --- ", len(t.header)) + "|\n")
	for _, row := range t.rows {
		line(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) aligned(w io.Writer) error {
	all := append([][]string{t.header}, t.rows...)
	width := make([]int, len(t.header))
	number := make([]bool, len(t.header))
	for i := range t.header {
		number[i] = len(t.rows) > 0
		for r, row := range all {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
			if r > 0 && strings.Trim(row[i], "0123456789.,%-–+$ ") != "" {
				number[i] = false
			}
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if number[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printJSON writes v as indented JSON.
func printJSON(env *Env, v any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func percent(rate float64) string { return fmt.Sprintf("%.1f%%", stats.Percent(rate)) }
