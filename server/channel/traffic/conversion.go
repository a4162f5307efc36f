package traffic

import "github.com/firstpick/firstpick/server/channel/attribution"

// Conversions are those of a window, the newest first. Its JSON, and that of a
// Conversion, is the same in the API.
type Conversions struct {
	Window       Window            `json:"window"`
	Model        attribution.Model `json:"model"`
	LookbackDays int               `json:"lookbackDays"`
	Total        int               `json:"total"` // of which the list is a part
	Offset       int               `json:"offset"`
	Conversions  []ConversionRow   `json:"conversions"`
	Truncated    bool              `json:"truncated,omitempty"` // the window has more than are counted
}

// A ConversionRow is a conversion with its credits.
type ConversionRow struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	At      string `json:"at"`
	Value   *Money `json:"value,omitempty"`   // as it was sent; null for a conversion without money
	Applied *Money `json:"applied,omitempty"` // of a refund: the deducted amount
	// Credits add up to at most a whole conversion; the rest is not credited.
	Credits []Credit `json:"credits"`
	// Evidence is the strongest among the credits.
	Evidence string `json:"evidence,omitempty"`
	// Assisted marks that an agent competed and the model credits another way.
	Assisted bool `json:"assisted,omitempty"`
	// Possible is probable, and not credited.
	Possible *Possible `json:"possible,omitempty"`
	// Of a refund: the id of the conversion that it takes back, and why it did not
	// simply do so.
	Order   string `json:"order,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Test marks a check of the installation, which no total counts.
	Test bool `json:"test,omitempty"`
}

// A Credit is a family's share of a conversion.
type Credit struct {
	Agent    string  `json:"agent"`
	Evidence string  `json:"evidence"`
	Share    float64 `json:"share"` // 0 to 1
	Value    *Money  `json:"value,omitempty"`
}

// A Possible is an assistant that probably sent the person: it fetched a page
// for a user, and soon after this person, and no other, landed there.
type Possible struct {
	Agent     string `json:"agent"`
	Host      string `json:"host,omitempty"`
	Path      string `json:"path"`
	FetchedAt string `json:"fetchedAt"`
	LandedAt  string `json:"landedAt"`
}

// A Conversion is a conversion with the touches on the way to it.
type Conversion struct {
	ConversionRow
	Model        attribution.Model `json:"model"`
	LookbackDays int               `json:"lookbackDays"`
	// Touches are in order of time, the oldest first. A refund is without touches: see
	// its order.
	Touches []ConversionTouch `json:"touches"`
	// Truncated marks that there were more touches than one conversion considers.
	Truncated bool `json:"truncated,omitempty"`
}

// A ConversionTouch is a touch on the way to a conversion.
type ConversionTouch struct {
	At       string `json:"at"`
	Agent    string `json:"agent,omitempty"`
	Family   string `json:"family,omitempty"`
	Class    string `json:"class,omitempty"`
	Host     string `json:"host,omitempty"`
	Path     string `json:"path,omitempty"`
	Referrer string `json:"referrer,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// Why is why it counted or not; see attribution.Reason.
	Why   string  `json:"why"`
	Share float64 `json:"share"` // 0 to 1
	Value *Money  `json:"value,omitempty"`
}
