package state

import "slices"

// The kinds of what can be erased. A bundle is a run's results; it is erased with its run.
const (
	EraseAccount   = "account"
	EraseWorkspace = "workspace"
	EraseEval      = "eval"
	EraseRun       = "run"
	EraseBundle    = "bundle"
)

// A holding says what a table holds about accounts, workspaces, evals and runs, and what
// their erasure does to it.
type holding struct {
	table string
	// rows are the conditions of the rows that an erasure deletes, by kind; $1 is the id.
	rows map[string]string
	// clear are assignments for rows of others that name the erased thing.
	clear map[string]string
	// sealed are the purposes of the sealed columns, for a search.
	sealed map[string]string
	// note says why a table without rows needs no erasure, or where it is done.
	note string
}

// holdings names every table, children before parents. TestHoldings fails for a table that
// is missing here, and for a column that refers to an account, workspace, eval or run and
// that no condition mentions.
func holdings() []holding {
	const (
		workspace = "workspace_id = $1"
		account   = "account_id = $1"
		// registrations of an account: of its agents, and those that wait for its address.
		registrations = "(account_id = $1 or email_mac in (select email_mac from account where id = $1 and length(email_mac) > 0))"
	)
	ofWorkspace := map[string]string{EraseWorkspace: workspace}
	ofRegistration := map[string]string{
		EraseWorkspace: "registration_id in (select id from registration where workspace_id = $1)",
		EraseAccount:   "registration_id in (select id from registration where " + registrations + ")",
	}
	// namingRun holds alerts about a run, which name it in a text.
	namingRun := func(table, column string) map[string]string {
		of := func(runs string) string {
			return "exists (select 1 from eval_run r where " + runs + " and r.workspace_id = " + table + ".workspace_id and " + table + "." + column + " like '%' || r.id || '%')"
		}
		return map[string]string{EraseWorkspace: workspace, EraseEval: of("r.eval_id = $1"), EraseRun: of("r.id = $1")}
	}
	author := map[string]string{EraseAccount: "created_by = '' where created_by = $1"}
	return []holding{
		{table: "attempt", rows: ofRegistration},
		{table: "access_token", rows: ofRegistration},
		{table: "registration", rows: map[string]string{EraseWorkspace: workspace, EraseAccount: registrations},
			sealed: map[string]string{"email_sealed": "email", "sub_sealed": "sub", "refused_sealed": "refused"}},
		{table: "delegation", rows: map[string]string{EraseAccount: account}},
		{table: "session", rows: map[string]string{EraseAccount: account}},
		{table: "sign_in_identity", rows: map[string]string{EraseAccount: account}},
		{table: "sign_in", sealed: map[string]string{"email_sealed": "email"}, note: "eraseSealed deletes links of the address"},
		{table: "outbox", sealed: map[string]string{"mail_sealed": "mail"}, note: "eraseSealed deletes mails to the address or about the workspace"},
		{table: "invitation", rows: map[string]string{EraseWorkspace: workspace, EraseAccount: "(invited_by = $1 or email_mac in (select email_mac from account where id = $1 and length(email_mac) > 0))"}, sealed: map[string]string{"email_sealed": "email"}},
		{table: "member", rows: map[string]string{EraseWorkspace: workspace, EraseAccount: account}},
		{table: "collector_key", rows: ofWorkspace, clear: author},
		{table: "collected_event", rows: ofWorkspace},
		{table: "collected_order", rows: ofWorkspace},
		{table: "collected_day", rows: ofWorkspace},
		{table: "site_check", rows: ofWorkspace},
		{table: "alert_delivery", rows: namingRun("alert_delivery", "body")},
		{table: "alert_mail_off", rows: ofWorkspace},
		{table: "alert_channel", rows: ofWorkspace,
			sealed: map[string]string{"url_sealed": "alert url", "secret_sealed": "alert secret", "old_sealed": "alert secret"}},
		{table: "alert_told", rows: namingRun("alert_told", "subject")},
		{table: "alert", rows: namingRun("alert", "body")},
		{table: "alert_watch", rows: ofWorkspace},
		{table: "pick_watch", rows: ofWorkspace},
		{table: "provider_key", rows: ofWorkspace, sealed: map[string]string{"value_sealed": "provider key"}},
		{table: "eval_key", rows: ofWorkspace, clear: author},
		{table: "eval_schedule_tick", rows: map[string]string{
			EraseWorkspace: "schedule_id in (select id from eval_schedule where workspace_id = $1)",
			EraseEval:      "schedule_id in (select id from eval_schedule where eval_id = $1)",
		}, clear: map[string]string{
			EraseRun: "run_id = case when run_id = $1 then '' else run_id end, note = case when note like '%' || $1 || '%' then '' else note end where run_id = $1 or note like '%' || $1 || '%'",
		}},
		{table: "eval_schedule", rows: map[string]string{EraseWorkspace: workspace, EraseEval: "eval_id = $1"},
			clear: map[string]string{EraseAccount: author[EraseAccount], EraseRun: "open_run = case when open_run = $1 then '' else open_run end, pause_note = case when pause_note like '%' || $1 || '%' then '' else pause_note end where open_run = $1 or pause_note like '%' || $1 || '%'"}},
		{table: "eval_upload", rows: map[string]string{EraseWorkspace: workspace, EraseEval: "eval_id = $1", EraseRun: "id = $1"}, clear: author},
		{table: "eval_run_event", rows: map[string]string{
			EraseWorkspace: "run_id in (select id from eval_run where workspace_id = $1)",
			EraseEval:      "run_id in (select id from eval_run where eval_id = $1)",
			EraseRun:       "run_id = $1",
		}},
		{table: "eval_run", rows: map[string]string{EraseWorkspace: workspace, EraseEval: "eval_id = $1", EraseRun: "id = $1"}, clear: author},
		{table: "eval_version", rows: map[string]string{
			EraseWorkspace: "eval_id in (select id from eval where workspace_id = $1)",
			EraseEval:      "eval_id = $1",
		}, clear: author},
		{table: "workspace_catalog", rows: ofWorkspace, clear: author},
		{table: "eval", rows: map[string]string{EraseWorkspace: workspace, EraseEval: "id = $1"}},
		{table: "billing_subscription", rows: map[string]string{EraseWorkspace: "(named_id = $1 or bought_id = $1)"}},
		{table: "workspace", rows: map[string]string{EraseWorkspace: "id = $1"},
			clear: map[string]string{EraseAccount: "owner_id = '' where owner_id = $1"}},
		{table: "account", rows: map[string]string{EraseAccount: "id = $1"},
			sealed: map[string]string{"email_sealed": "email", "phone_sealed": "phone"}},
		{table: "audit", note: "eraseAudit replaces ids by marks, and removes addresses and details"},
		{table: "erasure", note: "keeps marks; EraseRows empties the subject"},
		{table: "replay", note: "keyed hashes of token ids, for minutes"},
		{table: "subject_revocation", note: "keyed hashes of issuers' subjects, for seven days"},
		{table: "issuer", note: "of the operator"},
		{table: "signing_key", note: "of the server", sealed: map[string]string{"key_sealed": "signing key"}},
		{table: "counter", note: "keyed hashes, until the window of the limit ends"},
		{table: "setting", note: "of the store"},
		{table: "collected_seq", note: "a counter"},
		{table: "eval_turn", note: "a counter"},
		{table: "billing_event", note: "ids of the billing system's messages"},
		{table: "schema_version", note: "of the schema"},
	}
}

// rowsOf is the condition of the rows of a table that an erasure deletes.
func rowsOf(table, kind string) string {
	list := holdings()
	return list[slices.IndexFunc(list, func(h holding) bool { return h.table == table })].rows[kind]
}
