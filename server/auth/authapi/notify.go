package authapi

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// notify takes in a security event token pushed by an issuer. Its errors have
// the shape of RFC 8935, 2.4.
func (h *Handler) notify(w http.ResponseWriter, r *http.Request) {
	c := caller(w, r)
	err := func() error {
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || media != "application/secevent+jwt" && media != "application/logout+jwt" {
			return apierr.InvalidRequest("Send the token as application/secevent+jwt.")
		}
		raw, err := reqbody.Read(r, maxSET)
		if err != nil {
			return err
		}
		return h.Agents.Notify(r.Context(), c, string(raw))
	}()
	c.Seen.Write(w.Header())
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	if err == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	e := apierr.Of(err)
	if e.Status >= http.StatusInternalServerError {
		h.Log.Error("handling a security event failed", "request_id", reqctx.ID(w), "err", e)
	}
	if e.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	head.Set("Content-Type", "application/json")
	head.Set("Content-Language", "en")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(struct { // a write error means that the transmitter disconnected
		Err         string `json:"err"`
		Description string `json:"description"`
	}{e.Code, e.Description})
}
