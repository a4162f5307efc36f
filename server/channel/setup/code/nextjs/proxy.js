import { collect } from "./agent-collect-next.mjs";

export function proxy(request, event) {
  collect(request, event);
}

export const config = { matcher: "/((?!_next/static|_next/image).*)" };
