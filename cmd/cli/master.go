package cli

import (
	"bytes"
	"crypto/rand"
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

// masterFile holds the master key of a store where the environment has none.
const masterFile = "state.key"

const masterHint = "every server, worker and admin command of a store needs the same FIRSTPICK_STATE_KEY, or the same " + masterFile + ": beside the file of SQLite, or in --data"

// A masterKey is a key that may open the store.
type masterKey struct {
	master []byte
	file   string // empty for that of the environment
	made   bool   // just now
}

// keyFiles returns where the master key of a store may be; a new store has it in the
// first. The key of a SQLite store is kept beside its file, so that commands find it by
// the address alone. Older versions kept it in the data folder; so does PostgreSQL.
func (a *app) keyFiles(address string) []string {
	data := filepath.Join(a.cfg.Data, masterFile)
	file := sqliteFile(address)
	if file == "" {
		return []string{data}
	}
	beside := filepath.Join(filepath.Dir(file), masterFile)
	if abs, err := filepath.Abs(data); err == nil && abs == beside {
		return []string{data}
	}
	if !a.cfg.DataSet && isNew(file) { // a folder that merely lies here is another store's
		return []string{beside}
	}
	return []string{beside, data}
}

// sqliteFile returns the file of a SQLite store; empty for another.
func sqliteFile(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "sqlite" {
		return "" // opening it says what is wrong
	}
	return filepath.FromSlash(u.Path)
}

func isNew(file string) bool {
	info, err := os.Stat(file)
	return err != nil || info.Size() == 0
}

// masterKeys returns the key of the environment, or those that files hold; for a new
// store without any it makes one.
func (a *app) masterKeys(address string) ([]masterKey, error) {
	if a.cfg.StateKey != "" {
		key, err := decodeMaster("FIRSTPICK_STATE_KEY", a.cfg.StateKey)
		return []masterKey{{master: key}}, err
	}
	files := a.keyFiles(address)
	keys, err := readMasters(files)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	if file := sqliteFile(address); file != "" && !isNew(file) {
		return nil, usageErr("restore the file; "+masterHint, "the master key of the store %s is missing: %s", file, strings.Join(files, " or "))
	}
	err = newMaster(files[0])
	if err != nil && !errors.Is(err, os.ErrExist) { // another process may have made it just now
		return nil, badInput(fmt.Errorf("master key: %w", err))
	}
	made := err == nil
	if keys, err = readMasters(files[:1]); err == nil && len(keys) == 1 {
		keys[0].made = made
	}
	return keys, err
}

// readMasters reads the keys that there are, each once.
func readMasters(files []string) ([]masterKey, error) {
	var keys []masterKey
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, badInput(fmt.Errorf("master key: %w", err))
		}
		key, err := decodeMaster(file, string(text))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(keys, func(k masterKey) bool { return bytes.Equal(k.master, key) }) {
			keys = append(keys, masterKey{master: key, file: file})
		}
	}
	return keys, nil
}

// hasMaster reports whether a master key was given or made before.
func (a *app) hasMaster() bool {
	address, err := a.stateAddress()
	return a.cfg.StateKey != "" || err == nil && slices.ContainsFunc(a.keyFiles(address), func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

func decodeMaster(where, text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != secret.MasterSize {
		return nil, usageErr("create one with openssl rand -base64 32", "%s: the master key must be %d bytes in base64", where, secret.MasterSize)
	}
	return key, nil
}

// newMaster writes a new key under another name first, so that the file is never
// seen half written.
func newMaster(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	key := make([]byte, secret.MasterSize)
	if _, err := io.ReadFull(rand.Reader, key); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), masterFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Link(tmp.Name(), file) // fails when the file is there
}
