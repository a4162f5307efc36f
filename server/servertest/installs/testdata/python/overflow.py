"""More events than the queue holds, while the collector is slow: the oldest that wait are dropped, and counted."""
import json, os, urllib.request

from agent_collect import Collector

collector = Collector()
for n in range(6100):
    collector.push({"type": "touch", "path": f"/{n}"})
urllib.request.urlopen(os.environ["FIRSTPICK_URL"] + "open").close()  # now it may answer
collector.flush()
print(json.dumps(collector.stats))
