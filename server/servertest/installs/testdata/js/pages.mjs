// The site of all stacks: what each path answers.
const types = { html: "text/html", md: "text/markdown", txt: "text/plain", xml: "application/xml", json: "application/json", css: "text/css", png: "image/png" };
const found = [
  "/", "/docs", "/docs.md", "/robots.txt", "/llms.txt", "/sitemap.xml", "/openapi.json", "/.well-known/agent.json", "/style.css", "/logo.png", "/_next/static/app.js",
];

export function page(path) {
  if (path === "/boom") throw new Error("boom");
  return { status: found.includes(path) ? 200 : 404, type: types[path.split(".").pop()] ?? types.html, body: `this is ${path}` };
}

export function ready(port) {
  console.log(`listening on http://127.0.0.1:${port}/`);
}
