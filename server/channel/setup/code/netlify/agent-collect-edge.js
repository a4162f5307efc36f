import { createCollector } from "../agent-collect.mjs";

const collector = createCollector({ key: Netlify.env.get("FIRSTPICK_KEY"), url: Netlify.env.get("FIRSTPICK_URL"), source: "netlify" });

export default async (request, context) => {
  const response = await context.next();
  const header = (name) => request.headers.get(name), { host, pathname, search } = new URL(request.url);
  collector.touch(header, { method: request.method, host, target: pathname + search, status: response.status, ip: context.ip });
  context.waitUntil(collector.flush());
  return response;
};

export const config = { path: "/*", excludedPath: ["/*.css", "/*.js", "/*.png", "/*.jpg", "/*.svg", "/*.webp", "/*.woff2"], onError: "bypass" };
