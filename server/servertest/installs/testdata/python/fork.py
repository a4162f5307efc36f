"""An application that was loaded before its server forked, as gunicorn --preload does: parent and child report."""
import os

from agent_collect import Collector

collector = Collector()
headers = {"user-agent": "GPTBot/1.3"}
collector.touch(headers.get, "acme.dev", "/before", "GET", 200)
if (pid := os.fork()) == 0:
    collector.touch(headers.get, "acme.dev", "/child", "GET", 200)
    collector.flush()
    os._exit(0)
os.waitpid(pid, 0)
collector.touch(headers.get, "acme.dev", "/parent", "GET", 200)
