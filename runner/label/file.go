package label

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/firstpick/firstpick/runner/filelock"
)

// A line is one line of a label file: exactly one field is set.
type line struct {
	Sample    *Sample     `json:"sample,omitempty"`
	Label     *Label      `json:"label,omitempty"`
	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
}

// Parse reads label files, also several one after the other, and returns their sets by
// run. Errors name lines, all of them. A last line without its newline is an interrupted
// write that was never acknowledged, and is passed over.
func Parse(r io.Reader) (map[string]*Set, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	sets := map[string]*Set{}
	var errs []error
	n := 0
	for text := range bytes.Lines(data) {
		n++
		if !bytes.HasSuffix(text, []byte("\n")) || len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := readLine(sets, text); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
		}
	}
	return sets, joined(errs)
}

// maxErrors is how many malformed lines an error lists.
const maxErrors = 20

func joined(errs []error) error {
	if more := len(errs) - maxErrors; more > 0 {
		errs = append(errs[:maxErrors:maxErrors], fmt.Errorf("%d more malformed lines", more))
	}
	return errors.Join(errs...)
}

func readLine(sets map[string]*Set, text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l line
	if err := dec.Decode(&l); err != nil {
		return fmt.Errorf("not a line of a label file: %w", err)
	}
	if dec.More() {
		return errors.New("not a line of a label file: text after the JSON object")
	}
	switch {
	case l.Sample != nil && l.Label == nil && l.Withdrawn == nil:
		return addSample(sets, *l.Sample)
	case l.Label != nil && l.Sample == nil && l.Withdrawn == nil:
		if err := l.Label.check(); err != nil {
			return err
		}
		set, err := find(sets, l.Label.Run, l.Label.Trial)
		if err == nil {
			set.withdraw(l.Label.Trial, l.Label.By)
			set.Labels = append(set.Labels, *l.Label)
		}
		return err
	case l.Withdrawn != nil && l.Sample == nil && l.Label == nil:
		set, err := find(sets, l.Withdrawn.Run, l.Withdrawn.Trial)
		if err == nil {
			set.withdraw(l.Withdrawn.Trial, l.Withdrawn.By)
		}
		return err
	}
	return errors.New(`not a line of a label file: want one of "sample", "label" and "withdrawn"`)
}

func addSample(sets map[string]*Set, s Sample) error {
	if s.Run == "" || len(s.Trials) == 0 {
		return errors.New("a sample without a run or without trials")
	}
	if sets[s.Run] != nil {
		return fmt.Errorf("a second sample of run %s; a run has one", s.Run)
	}
	seen := map[string]bool{}
	for _, d := range s.Trials {
		if d.Trial == "" || d.P <= 0 || d.P > 1 || seen[d.Trial] {
			return fmt.Errorf("a sample with trial %q of probability %g; want each trial once, with p above 0 and at most 1", d.Trial, d.P)
		}
		seen[d.Trial] = true
	}
	sets[s.Run] = &Set{Sample: s}
	return nil
}

// find returns the set of a run whose sample has the trial.
func find(sets map[string]*Set, run, trial string) (*Set, error) {
	set := sets[run]
	if set == nil {
		return nil, fmt.Errorf("a label of run %s before its sample", run)
	}
	if !slices.ContainsFunc(set.Sample.Trials, func(d Drawn) bool { return d.Trial == trial }) {
		return nil, fmt.Errorf("trial %s is not in the sample of run %s", trial, run)
	}
	return set, nil
}

func (s *Set) withdraw(trial, by string) {
	s.Labels = slices.DeleteFunc(s.Labels, func(l Label) bool { return l.Trial == trial && l.By == by })
}

// A File is the label file of a run. Several processes may use it at once.
type File struct {
	Path string
	Run  string
}

// Read returns the set of the run, or nil where nobody has drawn a sample.
func (f File) Read() (*Set, error) {
	in, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no labels is no error
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return f.parse(in)
}

func (f File) parse(in io.Reader) (*Set, error) {
	sets, err := Parse(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	for run := range sets {
		if run != f.Run {
			return nil, fmt.Errorf("%s: has labels of run %s; it lies beside run %s", f.Path, run, f.Run)
		}
	}
	return sets[f.Run], nil
}

// Begin returns the set of the run. Where there is none, it stores the sample that draw
// returns first; of two processes that begin at once, one draws and both get its sample.
func (f File) Begin(draw func() (Sample, error)) (*Set, error) {
	var set *Set
	err := f.locked(os.O_CREATE, func(file *os.File) (err error) {
		if set, err = f.parse(file); err != nil || set != nil {
			return err
		}
		sample, err := draw()
		if err != nil {
			return err
		}
		set = &Set{Sample: sample}
		return write(file, line{Sample: &sample})
	})
	return set, err
}

// Add stores labels. It returns when they are on disk.
func (f File) Add(labels ...Label) error {
	lines := make([]line, len(labels))
	for i := range labels {
		if err := labels[i].check(); err != nil {
			return err
		}
		lines[i].Label = &labels[i]
	}
	return f.locked(0, func(file *os.File) error { return write(file, lines...) })
}

// Withdraw takes a label back. It returns when that is on disk.
func (f File) Withdraw(w Withdrawal) error {
	return f.locked(0, func(file *os.File) error { return write(file, line{Withdrawn: &w}) })
}

// locked calls fn with the open file, which no other process writes meanwhile.
func (f File) locked(flags int, fn func(*os.File) error) error {
	file, err := os.OpenFile(f.Path, os.O_RDWR|flags, 0o644)
	if err != nil {
		return err
	}
	if err = filelock.Lock(file); err == nil {
		err = fn(file)
	}
	return errors.Join(err, file.Close()) // closing gives the lock back
}

// write appends lines and syncs them. It first removes a line without its newline: an
// interrupted write that was never acknowledged.
func write(file *os.File, lines ...line) error {
	end, err := wholeLines(file)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	if err := file.Truncate(end); err != nil {
		return err
	}
	if _, err := file.WriteAt(buf.Bytes(), end); err != nil {
		return errors.Join(fmt.Errorf("%s: the label was not stored: %w", file.Name(), err), file.Truncate(end))
	}
	return file.Sync()
}

// wholeLines returns the size of the file without an unfinished last line.
func wholeLines(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	const block = 4096
	buf := make([]byte, block)
	for end := info.Size(); end > 0; {
		start := max(0, end-block)
		n, err := file.ReadAt(buf[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if at := bytes.LastIndexByte(buf[:n], '\n'); at >= 0 {
			return start + int64(at) + 1, nil
		}
		end = start
	}
	return 0, nil
}
