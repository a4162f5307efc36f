package state

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/kit/secret"
)

// MasterFile is the name of the file that holds the master key of a store, unless the
// configuration sets one.
const MasterFile = "state.key"

// ErrKeyFormat means that a master key is not MasterSize bytes in base64.
var ErrKeyFormat = fmt.Errorf("the master key must be %d bytes in base64", secret.MasterSize)

// A MissingKeyError means that a store has a master key, and no file holds it.
type MissingKeyError struct {
	Store string   // file of a SQLite store; empty for PostgreSQL
	Files []string // where the key was expected
}

// Error implements error.
func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("the master key of the store%s is missing: %s", strings.TrimRight(" "+e.Store, " "), strings.Join(e.Files, " or "))
}

// Access names the store to open and the place of its master key.
type Access struct {
	Address string // sqlite:///FILE or postgres://...
	// Key is the master key in base64, KeyName its name in errors; without a key it is
	// read from a file.
	Key, KeyName string
	Data         string // data folder
	DataSet      bool   // Data was configured, and not left at its default
	Rand         io.Reader
}

// A masterKey is a key that may open the store.
type masterKey struct {
	master []byte
	file   string // empty for the key of the configuration
	made   bool   // just now
}

// Open opens the store under its master key. A new store without a key gets one.
func (a *Access) Open(ctx context.Context) (*DB, *secret.Vault, error) {
	keys, err := a.keys()
	if err != nil {
		return nil, nil, err
	}
	for i, key := range keys {
		vault, err := secret.NewVault(key.master, a.Rand)
		if err != nil {
			return nil, nil, err
		}
		db, err := Open(ctx, a.Address, vault)
		switch {
		case !errors.Is(err, ErrMaster):
			return db, vault, err
		case key.made:
			_ = os.Remove(key.file) // it opens nothing
			return nil, nil, &MissingKeyError{Files: []string{key.file}}
		case i == len(keys)-1:
			return nil, nil, err
		}
	}
	return nil, nil, errors.New("no master key") // there is always one
}

// HasKey reports whether a master key was configured or made before.
func (a *Access) HasKey() bool {
	return a.Key != "" || slices.ContainsFunc(a.KeyFiles(), func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// KeyFiles returns where the master key of the store may be; a new store has it in the
// first. The key of a SQLite store is kept next to its file, so that commands find it by
// the address alone. Older versions kept it in the data folder; so does PostgreSQL.
func (a *Access) KeyFiles() []string {
	data := filepath.Join(a.Data, MasterFile)
	file := a.sqliteFile()
	if file == "" {
		return []string{data}
	}
	next := filepath.Join(filepath.Dir(file), MasterFile)
	if abs, err := filepath.Abs(data); err == nil && abs == next {
		return []string{data}
	}
	if !a.DataSet && isNew(file) { // the default folder may be another store's
		return []string{next}
	}
	return []string{next, data}
}

// sqliteFile returns the file of a SQLite store; empty for another.
func (a *Access) sqliteFile() string {
	u, err := url.Parse(a.Address)
	if err != nil || u.Scheme != "sqlite" {
		return "" // Open reports the error
	}
	return filepath.FromSlash(u.Path)
}

func isNew(file string) bool {
	info, err := os.Stat(file)
	return err != nil || info.Size() == 0
}

// keys returns the configured key, or those that files hold; for a new store without
// any it makes one.
func (a *Access) keys() ([]masterKey, error) {
	if a.Key != "" {
		key, err := decodeMaster(a.KeyName, a.Key)
		return []masterKey{{master: key}}, err
	}
	files := a.KeyFiles()
	keys, err := readMasters(files)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	if file := a.sqliteFile(); file != "" && !isNew(file) {
		return nil, &MissingKeyError{file, files}
	}
	err = newMaster(files[0], a.Rand)
	if err != nil && !errors.Is(err, os.ErrExist) { // another process may have made it just now
		return nil, fmt.Errorf("master key: %w", err)
	}
	made := err == nil
	if keys, err = readMasters(files[:1]); err == nil && len(keys) == 1 {
		keys[0].made = made
	}
	return keys, err
}

// readMasters reads the keys that exist, each once.
func readMasters(files []string) ([]masterKey, error) {
	var keys []masterKey
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("master key: %w", err)
		}
		key, err := decodeMaster(file, string(text))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(keys, func(k masterKey) bool { return slices.Equal(k.master, key) }) {
			keys = append(keys, masterKey{master: key, file: file})
		}
	}
	return keys, nil
}

func decodeMaster(where, text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != secret.MasterSize {
		return nil, fmt.Errorf("%s: %w", where, ErrKeyFormat)
	}
	return key, nil
}

// newMaster writes a new key under another name first, so that no reader sees a part of
// the file.
func newMaster(file string, random io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	key := make([]byte, secret.MasterSize)
	if _, err := io.ReadFull(random, key); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), MasterFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Link(tmp.Name(), file) // fails when the file exists
}
