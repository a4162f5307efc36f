// More events than the queue holds, while the collector is slow: the oldest that wait are dropped, and counted.
import { createCollector } from "./agent-collect.mjs";

const collector = createCollector();
for (let n = 0; n < 6100; n++) collector.push({ type: "touch", path: `/${n}` });
await fetch(new URL("/open", process.env.FIRSTPICK_URL)); // now it may answer
await collector.flush();
console.log(JSON.stringify(collector.stats));
