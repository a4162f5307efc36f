package trust

// Values of Refusal.Code that both kinds of token share or that are compared
// within this package.
const (
	codeInvalid     = "invalid_request"
	codeNotEnabled  = "issuer_not_enabled"
	codeLogin       = "login_required"
	codeUnavailable = "temporarily_unavailable"
)

// Values of Refusal.Reason.
const (
	reasonMalformed = "malformed_assertion"
	reasonTyp       = "invalid_typ"
	reasonAlg       = "unsupported_alg"
	reasonNoKid     = "missing_kid"
	reasonKid       = "unknown_kid"
	reasonSignature = "invalid_signature"
	reasonAudience  = "invalid_audience"
	reasonExpired   = "expired"
	reasonEarly     = "not_yet_valid"
	reasonLong      = "lifetime_too_long"
	reasonClaim     = "missing_claim"
	reasonIdentity  = "missing_verified_identity"
	reasonClient    = "invalid_client_id"
	reasonBody      = "malformed_body" // in place of reasonMalformed for events
)

// A Refusal is why a token was not accepted. It is safe to show: it never
// holds token content.
type Refusal struct { //nolint:errname // it is an answer first
	// Code is the error code to answer with. Of an ID-JAG: invalid_request,
	// issuer_not_enabled or login_required. Of an event token, from RFC 8935,
	// section 2.4: invalid_request, invalid_key, invalid_issuer,
	// invalid_audience or authentication_failed. Of either:
	// temporarily_unavailable, the issuer's keys cannot be had now; try later.
	Code string

	// Reason is a machine-readable sub-code such as unknown_kid; optional.
	Reason string

	// Description is one English sentence in ASCII, without quotes and
	// backslashes.
	Description string

	// ISS is the issuer, where it is one that is not trusted.
	ISS string
}

// Error returns the code and the description.
func (r *Refusal) Error() string { return r.Code + ": " + r.Description }

// refuse returns a refusal with the code invalid_request.
func refuse(reason, description string) *Refusal {
	return &Refusal{Code: codeInvalid, Reason: reason, Description: description}
}

// forEvent gives a refusal the code that RFC 8935 has for its reason.
func (r *Refusal) forEvent() *Refusal {
	e := *r
	switch {
	case r.Code == codeNotEnabled:
		e.Code = "invalid_issuer"
	case r.Reason == reasonAlg, r.Reason == reasonNoKid, r.Reason == reasonKid:
		e.Code = "invalid_key"
	case r.Reason == reasonSignature:
		e.Code = "authentication_failed"
	case r.Reason == reasonAudience:
		e.Code = "invalid_audience"
	case r.Reason == reasonMalformed:
		e.Reason = reasonBody
	}
	return &e
}
