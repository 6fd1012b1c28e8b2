#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The site in a browser: at 1300 pixels no block of code and at 390 pixels no table and no page is wider than its place, and each page has a search.
#   bash test/source/site.sh [HTML]     HTML: the site's folder, otherwise it is built. make site calls it for the site that it has built.
#   bash test/source/site.sh HTML SHOTS     also writes a picture of each page, at 1300 pixels, to the folder SHOTS
# gpu: 0
# tier: deep
set -u
cd "$(dirname "$0")/../.." || exit 1
skip() {
  echo "skip code fits at 1300 pixels: $1"
  echo "skip tables and pages fit at 390 pixels: $1"
  exit 0
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "there is no Chromium"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
html=${1:-$dir/html}
if [ $# = 0 ]; then
  "${PYTHON:-python3}" -c 'import sphinx, myst_parser, pydata_sphinx_theme, sphinx_design' 2>/dev/null || skip "this Python has no Sphinx; make site calls this test"
  "${PYTHON:-python3}" docs/site/build.py "$dir" || exit 1
fi
"${PYTHON:-python3}" - "$html" "$browser" "$dir" "${2:-}" <<'END'
import functools, html, http.server, json, os, re, subprocess, sys, threading

root, browser, work, shots = sys.argv[1:]
MEASURE = """<body><pre id=result></pre><script>
const found = [];
function wide(page, width, name, e) { found.push([page, width, name, e.scrollWidth, e.clientWidth, e.textContent.trim().slice(0, 60)]); }
async function one(page, width) {
  const frame = document.createElement("iframe");
  frame.style.width = width + "px"; frame.style.height = "900px"; frame.style.border = "0";
  const loaded = new Promise(done => frame.onload = done);
  frame.src = page; document.body.appendChild(frame);
  await loaded;
  const d = frame.contentDocument;
  if (d.documentElement.scrollWidth > width) wide(page, width, "page", d.documentElement);
  if (width > 1000) for (const e of d.querySelectorAll("pre")) if (e.scrollWidth > e.clientWidth) wide(page, width, "code", e);
  if (width < 1000) for (const e of d.querySelectorAll("table, .pst-scrollable-table-container")) if (e.scrollWidth > e.clientWidth + 1) wide(page, width, "table", e);
  if (!d.querySelector(".search-button, input[type=search]")) found.push([page, width, "search", 0, 0, "there is none"]);
  frame.remove();
}
(async () => {
  for (const page of PAGES) for (const width of [1300, 390]) await one(page, width);
  document.getElementById("result").textContent = "measured" + JSON.stringify(found) + "end";
  document.title = "done";
})();
</script>"""
pages = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root) if "_static" not in folder for name in files if name.endswith(".html"))
frame = MEASURE.replace("PAGES", json.dumps(["/" + page for page in pages]))


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path != "/measure":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(frame.encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=root))
threading.Thread(target=server.serve_forever, daemon=True).start()
command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + os.path.join(work, "profile")]
address = "http://127.0.0.1:%d/" % server.server_port
seen = subprocess.run(command + ["--window-size=1400,1000", "--virtual-time-budget=600000", "--dump-dom", address + "measure"], capture_output=True, text=True, timeout=600)
result = re.search("measured(.*?)end</pre>", seen.stdout, flags=re.S)
if not result:
    print(seen.stderr[-2000:], file=sys.stderr)
    sys.exit("not ok the browser measures the pages")
found = json.loads(html.unescape(result.group(1)))
failed = False
for name, width, kinds in (("code fits at 1300 pixels", 1300, ("code", "page", "search")), ("tables and pages fit at 390 pixels", 390, ("table", "page", "search"))):
    wrong = [f for f in found if f[1] == width and f[2] in kinds]
    for page, _, kind, needs, has, text in wrong:
        print("    %s: a %s needs %d pixels and has %d: %s" % (page, kind, needs, has, " ".join(text.split())))
    print("%s %s (%d pages)" % ("not ok" if wrong else "ok", name, len(pages)))
    failed = failed or bool(wrong)
for page in pages if shots else ():
    os.makedirs(shots, exist_ok=True)
    subprocess.run(command + ["--window-size=1300,1600", "--screenshot=" + os.path.abspath(os.path.join(shots, page.replace("/", "_") + ".png")), address + page], capture_output=True, timeout=60)
sys.exit(failed)
END
