package server

import (
	"cmp"
	"path"

	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/docs"
	"github.com/firstpick/firstpick/server/public/mcp"
	"github.com/firstpick/firstpick/server/public/openapi"
	"github.com/firstpick/firstpick/server/public/wellknown"
)

// documents renders the documentation with this server's settings.
func (s *Server) documents() (*docs.Set, error) {
	c := docs.Config{
		BaseURL: s.cfg.BaseURL, OpenAPI: openapi.Source(), CLI: s.cfg.CLI, Rules: s.cfg.Agents.Limits.Rules,
		PublicPerMinute: s.cfg.LimitPerMinute, MCPPerMinute: mcp.CallsPerMinute, FilesPerMinute: archive.FilesPerMinute, Streams: maxStreams, OwnStreams: maxOwnStreams,
	}
	if s.cfg.Evals != nil {
		c.Evals = s.cfg.Evals.Caps
	}
	return docs.New(c)
}

// directory creates the well-known documents, by which agents discover the server.
func (s *Server) directory(load func() (*docs.Set, error)) *wellknown.Handler {
	return wellknown.New(wellknown.Service{
		Name: s.name(), Version: s.cfg.Version, BaseURL: s.cfg.BaseURL, Contact: s.cfg.Contact,
		Documents: func() (out []wellknown.Document) {
			for _, p := range s.pages(load) {
				out = append(out, wellknown.Document{Path: p.Path, Title: p.Title, Group: p.Section, Description: p.Description, Markdown: string(p.Markdown)})
			}
			return out
		},
	}, s.cfg.Source.Current, s.errors, s.cfg.Now)
}

// mcp makes the protocol's handler.
func (s *Server) mcp(load func() (*docs.Set, error)) *mcp.Handler {
	trafficTool := &mcp.TrafficTool{Agents: s.cfg.Agents, Reports: s.cfg.Reports, Guide: s.cfg.BaseURL + "/auth.md", Log: s.cfg.Log}
	var evalTools *mcp.EvalTools
	if s.evals != nil {
		evalTools = &mcp.EvalTools{Evals: s.cfg.Evals, Admit: s.evals.Admit, BaseURL: s.cfg.BaseURL, Guide: s.cfg.BaseURL + "/docs/evals.md", Log: s.cfg.Log, Now: s.cfg.Now}
	}
	return mcp.New(mcp.Config{
		Current: s.cfg.Source.Current, Traffic: trafficTool.Answer, Evals: evalTools, Changes: s.archive.Answer, Name: s.name(), Version: s.cfg.Version, BaseURL: s.cfg.BaseURL, Errors: s.errors, Log: s.cfg.Log, Now: s.cfg.Now,
		LimitsOff: s.cfg.LimitsOff,
		Documents: func() (out []mcp.Document) {
			for _, p := range s.pages(load) {
				out = append(out, mcp.Document{URI: s.cfg.BaseURL + p.Path + ".md", Name: path.Base(p.Path), Title: p.Title, Description: p.Description, Text: string(p.Markdown)})
			}
			return out
		},
	})
}

func (s *Server) name() string { return cmp.Or(s.cfg.Name, wellknown.NameOf(s.cfg.BaseURL)) }

// pages are all documents. That they can be made is tested; without them the rest is
// served.
func (s *Server) pages(load func() (*docs.Set, error)) []*docs.Page {
	set, err := load()
	if err != nil {
		s.cfg.Log.Error("the documents cannot be made", "err", err)
		return nil
	}
	return set.Pages
}
