import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const clone = fileURLToPath(new URL("../../../..", import.meta.url));
/** As the shell of the person who runs the tests has it: without the Node that the clone brings itself. */
const PATH = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((place) => !place.startsWith(clone))
  .join(delimiter);

const workbench = useWorkbench(() => ({
  files: { "colours.txt": "colour\n" },
  settings: { "gennai.editingMode": "proposal", "terminal.integrated.env.linux": { PATH } },
  machineSettings: { "gennai.serverCommand": join(clone, "scripts", "start.mjs"), "gennai.autoLaunch": "always" },
}));

test("a clone is served as by npm start, whichever Node the shell has: it runs on the one that the clone brings", async () => {
  const shell = execFileSync("node", ["--version"], { env: { PATH }, encoding: "utf8" }).trim();
  const repl = await openRepl(workbench());
  await repl.send("find colour in **/*.txt");
  await shows(repl, /colours\.txt/);
  const [running, ...others] = await runningServers(workbench().server.gennaiState);
  expect(others).toEqual([]);
  const [node = "", ...args] = readFileSync(`/proc/${running?.pid}/cmdline`, "utf8").split("\0");
  process.stdout.write(`node of the shell: ${shell}; of the server: ${node}\n`);
  expect(node.startsWith(clone)).toBe(true);
  expect(args).toEqual(expect.arrayContaining([join(clone, "dist", "gennai.mjs"), "serve"]));
});
