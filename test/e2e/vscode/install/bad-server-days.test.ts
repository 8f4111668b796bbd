import { test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { freePort, startOldServer, startStranger } from "../fixtures/stand-ins.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const port = await freePort();
const oldToken = "a-token-of-the-old-server-0000000000000000";

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  settings: { "gennai.serverPort": port, "gennai.editingMode": "proposal" },
  machineSettings: { "gennai.autoLaunch": "never" },
}));

async function typeToken(token: string): Promise<void> {
  await workbench().runCommand("Gennai: Set Server Token…");
  const box = workbench().page.locator(".quick-input-widget:visible input[type=password]");
  await box.fill(token);
  await box.press("Enter");
  await box.waitFor({ state: "detached" });
}

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
  await typeToken(oldToken);
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
  await typeToken("a-token-that-is-wrong");
  await shows(repl, /knows another token than this window. Enter the one it was started with/);
  await typeToken(gennai.token);
  await repl.send("are you there?");
  await shows(repl, "Here I am.");
});
