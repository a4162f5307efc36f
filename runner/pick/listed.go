package pick

import (
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/transcript"
)

// listed finds traces in the imports that a study lists.
func (x *Extractor) listed(l *transcript.Listing) []action {
	var out []action
	for _, m := range modules(l) {
		for _, t := range x.index.byImport(m) {
			out = append(out, action{target: t, Evidence: Evidence{Tool: t.slug, Level: LevelCode, Kind: "listed", Quote: clipQuote(m.name)}})
		}
	}
	return out
}

// listedOwn returns the first listed import that is a sign of own work.
func (x *Extractor) listedOwn(l *transcript.Listing) *Evidence {
	for _, m := range modules(l) {
		if len(x.own.byImport(m)) > 0 {
			return &Evidence{Level: LevelCode, Kind: "listed", Quote: clipQuote(m.name)}
		}
	}
	return nil
}

func modules(l *transcript.Listing) []module {
	if l == nil {
		return nil
	}
	out := make([]module, len(l.Imports))
	for i, name := range l.Imports {
		out[i] = module{catalog.Ecosystem(l.Ecosystem), name}
	}
	return out
}
