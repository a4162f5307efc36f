package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A Report is the result of a gate.
type Report struct {
	Verdicts []Verdict `json:"verdicts"`
	// Missing counts planned trials that are neither answered nor excluded.
	Missing int `json:"missing"`
}

// Count returns how many rules have a status.
func (r Report) Count(s Status) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Status == s {
			n++
		}
	}
	return n
}

// junit is the report in the form that CI servers read: one test case a rule. They
// know no more than failure (a rule that is not met) and error (one that could not
// be judged).
type junit struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Output  string        `xml:"system-out"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

// JUnit writes the report as JUnit XML.
func (r Report) JUnit(w io.Writer) error {
	const name = "firstpick gate"
	doc := junit{Name: name, Tests: len(r.Verdicts), Failures: r.Count(Failed), Errors: r.Count(Undecided)}
	doc.Suite = junitSuite{Name: name, Tests: doc.Tests, Failures: doc.Failures, Errors: doc.Errors}
	if r.Missing > 0 {
		doc.Tests, doc.Errors, doc.Suite.Tests, doc.Suite.Errors = doc.Tests+1, doc.Errors+1, doc.Suite.Tests+1, doc.Suite.Errors+1
		doc.Suite.Cases = append(doc.Suite.Cases, junitCase{
			Class: "run", Name: "every planned trial is accounted for",
			Error: &junitMessage{fmt.Sprintf("%d trials are missing", r.Missing), "incomplete"},
		})
	}
	for _, v := range r.Verdicts {
		c := junitCase{Class: v.Category, Name: v.Rule, Output: v.Measured}
		m := &junitMessage{v.Measured + ": " + v.Why, string(v.Status)}
		switch v.Status {
		case Met:
		case Failed:
			c.Failure = m
		case Undecided:
			c.Error = m
		}
		doc.Suite.Cases = append(doc.Suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Markdown writes the report for the summary of a CI job.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Gate: %s\n\n", r.Headline())
	b.WriteString("| | category | rule | measured | verdict |\n| --- | --- | --- | --- | --- |\n")
	for _, v := range r.Verdicts {
		sign := map[Status]string{Met: "✅", Failed: "❌", Undecided: "❔"}[v.Status]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", sign, cell(v.Category), code(v.Rule), cell(v.Measured), cell(string(v.Status)+": "+v.Why))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes a text fit a cell of a markdown table, code the same as code.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "`", "'", "<", "&lt;").Replace(s)
}

func code(s string) string {
	return "`" + strings.NewReplacer("|", `\|`, "\n", " ", "`", "'").Replace(s) + "`"
}

// Headline is the report in a few words.
func (r Report) Headline() string {
	parts := []string{fmt.Sprintf("%d of %d rules met", r.Count(Met), len(r.Verdicts))}
	if n := r.Count(Failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := r.Count(Undecided); n > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", n))
	}
	if r.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d trials missing", r.Missing))
	}
	return strings.Join(parts, ", ")
}
