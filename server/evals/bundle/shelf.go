package bundle

import (
	"container/list"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Shelf keeps bundles open between requests: opening one hashes its index, which
// takes longer than most answers. Its methods may be called by many goroutines.
type Shelf struct {
	root    string
	keep    int
	decoder func() (*zstd.Decoder, error) // one for all bundles

	mu     sync.Mutex
	books  map[bookKey]*list.Element
	order  *list.List // of *book, the one asked for last in front
	closed bool
}

type bookKey struct{ workspace, id string }

// A book is a bundle on the shelf, or one that was taken off and is still read.
type book struct {
	key  bookKey
	open func() (*Bundle, error) // opens it once, whoever asks first
	// users counts who has it; gone says that it is off the shelf. Both under Shelf.mu.
	users int
	gone  bool
}

// NewShelf returns a shelf for the bundles root/<workspace id>/<bundle id>. It keeps
// at most keep of them open, and those that somebody has.
func NewShelf(root string, keep int) *Shelf {
	return &Shelf{root: root, keep: max(keep, 1), decoder: sync.OnceValues(newDecoder), books: map[bookKey]*list.Element{}, order: list.New()}
}

// Get returns a bundle of a workspace, opened or as it stands on the shelf. The caller
// calls release when done with it, and does not close it. One that does not exist, or
// whose ids are none, is ErrNotFound; after Close it is ErrClosed. A failure is not
// kept: the next Get tries again.
func (s *Shelf) Get(workspace, id string) (b *Bundle, release func(), err error) {
	if !isName(workspace) {
		return nil, nil, fmt.Errorf("run bundles of a workspace %q: %w", workspace, ErrNotFound)
	}
	k := s.take(bookKey{workspace, id})
	if k == nil {
		return nil, nil, ErrClosed
	}
	if b, err = k.open(); err != nil {
		s.forget(k)
		s.release(k)
		return nil, nil, err
	}
	return b, sync.OnceFunc(func() { s.release(k) }), nil
}

// isName says whether a folder of that name cannot be but below the root.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-'
	})
}

// Close takes all bundles off the shelf. Those that somebody has are closed when they
// are released.
func (s *Shelf) Close() error {
	s.mu.Lock()
	s.closed = true
	idle := s.trim(0)
	s.mu.Unlock()
	return closeAll(idle)
}

// take counts a user of a book, and puts the book in front. It returns nil after Close.
func (s *Shelf) take(key bookKey) *book {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	at := s.books[key]
	if at == nil {
		at = s.order.PushFront(&book{key: key, open: sync.OnceValues(func() (*Bundle, error) {
			decoder, err := s.decoder()
			if err != nil {
				return nil, err
			}
			return openWith(filepath.Join(s.root, key.workspace), key.id, decoder)
		})})
		s.books[key] = at
	}
	s.order.MoveToFront(at)
	k := at.Value.(*book)
	k.users++
	idle := s.trim(s.keep)
	s.mu.Unlock()
	_ = closeAll(idle) // read only: nothing is lost
	return k
}

// trim takes off what is too much, the longest unasked first, and returns those that
// nobody has. The caller holds the lock, and closes them without it.
func (s *Shelf) trim(keep int) (idle []*book) {
	for s.order.Len() > keep {
		if k := s.order.Back().Value.(*book); s.remove(k) {
			idle = append(idle, k)
		}
	}
	return idle
}

// remove takes a book off the shelf and says whether nobody has it.
func (s *Shelf) remove(k *book) bool {
	if at := s.books[k.key]; at != nil && at.Value.(*book) == k {
		s.order.Remove(at)
		delete(s.books, k.key)
	}
	k.gone = true
	return k.users == 0
}

// forget takes a book that could not be opened off the shelf.
func (s *Shelf) forget(k *book) {
	s.mu.Lock()
	s.remove(k)
	s.mu.Unlock()
}

func (s *Shelf) release(k *book) {
	s.mu.Lock()
	k.users--
	last := k.gone && k.users == 0
	s.mu.Unlock()
	if last {
		_ = closeAll([]*book{k})
	}
}

func closeAll(books []*book) error {
	var errs []error
	for _, k := range books {
		if b, err := k.open(); err == nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
