package evalapi

import (
	"strconv"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// maxTool is the most bytes of the name of a tool.
const maxTool = 200

// explain writes why answers of a run did not pick a tool.
func (h *Handler) explain(c *call) error {
	values, err := c.query("tool")
	if err != nil {
		return err
	}
	tool := values.Get("tool")
	if tool == "" || len(tool) > maxTool {
		return apierr.InvalidRequest("The parameter tool is a slug, name, domain or package of a tool that the run measured, of 1 to " + strconv.Itoa(maxTool) + " bytes.")
	}
	return h.heavy(c, func() error {
		e, err := h.Evals.Explain(c.r.Context(), c.Actor, c.param("runId"), tool)
		if err != nil {
			return err
		}
		return c.ok(e)
	})
}
