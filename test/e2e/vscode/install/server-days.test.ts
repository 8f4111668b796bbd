import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@gennai/testkit/listening";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { type ServedGennai, serveGennai } from "../../process/serve-gennai.ts";
import { startOldServer, startStranger } from "../fixtures/stand-ins.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { writeUserSettings } from "../workbench/code-server/user-settings.ts";
import { typeToken } from "../workbench/palette.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const port = await freePort();
const builtProgram = fileURLToPath(new URL("../../../../dist/gennai.mjs", import.meta.url));
/** Long enough to be killed in. */
const pause = { delay_ms: 5000 };
const oldToken = "a-token-of-the-old-server-0000000000000000";
const clone = fileURLToPath(new URL("../../../..", import.meta.url));
let first: ServedGennai;

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(async () => {
  first = await serveGennai({ port });
  return {
    files: { "colours.txt": "colour\n" },
    settings: { "gennai.serverPort": port, "gennai.authToken": first.token, "gennai.editingMode": "proposal" },
    machineSettings: { "gennai.autoLaunch": "never" },
  };
});

test("a token in the settings is moved to the secret storage, and works from there", async () => {
  await using gennai = first;
  await workbench().runCommand("Gennai: Ping Server");
  await workbench().notice(/it was moved to the secret storage and removed there/);
  const settings = join(workbench().server.userData, "User", "settings.json");
  expect(await readFile(settings, "utf8")).not.toContain("authToken");
  await workbench().runCommand("Gennai: Ping Server");
  await workbench().notice(`${gennai.url} answered in`);
});

test("no server: the REPL says where it looked, and can start one", async () => {
  const repl = await openRepl(workbench());
  await shows(repl, `No Gennai server answers at http://127.0.0.1:${port}. Start it, or set gennai.serverPort`);
  await repl.root.getByRole("button", { name: "Start server" }).first().waitFor();
  await workbench().screenshot("bad day no server");
});

test("another program on the port is named, with the setting to change", async () => {
  await using _stranger = await startStranger(port);
  await workbench().runCommand("Gennai: Ping Server");
  await workbench().notice(/another program took the port.*choose another port in gennai.serverPort/s);
});

test("an old server is to be updated", async () => {
  await using _old = await startOldServer(port, oldToken);
  await typeToken(workbench().page, oldToken);
  await workbench().runCommand("Gennai: Ping Server");
  await workbench().notice(/version 0\.0\.1\) is too old for this extension. Update it and start it/);
  await workbench().screenshot("bad day old server");
});

test("a token that is wrong is asked for again, and the right one opens", async () => {
  const { workspace } = workbench();
  await using gennai = await serveGennai({ workspace, port, script: [{ steps: [{ text: ["Here I am."] }] }] });
  const repl = await openRepl(workbench());
  await shows(repl, /knows another token than this window. Enter the one it was started with/);
  await repl.root.getByRole("button", { name: "Enter token" }).first().waitFor();
  await workbench().screenshot("bad day wrong token");
  await typeToken(workbench().page, "a-token-that-is-wrong");
  await shows(repl, /knows another token than this window. Enter the one it was started with/);
  await typeToken(workbench().page, gennai.token);
  await repl.send("are you there?");
  await shows(repl, "Here I am.");
});

test("a clone is served as by npm start, whichever Node the shell has: it runs on the one that the clone brings", async () => {
  // As the shell of the person who runs the tests has it: without the Node that the clone brings itself.
  const places = (process.env["PATH"] ?? "").split(delimiter).filter((place) => !place.startsWith(clone));
  const PATH = places.join(delimiter);
  await writeUserSettings(workbench().server, {
    settings: { "gennai.editingMode": "proposal", "terminal.integrated.env.linux": { PATH } },
    machineSettings: { "gennai.serverCommand": join(clone, "scripts", "start.mjs"), "gennai.autoLaunch": "always" },
  });
  await workbench().reload();
  const shell = execFileSync("node", ["--version"], { env: { PATH }, encoding: "utf8" }).trim();
  const repl = await openRepl(workbench());
  await repl.beginSession();
  await repl.send("find colour in **/*.txt");
  await shows(repl, /colours\.txt/);
  const [running, ...others] = await runningServers(workbench().server.gennaiState);
  expect(others).toEqual([]);
  const [node = "", ...args] = readFileSync(`/proc/${running?.pid}/cmdline`, "utf8").split("\0");
  process.stdout.write(`node of the shell: ${shell}; of the server: ${node}\n`);
  expect(node.startsWith(clone)).toBe(true);
  expect(args).toEqual(expect.arrayContaining([join(clone, "dist", "gennai.mjs"), "serve"]));
});

test("a server that is killed in the middle of a turn is started again, and the turn goes on", async () => {
  const { server, reload } = workbench();
  const turns = [
    { match: "^long", steps: [call("Read", { file_path: "colours.txt" }), pause, { text: ["All read."] }] },
  ];
  const program = `import { spawn } from "node:child_process";
    const model = ["--backend", "scripted", "--model", import.meta.dirname + "/script.yaml"];
    spawn(${JSON.stringify(process.execPath)}, [${JSON.stringify(builtProgram)}, ...process.argv.slice(2), ...model], { stdio: "inherit" });`;
  await using place = await temporaryDirectory({ "serve.mjs": program, "script.yaml": JSON.stringify({ turns }) });
  for (const { pid } of await runningServers(server.gennaiState)) process.kill(pid, "SIGKILL");
  await writeUserSettings(server, {
    settings: { "gennai.editingMode": "proposal" },
    machineSettings: { "gennai.serverCommand": place.path("serve.mjs"), "gennai.autoLaunch": "always" },
  });
  await reload();
  const repl = await openRepl(workbench());
  await repl.beginSession();
  await repl.send("long work");
  await shows(repl, /colours\.txt/);
  const [running] = await runningServers(server.gennaiState);
  process.kill(running?.pid ?? 0, "SIGKILL");
  await shows(repl, "All read.");
  await repl.idle();
  const after = await runningServers(server.gennaiState);
  expect(after.map(({ pid }) => pid)).not.toContain(running?.pid);
  await workbench().screenshot("server killed and started again");
});
