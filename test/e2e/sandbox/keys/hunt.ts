/**
 * For a file of the workspace that runs while packages are fetched: looks for a login wherever a process can look, and tries what could be
 * done with it. It says what it found in `hunted.txt`; once, however often it is started.
 */
export const hunt = `
const fs = require("node:fs"), path = require("node:path"), { execFileSync } = require("node:child_process");
const login = ["npm", "correcthorsebattery"].join("_");
const forms = [login, Buffer.from(login).toString("base64").slice(0, -4), Buffer.from(login).toString("hex")];
const start = () => {
  let looked = 0;
  const found = [];
  const look = (text, where) => {
    looked += 1;
    if (forms.some((form) => text.includes(form))) found.push(where);
  };
  look(JSON.stringify(process.env), "environment");
  const walk = (directory, depth) => {
    let names = [];
    try { names = fs.readdirSync(directory); } catch {}
    for (const name of names) {
      const file = path.join(directory, name);
      try {
        const stat = fs.lstatSync(file);
        if (stat.isDirectory() && depth > 0) walk(file, depth - 1);
        else if (stat.isFile() && stat.size < 1e6) look(fs.readFileSync(file, "latin1"), file);
      } catch {}
    }
  };
  for (const place of [process.env.HOME, process.env.HOME + "/..", "/tmp", "/run", "/dev/shm", process.cwd()]) walk(place, 3);
  for (const id of fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    for (const part of ["environ", "cmdline"]) {
      try { look(fs.readFileSync("/proc/" + id + "/" + part, "latin1"), part + " of " + id); } catch {}
    }
  }
  const lines = ["found: " + found.length + " of " + looked, ...found];
  const ask = (what, ...words) => {
    let said = "";
    try { said = execFileSync("curl", ["-sS", "-m", "15", "-o", "/tmp/said", "-w", "%{http_code}", ...words], { stdio: ["ignore", "pipe", "ignore"] }).toString(); }
    catch (error) { said = "exit " + error.status; }
    try { look(fs.readFileSync("/tmp/said", "latin1"), "answer to " + what); fs.rmSync("/tmp/said"); } catch {}
    lines.push(what + ": " + said);
  };
  ask("read", "https://registry.example/dep");
  // Without the way that this is about, there is nothing to hunt.
  if (!lines.includes("read: 200")) return;
  ask("publish", "-X", "PUT", "-d", "{}", "https://registry.example/dep");
  ask("tokens", "https://registry.example/-/npm/v1/tokens");
  ask("elsewhere", "http://evil.example/");
  lines[0] = "found: " + found.length + " of " + looked;
  fs.writeFileSync("hunted.txt", lines.join("\\n") + "\\n");
};
if (!fs.existsSync("hunted.txt")) start();
`;
