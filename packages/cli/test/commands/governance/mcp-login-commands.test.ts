import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { authorizedServer } from "../../../../sessions/test/mcp/authorized-server.ts";
import { testConsole } from "../../test-console.ts";

test("a login is made with a browser, shown in the list, and taken back", async () => {
  await using far = await authorizedServer();
  await using place = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const config = join(place.root, "config");
  await mkdir(join(config, "gennai"), { recursive: true, mode: 0o700 });
  const mcpServers = { far: { url: far.url }, near: { command: "true" } };
  await writeFile(join(config, "gennai", "mcp.json"), JSON.stringify({ mcpServers }), { mode: 0o600 });
  const environment = { XDG_CONFIG_HOME: config, GENNAI_STATE_DIR: join(place.root, "state"), HOME: place.root };
  const run = async (...args: readonly string[]) => {
    const console = testConsole(workspace.root, environment);
    return { code: await runCommandLine(["mcp", ...args], console), said: console.printed() + console.complained() };
  };

  const console = testConsole(workspace.root, environment);
  const browser = new Promise<Response>((resolve, reject) => {
    console.output.on("data", () => {
      const address = /^ {2}(http\S+)$/m.exec(console.printed())?.[1];
      if (address !== undefined) fetch(address).then(resolve, reject);
    });
  });
  const code = await runCommandLine(["mcp", "login", "far"], console);
  expect(code, console.complained()).toBe(0);
  expect(await (await browser).text()).toContain("You can close this window");
  expect(console.printed()).toContain("Logged in at far.");

  expect((await run("list")).said).toMatch(/far .*\n.*\n {2}logged in since \d{4}-/);
  expect((await run("logout", "far")).said).toContain("Logged out at far.");
  expect(far.refreshTokens()).toBe(0);
  expect((await run("list")).said).not.toContain("logged in");
  expect((await run("logout", "far")).said).toContain("There is no login at far.");
  expect(await run("login", "near")).toMatchObject({ code: 2, said: expect.stringContaining("is a program") });
  expect(await run("login", "nowhere")).toMatchObject({
    code: 2,
    said: expect.stringContaining("There is no MCP server"),
  });
});
