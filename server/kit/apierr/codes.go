package apierr

// A Documented is an error code with its usual status and its remedy.
type Documented struct {
	Code   string
	Status int
	Text   string // sentences
}

// Codes returns all error codes of the HTTP API, the token endpoints and the tools.
// /docs/errors prints them; a test finds missing codes.
func Codes() []Documented {
	return []Documented{
		{"invalid_request", 400, "A parameter is missing or not well-formed; the description says which."},
		{"tool_not_found", 404, "No tool has this name, or none that is measured. suggestions holds near names."},
		{"category_not_found", 404, "No category of this name is measured. suggestions holds near names."},
		{"not_found", 404, "Nothing is served at this path, or the thing that it names is not there or not yours."},
		{"unauthorized", 401, "The path needs a Bearer token: an eval key under /api/v1, else an access token, whose discovery begins at the resource_metadata of WWW-Authenticate."},
		{"invalid_token", 401, "The token is expired, revoked or unknown. Exchange the identity_assertion again; or make another eval key in the workspace's settings."},
		{"invalid_key", 401, "The collector key is missing, unknown or revoked. Make one with POST /api/agent/keys."},
		{"forbidden", 403, "The collector key may not do this: its kind or the page's origin forbids it; or, with the reason claim_expired, nobody claimed its workspace in time: register again."},
		{"plan_required", 403, "Evals of a workspace's own need the paid plan."},
		{"invalid_eval", 400, "The eval cannot be run; issues says why, each with its line and message, as firstpick lint does."},
		{"invalid_catalog", 400, "The workspace's own catalogue is not valid; issues says why, each with its line and message."},
		{"catalog_changed", 412, "Somebody stored another version of the catalogue since you read it. Read it again, make your change there, and store that."},
		{"precondition_required", 428, "The path needs If-Match, so that nobody overwrites another's change. Send the ETag of the version that you changed."},
		{"catalog_not_found", 404, "The workspace's own catalogue has no such version."},
		{"too_many_catalogs", 409, "Runs use as many versions of the catalogue as are kept. Delete old runs."},
		{"eval_not_found", 404, "The workspace has no such eval, or the eval no such version."},
		{"schedule_not_found", 404, "The eval has no schedule, or the workspace no such eval."},
		{"schedule_busy", 409, "A schedule starts no run now: its run before has not ended, or the monthly budget has too little left; the description says which."},
		{"run_not_found", 404, "The workspace has no such run."},
		{"trial_not_found", 404, "The run, or the current snapshot, has no such trial."},
		{"no_explanation", 404, "An older version of the program wrote the results of the run, which do not say why a tool was not picked. Run the eval again."},
		{"no_results", 409, "The run has not ended yet, or ended without a valid trial."},
		{"idempotency_conflict", 409, "The Idempotency-Key was used with another request. Use a new one for a new run."},
		{"provider_key_missing", 409, "The agents of the eval need provider keys that the workspace has not set; the description names them."},
		{"provider_key_hosts", 409, "The eval sends a provider key to a host that the key is not bound to; the description names both."},
		{"too_many_evals", 409, "The workspace has all the evals, or the eval all the versions, that it can have."},
		{"eval_version_not_found", 404, "No version of the eval has the digest of the pushed run's eval. Store that eval first."},
		{"upload_not_found", 404, "The workspace has no such upload, the upload no such file, or it was incomplete for too long. Announce it again."},
		{"upload_offset", 409, "The offset is beyond what was received of the file. Continue from received."},
		{"upload_incomplete", 409, "A file of the upload is not here in full. Send the rest, then complete the upload."},
		{"upload_digest", 409, "The bytes of a file do not have the announced digest, and were dropped. Send the file again."},
		{"upload_conflict", 409, "The run was pushed before with other files; the description names the run. Erase that run, then push again."},
		{"too_many_uploads", 409, "The pushed runs of the workspace take all the bytes that they may, or too many are incomplete."},
		{"uploads_disabled", 409, "The server has no data folder for pushed runs. Ask the operator."},
		{"queue_full", 429, "The workspace has as many runs waiting as it can have. Wait until some have begun, or cancel one."},
		{"invalid_host", 403, "The MCP endpoint was called under a host name that is not the service's. Use the address in the documentation."},
		{"invalid_origin", 403, "A page of another machine called the MCP endpoint of a server that listens on this machine only."},
		{"range_not_satisfiable", 416, "The file has no such part; Content-Range says how long it is."},
		{"unsupported_media_type", 415, "The body is of a type that the path does not take; the description says which it takes."},
		{"insufficient_scope", 403, "The token lacks the scope named in scope. An unclaimed workspace is write-only: let its person claim it."},
		{"access_denied", 403, "A person or an operator said no. At the token endpoint it comes with 400. Stop."},
		{"issuer_not_enabled", 400, "The issuer of the ID-JAG is not trusted here. Use another type of registration."},
		{"anonymous_not_enabled", 400, "The operator does not offer this type; see identity_types_supported of the metadata."},
		{"service_auth_not_enabled", 400, "The operator does not offer this type; see identity_types_supported of the metadata."},
		{"interaction_required", 401, "The asserted address belongs to an account. Show the claim block to its owner, and poll."},
		{"login_required", 401, "auth_time is missing or older than max_age seconds. Sign the user in again at the issuer and mint a fresh ID-JAG."},
		{"invalid_claim_token", 401, "The claim token is wrong or no longer valid. Register again."},
		{"claimed_or_in_flight", 409, "The registration is claimed already."},
		{"claim_expired", 410, "The time to claim the registration is over. Register again."},
		{"authorization_pending", 400, "The person has not confirmed the code yet. Keep polling at interval."},
		{"slow_down", 400, "Polled too early. Add 5 seconds to the interval, for this and all later polls."},
		{"expired_token", 400, "The code is no longer valid. Ask the claim endpoint for a fresh one."},
		{"invalid_grant", 400, "The assertion or claim token is expired, superseded or revoked. Register again."},
		{"unsupported_grant_type", 400, "The token endpoint knows two grants; the metadata lists them."},
		{"invalid_target", 400, "resource names something else than this API."},
		{"invalid_scope", 400, "The registration does not have a scope that was asked for."},
		{"invalid_client", 401, "Clients are public here: send no Authorization header to the token endpoint."},
		{"unsupported_token_type", 400, "Only access tokens are revoked at the revocation endpoint."},
		{"too_many_keys", 409, "The workspace has all the keys it can have."},
		{"request_too_large", 413, "The request body is larger than the path takes."},
		{"method_not_allowed", 405, "The path answers other methods; the Allow header lists them."},
		{"rate_limited", 429, "Too many requests. Wait for retry_after seconds, which the Retry-After header says too."},
		{"server_error", 500, "The server failed. Retry with exponential backoff; the request id finds the cause in its log."},
		{"temporarily_unavailable", 503, "No snapshot is published yet, or a store or an issuer does not answer. Nothing was changed; retry after retry_after seconds."},
	}
}
