package reporter

import (
	"context"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// Kinds of gaps that need the site check.
const (
	neverRead      = "never_read"
	robotsConflict = "robots_conflict"
	noLLMs         = "no_llms_txt"
	noMarkdown     = "no_markdown"
)

// site adds the comparison of visits with the site: pages of the sitemap that no agent
// read, pages that agents read despite robots.txt, and missing texts for agents.
func (s *Service) site(ctx context.Context, workspace string, w trafficdb.Window, out *traffic.Source) error {
	if s.Site == nil || w.Filter != (traffic.Filter{}) {
		return nil
	}
	found, err := s.Site(ctx, workspace)
	if err != nil || found == nil {
		return err
	}
	pages := make([]trafficdb.PageRef, len(found.Pages))
	for i, p := range found.Pages {
		pages[i] = trafficdb.PageRef(p)
	}
	unread, err := s.DB.NeverRead(ctx, workspace, w, pages, len(pages))
	if err != nil {
		return err
	}
	out.Site = &traffic.SiteSource{
		Site: found.Site, LookedAt: stamp(found.At), Pages: len(pages), Read: len(pages) - len(unread), LLMsTxt: found.LLMs, Markdown: found.Markdown,
		Problems: append([]string{}, found.Problems...), Unreachable: found.Unreachable(),
	}
	add := func(kind, host, path string, touches int64, agents []string) {
		out.Gaps = append(out.Gaps, traffic.Gap{Kind: kind, Host: host, Path: path, Touches: touches, Agents: agents, Suggest: suggestion(kind)})
	}
	read := out.Pages
	if len(read) == 0 { // they were not asked for
		var only traffic.Source
		if err := s.pages(ctx, workspace, w, trafficdb.Page{Limit: traffic.DefaultLimit}, &only); err != nil {
			return err
		}
		read = only.Pages
	}
	rules := found.Rules()
	for _, p := range read {
		if against := rules.Forbidden(ctx, p.Agents, p.Path); len(against) > 0 {
			add(robotsConflict, p.Host, p.Path, p.Touches, against)
		}
	}
	if !found.LLMs && !out.Site.Unreachable {
		add(noLLMs, "", "/llms.txt", 0, []string{})
	}
	if !found.Markdown && len(pages) > 0 {
		add(noMarkdown, "", pages[0].Path, 0, []string{})
	}
	for _, p := range unread[:min(len(unread), maxUnread)] {
		add(neverRead, p.Host, p.Path, 0, []string{})
	}
	return nil
}

// maxUnread bounds the pages of the sitemap that a report names; Site counts all.
const maxUnread = 50
