// A browser may keep a page in memory and show it again when somebody goes back.
// Reload personal pages from the server: the person may have signed out.
addEventListener("pagehide", () => { document.documentElement.hidden = true; });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
