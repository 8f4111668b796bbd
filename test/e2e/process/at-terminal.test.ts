import { spawn } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { sampleOf } from "../../../scripts/lib/tests/sample.mjs";
import { commands, painting, testAtTerminal, usePlace } from "./terminal-commands.ts";

const place = usePlace();
/** It shows a colour, and the lack of it. */
const policyCheck = commands.filter(([command]) => command === "gennai policy check");

testAtTerminal(
  place,
  [...new Set([...policyCheck, ...sampleOf(commands, 12)])],
  [...new Set([...policyCheck, ...sampleOf(painting, 2)])],
);

test("the commands are those of the reference", () => {
  const reference = readFileSync(fileURLToPath(new URL("../../../docs/reference/cli.md", import.meta.url)), "utf8");
  const headings = [...reference.matchAll(/^## (gennai.*)$/gm)].map(([, name]) => name);
  expect(new Set(commands.map(([command]) => command))).toEqual(new Set([...headings, "gennai sessions list"]));
});

test("a reader that has gone, a closed output and a deleted directory are no crash", async () => {
  const here = place();
  const { out, err } = await here.shell(
    [
      `${here.gennai} ledger show | true; echo "--- $?"`,
      `${here.gennai} ledger show >&-; echo "--- $?"`,
      `mkdir gone; cd gone; rmdir ../gone; ${here.gennai} sessions; echo "--- $?"`,
      "",
    ].join("\n"),
    {},
  );
  expect(out).toBe("--- 0\n--- 0\n--- 1\n");
  expect(err).toBe("error: The current directory does not exist any more.\n  cd to another one.\n");
});

test("what is piped in stands behind the request, masked; the session's id is the first line of JSON", async () => {
  const here = place();
  const file = here.state.path("piped.txt");
  writeFileSync(file, "one line\nkey = AKIAIOSFODNN7EXAMPLF\n");
  const lines: string[] = [];
  for (const piped of [
    `${here.gennai} run --json say it < ${file}`,
    `cat ${file} | ${here.gennai} run --json say it`,
  ]) {
    const { out } = await here.shell(piped, {});
    const events: readonly { session?: object; userMessage?: { text: string } }[] = JSON.parse(
      `[${out.trimEnd().replaceAll("\n", ",")}]`,
    );
    expect(events[0]).toMatchObject({ session: { workspace: here.repository.root } });
    lines.push(events.find(({ userMessage }) => userMessage !== undefined)?.userMessage?.text ?? "");
  }
  const wanted = "say it\n\n<stdin>\none line\nkey = [REDACTED:aws]\n</stdin>";
  expect(lines).toEqual([wanted, wanted]);
});

test("a terminal that is closed stops the command that runs without a sandbox", async () => {
  const here = place();
  const pidFile = here.state.path("pid");
  const script = here.state.path("model.json");
  const command = `echo $$ > ${pidFile}; exec sleep 600`;
  writeFileSync(script, JSON.stringify({ turns: [{ steps: [bash(command), { text: "." }] }] }));
  const line = `${here.gennai} run --commands ask --yes --backend scripted --model ${script} go`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    cwd: here.repository.root,
    env: here.environment(),
    stdio: [openSync("/dev/null", "r"), "ignore", "ignore"],
  });
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/^\d+\n$/);
  const pid = Number(readFileSync(pidFile, "utf8"));
  child.kill("SIGKILL");
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  // Gennai itself ends too, once it has written down what the command left.
  await expect.poll(() => processesWith(`GENNAI_STATE_DIR=${here.state.root}`)).toEqual([]);
});

/** Ids of the processes that were started with this variable. */
function processesWith(variable: string): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/environ`, "utf8").split("\0").includes(variable);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
