package duck

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
)

// An OpenError says why a file could not be opened.
type OpenError struct {
	Path string
	// PID is the process that has the file open; empty where the file is not
	// locked or the process is not known.
	PID string
	Err error
}

// Error implements error.
func (e *OpenError) Error() string { return "open " + name(e.Path) + ": " + e.Err.Error() }

// Unwrap returns the driver's error.
func (e *OpenError) Unwrap() error { return e.Err }

func name(path string) string {
	if path == "" {
		return "database in memory"
	}
	return path
}

func openError(path string, err error) error {
	pid, _ := IsLocked(err)
	return &OpenError{Path: path, PID: pid, Err: err}
}

// IsLocked reports whether err says that another process has the file open, and
// which: pid is decimal, and empty if the driver does not report it.
func IsLocked(err error) (pid string, ok bool) {
	if err == nil || !strings.Contains(err.Error(), "Could not set lock on file") {
		return "", false
	}
	m := regexp.MustCompile(`\(PID (\d+)\)`).FindStringSubmatch(err.Error())
	if m == nil {
		return "", true
	}
	return m[1], true
}

// IsDamaged reports whether err says that the file is not a database, or not a
// whole one. Such a file stays damaged: it must be rebuilt.
func IsDamaged(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	for _, mark := range []string{
		"not a valid DuckDB database file", "Corrupt", "checksum", "Checksum",
		"Serialization Error", "INTERNAL Error", "FATAL Error", "database has been invalidated",
		"Could not read enough bytes", "Failure while replaying WAL",
	} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// A new file begins with three header blocks, which are written and synced before
// anything else.
const (
	headerBlock  = 4096
	headerBlocks = 3
)

// IsUnfinished reports whether the creation of the file at path never finished: it ends
// inside its headers, or one of them was never written. Such a file holds no table.
func IsUnfinished(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	block, empty := make([]byte, headerBlock), make([]byte, headerBlock)
	for range headerBlocks {
		_, err := io.ReadFull(f, block)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && bytes.Equal(block, empty) {
			return true
		}
	}
	return false
}
