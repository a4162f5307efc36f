package state_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

var now = time.Date(2026, 11, 21, 10, 0, 0, 123456000, time.UTC)

// onBoth runs a test on both stores: this is the suite that a store has to pass.
func onBoth(t *testing.T, f func(t *testing.T, db *state.DB)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f(t, statetest.Open(t, statetest.Address(t, engine)))
		})
	}
}

func write(t *testing.T, db *state.DB, fn func(tx *state.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func registration(id string) *identity.Registration {
	return &identity.Registration{
		ID: id, Kind: identity.IdentityAssertion, WorkspaceID: "ws_1", AccountID: "acc_1", Email: "dana@example.com",
		ISS: "https://idp.example", Sub: "sub " + id, Aud: "https://svc.example/api/", ClientID: "client", AMR: []string{"mfa", "pwd"}, Platform: "p", Context: "c",
		Generation: 3, ClaimHash: secret.Hash(id), CreatedAt: now, ClaimExpires: now.Add(time.Hour), ClaimedAt: now.Add(1), DeniedAt: now.Add(2 * time.Microsecond),
		RevokedAt: now.Add(3 * time.Microsecond), Refused: []string{"a@example.com", "b@example.com"}, Codes: 4, Locks: 2, PausedUntil: now.Add(time.Minute),
		Poll:   identity.Poll{Interval: 10 * time.Second, OKAt: now, Penalised: true},
		Redeem: identity.Redeem{FirstAt: now, Count: 1, Token: []byte{1, 2, 3}}, CreatedIP: "192.0.2.1", UserAgent: "curl",
	}
}

func TestARegistrationComesBackAsItWas(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		want := registration("reg_1")
		want.ClaimedAt = want.ClaimedAt.Truncate(time.Microsecond)
		write(t, db, func(tx *state.Tx) error { return tx.AddRegistration(t.Context(), want) })
		for name, find := range map[string]func(tx *state.Tx) (*identity.Registration, error){
			"by id": func(tx *state.Tx) (*identity.Registration, error) { return tx.Registration(t.Context(), "reg_1") },
			"by claim": func(tx *state.Tx) (*identity.Registration, error) {
				return tx.RegistrationByClaim(t.Context(), secret.Hash("reg_1"))
			},
			"by subject": func(tx *state.Tx) (*identity.Registration, error) {
				return tx.RegistrationBySubject(t.Context(), want.ISS, want.Sub, want.Aud)
			},
		} {
			write(t, db, func(tx *state.Tx) error {
				got, err := find(tx)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				return err
			})
		}
		want.ClaimHash, want.Email, want.Refused, want.AMR = nil, "", nil, nil
		want.Kind, want.RevokedAt = identity.Anonymous, time.Time{}
		want.Redeem.Token = nil
		write(t, db, func(tx *state.Tx) error { return tx.SaveRegistration(t.Context(), want) })
		got, err := db.Read().Registration(t.Context(), "reg_1")
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if _, err := db.Read().Registration(t.Context(), "reg_2"); !errors.Is(err, state.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Of many who use a token id at once, one is first; a transaction that fails
// uses nothing.
func TestUseOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		boom := errors.New("boom")
		err := db.Write(t.Context(), func(tx *state.Tx) error {
			if first, err := tx.UseOnce(t.Context(), "id-jag", "iss", "jti", now); err != nil || !first {
				t.Error(first, err)
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		var first atomic.Int32
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				if err := db.Write(t.Context(), func(tx *state.Tx) error {
					ok, err := tx.UseOnce(t.Context(), "id-jag", "iss", "jti", now)
					if ok {
						first.Add(1)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if first.Load() != 1 {
			t.Errorf("%d were first", first.Load())
		}
		write(t, db, func(tx *state.Tx) error {
			for _, other := range [][3]string{{"set", "iss", "jti"}, {"id-jag", "iss2", "jti"}, {"id-jag", "iss", "jti2"}} {
				if ok, err := tx.UseOnce(t.Context(), other[0], other[1], other[2], now); err != nil || !ok {
					t.Errorf("%v: %v %v", other, ok, err)
				}
			}
			return nil
		})
	})
}

// A failing, panicking or cancelled transaction leaves nothing, and those that
// shared its commit go through.
func TestOneTransactionFailsAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		var all sync.WaitGroup
		var failed atomic.Int32
		for i := range 120 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%4 == 3 {
					cancel()
				}
				err := db.Write(ctx, func(tx *state.Tx) error {
					if err := tx.Audit(ctx, state.AuditEntry{ID: fmt.Sprint("aud_", i), At: now, Event: "e"}); err != nil {
						return err
					}
					switch i % 4 {
					case 1:
						return errors.New("no")
					case 2:
						panic("no")
					}
					return nil
				})
				if err != nil {
					failed.Add(1)
				}
				if (err == nil) != (i%4 == 0) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
		log, err := db.Read().AuditLog(t.Context(), state.AuditFilter{Limit: 1000})
		if err != nil || len(log) != 30 || failed.Load() != 90 {
			t.Errorf("%d lines, %d failed, %v", len(log), failed.Load(), err)
		}
	})
}

func TestCountersSlide(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		count := func(at time.Time) (e float64) {
			write(t, db, func(tx *state.Tx) error {
				c, err := tx.Count(t.Context(), "k", time.Hour, at)
				e = c.Estimate()
				return err
			})
			return e
		}
		for i := range 4 {
			if got := count(at.Add(59 * time.Minute)); got != float64(i+1) {
				t.Errorf("estimate %v", got)
			}
		}
		if got := count(at.Add(90 * time.Minute)); got != 1+4*0.5 {
			t.Errorf("half an hour into the next: %v", got)
		}
		if got := count(at.Add(4 * time.Hour)); got != 1 {
			t.Errorf("long after: %v", got)
		}
	})
}

func TestTokens(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		r := registration("reg_1")
		r.RevokedAt, r.DeniedAt = time.Time{}, time.Time{}
		token := func(i int) *state.AccessToken {
			return &state.AccessToken{Hash: secret.Hash(fmt.Sprint(i)), RegistrationID: "reg_1", Generation: 3, Scope: "s", CreatedAt: now.Add(time.Duration(i) * time.Second), ExpiresAt: now.Add(time.Hour)}
		}
		write(t, db, func(tx *state.Tx) error {
			if err := tx.AddRegistration(t.Context(), r); err != nil {
				return err
			}
			for i := range 15 {
				if err := tx.AddAccessToken(t.Context(), token(i), 12); err != nil {
					return err
				}
			}
			return nil
		})
		live := func() (out []int) {
			for i := range 15 {
				if _, err := db.Bearer(t.Context(), secret.Hash(fmt.Sprint(i)), now.Add(time.Minute)); err == nil {
					out = append(out, i)
				} else if !errors.Is(err, state.ErrNotFound) {
					t.Error(err)
				}
			}
			return out
		}
		if got := live(); len(got) != 12 || got[0] != 3 {
			t.Errorf("live: %v", got)
		}
		write(t, db, func(tx *state.Tx) error {
			if id, err := tx.RevokeToken(t.Context(), secret.Hash("5"), now); id != "reg_1" || err != nil {
				t.Error(id, err)
			}
			id, err := tx.RevokeToken(t.Context(), secret.Hash("5"), now)
			if id != "" {
				t.Error("revoked twice")
			}
			return err
		})
		if got := live(); len(got) != 11 || slices.Contains(got, 5) {
			t.Errorf("live: %v", got)
		}
		r.Generation++
		write(t, db, func(tx *state.Tx) error { return tx.SaveRegistration(t.Context(), r) })
		if got := live(); len(got) != 0 {
			t.Errorf("of an older generation, and live: %v", got)
		}
	})
}

// One account has a proven address; any number may be asserted to have it.
func TestAccounts(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		add := func(id string, verified time.Time) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				return tx.AddAccount(t.Context(), &state.Account{ID: id, Email: "dana@example.com", VerifiedAt: verified, CreatedAt: now})
			})
		}
		if err := errors.Join(add("a1", time.Time{}), add("a2", time.Time{}), add("a3", now)); err != nil {
			t.Fatal(err)
		}
		if err := add("a4", now); err == nil {
			t.Error("two accounts have proven the same address")
		}
		a, err := db.Read().VerifiedAccount(t.Context(), "dana@example.com")
		if err != nil || a.ID != "a3" || a.Email != "dana@example.com" {
			t.Errorf("%+v, %v", a, err)
		}
		others, err := db.Read().AssertedAccounts(t.Context(), "dana@example.com")
		if err != nil || len(others) != 2 {
			t.Errorf("%d, %v", len(others), err)
		}
	})
}

func TestOutbox(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		write(t, db, func(tx *state.Tx) error { return tx.AddMail(t.Context(), "m1", []byte("hello"), now) })
		take := func(at time.Time) (m *state.QueuedMail) {
			write(t, db, func(tx *state.Tx) (err error) { m, err = tx.ClaimMail(t.Context(), at, time.Minute); return err })
			return m
		}
		if m := take(now); m == nil || string(m.Content) != "hello" || m.Tries != 1 {
			t.Fatalf("%+v", m)
		}
		if m := take(now.Add(time.Second)); m != nil {
			t.Error("taken twice within its lease")
		}
		if m := take(now.Add(2 * time.Minute)); m == nil || m.Tries != 2 {
			t.Errorf("%+v", m)
		}
		write(t, db, func(tx *state.Tx) error { return tx.DropMail(t.Context(), "m1") })
		if m := take(now.Add(time.Hour)); m != nil {
			t.Error("sent mail is still there")
		}
	})
}

// fill puts a row into every table.
func fill(t *testing.T, db *state.DB) {
	t.Helper()
	ctx := t.Context()
	write(t, db, func(tx *state.Tx) error {
		if added, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "ws_1", Slug: "slug", Plan: "free", CreatedAt: now}); err != nil || !added {
			return errors.Join(err, errors.New("workspace"))
		}
		_, err := tx.UseOnce(ctx, "set", "iss", "jti", now.Add(time.Hour))
		_, collected := tx.AddEvents(ctx, []state.CollectedEvent{{WorkspaceID: "ws_1", ID: "e1", OrderKey: "paid:o1", ReceivedAt: now, Body: []byte("{}")}})
		return errors.Join(err, collected,
			tx.AddAccount(ctx, &state.Account{ID: "acc_1", Email: "dana@example.com", Phone: "+491234567", VerifiedAt: now, CreatedAt: now}),
			tx.AddRegistration(ctx, registration("reg_1")),
			tx.AddAttempt(ctx, &identity.Attempt{ID: "cla_1", RegistrationID: "reg_1", ViewHash: []byte("v"), CodeMAC: []byte("m"), State: identity.Active}),
			tx.AddAccessToken(ctx, &state.AccessToken{Hash: []byte("h"), RegistrationID: "reg_1"}, 12),
			tx.SaveDelegation(ctx, &state.Delegation{ISS: "iss", Sub: "sub", AccountID: "acc_1"}),
			tx.RevokeSubject(ctx, "iss", "sub", now),
			tx.AddCollectorKey(ctx, &state.CollectorKey{ID: "key_1", Hash: []byte("k"), WorkspaceID: "ws_1", Kind: "secret", Label: "ümlaut"}),
			tx.AddSession(ctx, &state.Session{Hash: []byte("s"), AccountID: "acc_1"}),
			tx.AddSignIn(ctx, &state.SignIn{Hash: []byte("l"), Email: "dana@example.com"}),
			tx.SaveIssuer(ctx, state.IssuerEntry{ISS: "iss", Entry: "{}"}, now),
			tx.AddSigningKey(ctx, &state.SigningKey{KID: "kid", Private: []byte("private"), ActiveFrom: now}),
			tx.AddMail(ctx, "m1", []byte("mail"), now),
			alerts(ctx, tx),
			evals(ctx, tx),
			tx.Audit(ctx, state.AuditEntry{ID: "aud_1", At: now, Event: "e", Detail: map[string]string{"a": "b"}}),
		)
	})
}

// alerts puts a row into every table of alerts.
func alerts(ctx context.Context, tx *state.Tx) error {
	_, watched := tx.ClaimWatch(ctx, "ws_1", now, now, time.Hour)
	_, added := tx.AddAlert(ctx, &state.Alert{ID: "alr_1", WorkspaceID: "ws_1", What: "x", At: now, Body: []byte("{}")}, "", now)
	return errors.Join(watched, added,
		tx.AddChannel(ctx, &state.AlertChannel{ID: "whk_1", WorkspaceID: "ws_1", URL: "https://acme.dev/dana", Secret: "whsec_dana"}),
		tx.SetAlertMail(ctx, "ws_1", false, now),
		tx.SavePickWatch(ctx, "ws_1", &state.PickWatch{Tool: "acme", Since: now, DigestAt: now}),
		tx.AddDelivery(ctx, &state.Delivery{ID: "msg_1", WorkspaceID: "ws_1", ChannelID: "whk_1", State: state.DeliveryPending, CreatedAt: now}),
	)
}

// evals puts a row into every table of evals.
func evals(ctx context.Context, tx *state.Tx) error {
	if _, _, err := tx.PutCatalog(ctx, &state.CatalogVersion{WorkspaceID: "ws_1", Source: []byte("# acme.example"), Digest: "d", CreatedAt: now, CreatedBy: "acc_1"}, 0, 9); err != nil {
		return err
	}
	_, _, put := tx.PutEval(ctx, &state.Eval{ID: "evl_1", WorkspaceID: "ws_1", Name: "ci", Latest: version("one")}, ample)
	_, _, added := tx.AddRun(ctx, &state.EvalRun{ID: "run_1", WorkspaceID: "ws_1", EvalID: "evl_1", Version: 1, CreatedAt: now}, 1)
	_, billed := tx.AddBillingEvent(ctx, "evt_1", "paid", now)
	return errors.Join(put, added, billed,
		tx.AppendRunEvents(ctx, "run_1", []state.RunEvent{{At: now, Body: []byte("{}")}}),
		tx.AddEvalKey(ctx, &state.EvalKey{ID: "key_2", Hash: []byte("e"), WorkspaceID: "ws_1"}, 1),
		tx.PutProviderKey(ctx, "ws_1", state.ProviderKey{Name: "OPENAI_API_KEY", Shown: "sk-...", Hosts: []string{"api.openai.com"}}, "sk-dana", now),
	)
}

// A backup of either store fills either store, whole or not at all.
// TestBackupOfALargeRow: what the store takes, a backup gives back. One row of one
// workspace must not spoil it for all.
func TestBackupOfALargeRow(t *testing.T) {
	db, now := statetest.Open(t, statetest.Address(t, "sqlite")), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	want := bytes.Repeat([]byte("x"), 20<<20)
	if err := db.Write(t.Context(), func(tx *state.Tx) error {
		if _, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "ws", Slug: "ws", OwnerID: "acc", CreatedAt: now, ClaimedAt: now}); err != nil {
			return err
		}
		if err := tx.SetSettings(t.Context(), "ws", state.Settings{Site: "https://acme.example", RetentionDays: 30}); err != nil {
			return err
		}
		if _, _, err := tx.ClaimSite(t.Context(), now, now); err != nil {
			return err
		}
		return tx.SaveSite(t.Context(), "ws", "https://acme.example", want)
	}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := db.Backup(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	other := statetest.Open(t, statetest.Address(t, "sqlite"))
	if _, err := other.Restore(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Read().SiteResult(t.Context(), "ws"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back: %v", len(got), err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	for _, from := range statetest.Engines() {
		for _, to := range statetest.Engines() {
			t.Run(from+" to "+to, func(t *testing.T) {
				db := statetest.Open(t, statetest.Address(t, from))
				fill(t, db)
				var file bytes.Buffer
				n, err := db.Backup(t.Context(), &file)
				if err != nil || n != 35 {
					t.Fatalf("%d rows, %v", n, err)
				}
				if bytes.Contains(file.Bytes(), []byte("dana")) {
					t.Error("an address stands in the backup")
				}
				other := statetest.Open(t, statetest.Address(t, to))
				for name, broken := range map[string][]byte{
					"cut short": file.Bytes()[:file.Len()-10], "empty": nil, "not ours": []byte("hello"),
				} {
					if _, err := other.Restore(t.Context(), bytes.NewReader(broken)); err == nil {
						t.Errorf("%s: restored", name)
					}
				}
				if n, err := other.Restore(t.Context(), bytes.NewReader(file.Bytes())); err != nil || n != 35 {
					t.Fatalf("%d rows, %v", n, err)
				}
				var again bytes.Buffer
				if _, err := other.Backup(t.Context(), &again); err != nil || cmp.Diff(lines(t, again.Bytes())[1:], lines(t, file.Bytes())[1:]) != "" {
					t.Errorf("the copy's backup differs: %v %s", err, cmp.Diff(lines(t, again.Bytes())[1:], lines(t, file.Bytes())[1:]))
				}
				want := registration("reg_1")
				got, err := other.Read().Registration(t.Context(), "reg_1")
				if err != nil || got.Email != want.Email || got.Sub != want.Sub {
					t.Errorf("%+v, %v", got, err)
				}
				if _, err := other.Restore(t.Context(), bytes.NewReader(file.Bytes())); err == nil || !strings.Contains(err.Error(), "in use") {
					t.Errorf("restored into a store in use: %v", err)
				}
			})
		}
	}
}

func lines(t *testing.T, file []byte) []string {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

func TestWhatIsRefusedAtOpen(t *testing.T) {
	dir := t.TempDir()
	address := "sqlite://" + filepath.Join(dir, "state.db")
	statetest.Open(t, address)
	other, err := secret.NewVault(bytes.Repeat([]byte{9}, secret.MasterSize), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.Open(t.Context(), address, other); !errors.Is(err, state.ErrMaster) {
		t.Errorf("another master key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text.db"), bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"sqlite://" + filepath.Join(dir, "text.db"), "mysql://x", "sqlite://relative/file", "postgres://user:geheim@127.0.0.1:1/none", "postgres://%zz"} {
		_, err := state.Open(t.Context(), address, statetest.Vault(t))
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", address, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "state.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Two processes may open a new store at once.
func TestOpenedTwiceAtOnce(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			address := statetest.Address(t, engine)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					db, err := state.Open(context.Background(), address, statetest.Vault(t))
					if err != nil {
						t.Error(err)
						return
					}
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A transaction that has begun ends in its own time: a caller who goes away cuts
// neither it nor those who share its commit.
func TestCallersWhoGoAway(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if err := db.Write(ctx, func(tx *state.Tx) error {
					if i%2 == 0 {
						leave()
					}
					_, err := tx.UseOnce(ctx, "id-jag", "iss", strconv.Itoa(i), now)
					return err
				}); err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
}

// TestEventsAfterIsBoundedByBytes reads events of a megabyte: not all at once, but
// each of them, and one alone however large it is.
func TestEventsAfterIsBoundedByBytes(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		add := func(id string, size int) {
			write(t, db, func(tx *state.Tx) error {
				_, err := tx.AddEvents(t.Context(), []state.CollectedEvent{{WorkspaceID: "ws", ID: id, ReceivedAt: now, Body: bytes.Repeat([]byte("x"), size)}})
				return err
			})
		}
		for i := range 34 {
			add(strconv.Itoa(i), 1<<20)
		}
		add("huge", 33<<20)
		var sizes []int
		for seq := int64(0); ; {
			list, err := db.Read().EventsAfter(t.Context(), seq, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			sizes, seq = append(sizes, len(list)), list[len(list)-1].Seq
		}
		if !slices.Equal(sizes, []int{32, 2, 1}) {
			t.Errorf("read in pieces of %v", sizes)
		}
	})
}

// TestSignInIdentities: a user of a provider has one account, an account one user of a
// provider. Both go with the account.
func TestSignInIdentities(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		const acme, other = "https://acme.example", "https://other.example"
		link := func(iss, sub, account string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error { return tx.AddSignInIdentity(t.Context(), iss, sub, account, now) })
		}
		for _, id := range []string{"dana", "eve"} {
			if err := db.Write(t.Context(), func(tx *state.Tx) error {
				return tx.AddAccount(t.Context(), &state.Account{ID: id, Email: id + "@example.com", VerifiedAt: now, CreatedAt: now})
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Read().SignInAccount(t.Context(), acme, "1"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("before: %v", err)
		}
		for _, c := range []struct {
			iss, sub, account string
			want              error
		}{
			{acme, "1", "dana", nil}, {acme, "1", "dana", state.ErrLinked}, {acme, "1", "eve", state.ErrLinked}, {acme, "2", "dana", state.ErrLinked},
			{other, "1", "dana", nil}, {acme, "2", "eve", nil},
		} {
			if err := link(c.iss, c.sub, c.account); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		a, err := db.Read().SignInAccount(t.Context(), acme, "1")
		if err != nil || a.ID != "dana" {
			t.Errorf("%+v, %v", a, err)
		}
		linked, err := db.Read().HasSignIn(t.Context(), "eve", other)
		if err != nil || linked {
			t.Errorf("eve at the other provider: %v, %v", linked, err)
		}
		if err := db.Write(t.Context(), func(tx *state.Tx) error { return tx.MergeAccount(t.Context(), "dana", "eve") }); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Read().SignInAccount(t.Context(), acme, "1"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("of an account that is gone: %v", err)
		}
	})
}
