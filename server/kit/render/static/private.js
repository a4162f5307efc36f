// A browser may keep a page in memory and show it again when somebody goes back.
// What belongs to one person is asked for anew: they may have signed out since.
addEventListener("pagehide", () => { document.documentElement.hidden = true; });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
