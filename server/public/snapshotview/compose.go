package snapshotview

// Pack packs both forms of a page that was made for a request, at a path that may have a query.
func (s *Site) Pack(path string, html, markdown []byte) (Page, error) {
	packer := s.press.take()
	defer s.press.give(packer)
	asHTML, asMarkdown := newResource(htmlType, s.press.modified), newResource(markdownType, s.press.modified)
	for res, body := range map[*Resource][]byte{asHTML: html, asMarkdown: markdown} {
		made, err := packer.encode(body, false)
		if err != nil {
			return Page{}, err
		}
		res.made.Store(made)
	}
	return linked(s.BaseURL, path, asHTML, asMarkdown), nil
}
